import Foundation
import Hummingbird
import NIOCore
import PushCryptSender

/// The routes for apps: register with a challenge, renew, sign out, and post receipts.
struct RegistrationRoutes {
    private static let largestRegistrationInBytes = 16_384
    private static let largestReceiptInBytes = 4_096

    private struct Body: ClosedBody {
        static let members = ["token", "environment", "record", "senderSet"]

        let token: String
        let environment: APNsEnvironment
        let record: String
        let senderSet: String?
    }

    private struct Answer: Encodable {
        let name: String
        let kid: String
        let register: Bool

        init(_ state: RegistrationState) {
            name = state.name
            kid = state.kid
            register = state.asksForRegistration
        }
    }

    let store: any PushStore
    let sealer: PushSealer
    /// The host of this service's address, as the app knows it.
    let host: String
    let wakeUp: @Sendable () -> Void
    let milliseconds: @Sendable () -> Int64

    func add(to group: RouterGroup<APIContext>) {
        group.post("registrations") { try await upload($0, $1, name: nil) }
        group.put("registrations/{name}") { try await upload($0, $1, name: installation($1)) }
        group.post("answers", use: answer)
        group.get("registrations/{name}", use: state)
        group.delete("registrations/{name}", use: signOut)
        group.post("receipts", use: receipt)
    }

    /// The first step: keeps the upload, and answers with a challenge.
    private func upload(_ request: Request, _ context: APIContext, name: String?) async throws -> Response {
        let user = try context.currentUser
        let (body, _) = try await request.decoded(Body.self, upTo: Self.largestRegistrationInBytes, context)
        guard (2...200).contains(body.token.utf8.count), body.token.utf8.count.isMultiple(of: 2),
            body.token.allSatisfy({ $0.isASCII && $0.isHexDigit })
        else { throw APIError.invalid("token has to be hexadecimal digits") }
        let registration: Registration
        do { registration = try Registration(json: Data(body.record.utf8), requiring: PushSealer.requirements) } catch {
            throw try APIError(.unprocessableContent, error, "record: \(error.reason)")
        }
        if let version = body.senderSet {
            do { _ = try SenderSetVersion(json: Data(version.utf8)) } catch {
                throw try APIError(.unprocessableContent, error, "senderSet: \(error.reason)")
            }
        }
        if let name { _ = try await self.state(of: name, user) }
        let challenge = try sealer.challenge(registration, host: host)
        try await store.keep(
            PendingUpload(
                pending: challenge.pending, user: user, token: body.token.lowercased(), environment: body.environment,
                senderSet: body.senderSet, name: name, record: Data(body.record.utf8)),
            at: milliseconds())
        return Response(
            status: .created, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: challenge.json)))
    }

    /// The second step: checks the answer, and stores the registration.
    @Sendable private func answer(_ request: Request, _ context: APIContext) async throws -> Response {
        let user = try context.currentUser
        let answer = try await request.json(upTo: Self.largestReceiptInBytes, within: context.bodyDeadline)
        let time = milliseconds()
        let id: String
        do { id = try PendingRegistration.id(ofAnswer: answer) } catch {
            throw APIError(.badRequest, "malformed", error.reason)
        }
        let state: RegistrationState
        do {
            state = try await store.register(pending: id, of: user, at: time) {
                _ = try $0.pending.confirm(answer: answer, at: UnixTime(time / 1_000))
            }
        } catch let error as ChallengeError {
            throw APIError(error)
        } catch let error as SenderError where error.code == .challengeExpired {
            throw APIError(ChallengeError.expired)
        } catch let error as SenderError {
            throw try APIError(
                .forbidden, error,
                "the answer doesn't prove that the device has the key: it is made with another key, record or host, and "
                    + "the host that this service expects is \(host)")
        }
        // Deliveries that waited for this registration are due now.
        wakeUp()
        return try .json(Answer(state))
    }

    @Sendable private func state(_ request: Request, _ context: APIContext) async throws -> Response {
        try .json(Answer(try await state(of: installation(context), context.currentUser)))
    }

    private func installation(_ context: APIContext) throws -> String {
        guard let name = try context.name("name") else { throw APIError.noInstallation }
        return name
    }

    private func state(of name: String, _ user: String) async throws -> RegistrationState {
        guard let state = try await store.registration(named: name, of: user) else { throw APIError.noInstallation }
        return state
    }

    @Sendable private func signOut(_ request: Request, _ context: APIContext) async throws -> Response {
        let name = try installation(context)
        guard try await store.signOut(name, of: try context.currentUser, at: milliseconds()) else {
            throw APIError.noInstallation
        }
        return Response(status: .noContent)
    }

    @Sendable private func receipt(_ request: Request, _ context: APIContext) async throws -> Response {
        let user = try context.currentUser
        let receipt: Receipt
        do {
            receipt = try Receipt(
                json: try await request.json(upTo: Self.largestReceiptInBytes, within: context.bodyDeadline))
        } catch let error
            as SenderError
        {
            throw APIError(.badRequest, "\(error.code)", error.reason)
        }
        try await store.add(DeviceReceipt(receipt), of: user, at: milliseconds())
        wakeUp()
        return Response(status: .noContent)
    }
}

extension APIError {
    fileprivate static let noInstallation = notFound("this user has no installation of this name")

    fileprivate init(_ error: ChallengeError) {
        let again = "upload the record again for another challenge"
        switch error {
        case .answered:
            self.init(.notFound, "challengeAnswered", "this challenge was answered before, rightly or not: \(again)")
        case .expired: self.init(.notFound, "challengeExpired", "this challenge is older than ten minutes: \(again)")
        case .unknown:
            self.init(.notFound, "challengeUnknown", "this user has no challenge of this id among the latest: \(again)")
        }
    }
}

extension DeviceReceipt {
    init(_ receipt: Receipt) {
        self.init(
            id: receipt.id, name: receipt.name?.description, failure: receipt.failure?.rawValue,
            kid: receipt.kid?.description, skid: receipt.skid?.description,
            time: min(max(receipt.time.seconds, 0), 1 << 40) * 1_000)
    }
}
