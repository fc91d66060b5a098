import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCryptSender

/// The routes for apps: register with a challenge, sign out, and post receipts.
struct RegistrationRoutes {
    private static let largestRegistrationInBytes = 16_384
    private static let largestReceiptInBytes = 4_096

    private struct Body: ClosedBody {
        static let members: Set = ["token", "environment", "record", "senderSet"]

        let token: String
        let environment: APNsEnvironment
        let record: String
        let senderSet: String?
    }

    let store: SQLiteStore
    let sealer: PushSealer
    let milliseconds: @Sendable () -> Int64

    func add(to group: RouterGroup<APIContext>) {
        group.post("registrations", use: upload)
        group.post("answers", use: answer)
        group.get("registrations/{name}", use: state)
        group.delete("registrations/{name}", use: signOut)
        group.post("receipts", use: receipt)
    }

    /// The first step: keeps the upload, and answers with a challenge.
    @Sendable private func upload(_ request: Request, _ context: APIContext) async throws -> Response {
        let body = try Body(json: try await request.json(upTo: Self.largestRegistrationInBytes))
        guard body.token.isDeviceToken else { throw APIError.invalid("token has to be hexadecimal digits") }
        let registration: Registration
        do { registration = try Registration(json: Data(body.record.utf8), requiring: PushSealer.requirements) } catch {
            throw try APIError(.unprocessableContent, error, "record: \(error.reason)")
        }
        if let version = body.senderSet {
            do { _ = try SenderSetVersion(json: Data(version.utf8)) } catch {
                throw try APIError(.unprocessableContent, error, "senderSet: \(error.reason)")
            }
        }
        let challenge = try sealer.challenge(registration)
        let upload = RegistrationUpload(
            user: context.user, token: body.token.lowercased(), environment: body.environment,
            record: Data(body.record.utf8), kid: registration.kid.description, senderSet: body.senderSet)
        try await store.keep(PendingUpload(pending: challenge.pending, upload: upload), at: milliseconds())
        return Response(
            status: .created, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: challenge.json)))
    }

    /// The second step: checks the answer, and stores the registration.
    @Sendable private func answer(_ request: Request, _ context: APIContext) async throws -> Response {
        let answer = try await request.json(upTo: Self.largestReceiptInBytes)
        let time = milliseconds()
        let id: String
        do { id = try PendingRegistration.id(ofAnswer: answer) } catch {
            throw APIError(.badRequest, "malformed", error.reason)
        }
        do {
            let state = try await store.register(pending: id, of: context.user, at: time) {
                _ = try $0.pending.confirm(answer: answer, at: UnixTime(time / 1_000))
            }
            guard let state else { throw APIError.noChallenge }
            return try .json(state)
        } catch let error as SenderError where error.code == .challengeExpired {
            throw APIError.noChallenge
        } catch let error as SenderError {
            throw try APIError(
                .forbidden, error,
                "the answer doesn't prove that the device has the key: it is made with another key, record or host, and "
                    + "the host that this service expects is \(sealer.host)")
        }
    }

    @Sendable private func state(_ request: Request, _ context: APIContext) async throws -> Response {
        guard let name = try context.name("name"),
            let state = try await store.registration(named: name, of: context.user)
        else { throw APIError.noInstallation }
        return try .json(state)
    }

    @Sendable private func signOut(_ request: Request, _ context: APIContext) async throws -> Response {
        guard let name = try context.name("name"),
            try await store.signOut(name, of: context.user, at: milliseconds())
        else { throw APIError.noInstallation }
        return Response(status: .noContent)
    }

    @Sendable private func receipt(_ request: Request, _ context: APIContext) async throws -> Response {
        let json = try await request.json(upTo: Self.largestReceiptInBytes)
        let receipt: Receipt
        do { receipt = try Receipt(json: json) } catch {
            throw APIError(.badRequest, "\(error.code)", error.reason)
        }
        try await store.add(DeviceReceipt(receipt), of: context.user, at: milliseconds())
        return Response(status: .noContent)
    }
}

extension APIError {
    fileprivate static let noInstallation = notFound("this user has no installation of this name")
    fileprivate static let noChallenge = APIError(
        .notFound, "challengeUnknown",
        "this user has no challenge of this id: it was answered before, or is older than ten minutes, or later ones "
            + "replaced it: upload the record again for another challenge")
}

extension DeviceReceipt {
    init(_ receipt: Receipt) {
        self.init(
            id: receipt.id, name: receipt.name?.description, failure: receipt.failure?.rawValue,
            kid: receipt.kid?.description, skid: receipt.skid?.description,
            time: min(max(receipt.time.seconds, 0), 1 << 40) * 1_000)
    }
}
