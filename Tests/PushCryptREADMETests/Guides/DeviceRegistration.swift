import Foundation
import PushCryptApple

/// Your backend, over TLS.
protocol Backend: Sendable {
    /// Stores the registration of the signed-in user; throws unless the backend has it.
    func store(_ registration: PushRegistration.Upload) async throws
    /// Downloads the signed set of sender keys.
    func senderSet() async throws -> Data
}

/// The app's part. Create one and keep it.
func pushRegistration(_ backend: some Backend) throws -> PushRegistration {
    let group = try AppGroup("group.com.example.app")
    let senders = try PushRegistration.SenderSet(pins: group.senderPins()) { try await backend.senderSet() }
    return PushRegistration(group, senders: senders) { try await backend.store($0) }
}
