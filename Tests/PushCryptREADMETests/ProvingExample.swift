import Foundation
import PushCryptApple

/// The requests of an app to a backend that asks for a proof.
struct ProvingBackend: Sendable {
    /// The host of the backend's address. It is in the app, and never comes from a response.
    static let host = "push.example.com"

    /// Sends a request to the backend as the signed-in user, and returns the body of its response.
    let post: @Sendable (_ path: String, _ body: Data) async throws -> Data

    /// The `upload` of a `PushRegistration`.
    func store(_ upload: PushRegistration.Upload) async throws {
        let challenge = try await post("registrations/\(upload.deviceToken)", upload.record)
        let answer = try upload.answer(challenge, host: Self.host)
        _ = try await post("answers", answer)
    }
}
