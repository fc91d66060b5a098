import Foundation
import NIOHTTP1
import PushBackend
import PushCryptExtension

/// How the app on a phone reaches the service, as its signed-in user.
struct PhoneBackend: HTTPTransport {
    let client: BackendClient
    let user: String
    let token: String
    let environment: APNsEnvironment

    private struct Body: Encodable {
        let token: String
        let environment: APNsEnvironment
        let record: String
        let senderSet: String?
    }

    /// Uploads the registration record, and answers the challenge.
    func upload(_ upload: PushRegistration.Upload) async throws {
        let body = Body(
            token: upload.deviceToken, environment: environment, record: String(decoding: upload.record, as: UTF8.self),
            senderSet: upload.senderSetVersion.map { String(decoding: $0, as: UTF8.self) })
        let challenge = try await client.call(
            .POST, "/v1/registrations", body: try JSONEncoder().encode(body), token: token)
        let answer = try upload.answer(challenge, host: Scene.host)
        _ = try await client.call(.POST, "/v1/answers", body: answer, token: token)
    }

    /// The signed set of sender keys.
    func senders() async throws -> Data { try await client.call(.GET, "/v1/senders") }

    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        throw TransferError(.addressRefused, "the rehearsal has no attachments")
    }

    func post(_ post: HTTPPost) async throws {
        do {
            let path = String(post.address.dropFirst(client.base.count))
            _ = try await client.call(.POST, path, body: Data(post.body), token: token)
        } catch let refusal as BackendClient.Refusal {
            throw TransferError(.status, "status \(refusal.status)")
        } catch {
            throw TransferError(.network, "the service can't be reached")
        }
    }
}
