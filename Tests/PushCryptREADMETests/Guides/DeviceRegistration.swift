import Foundation
import PushCryptApple

/// Your backend, over TLS.
protocol Backend: Sendable {
    /// Stores the registration of the signed-in user; throws unless the backend has it.
    func store(_ registration: PushRegistration.Upload) async throws
    /// Downloads the signed set of sender keys.
    func senderSet() async throws -> Data
}

/// Keeps the backend's record of this device current. Create one and keep it.
@MainActor final class DeviceRegistration {
    /// The id of the signed-in user at your backend, which never changes; nil if no user is signed in.
    private var account: String?
    private var deviceToken: Data?
    private let group: AppGroup
    private let pushes: PushRegistration

    init(_ group: AppGroup, _ backend: some Backend) throws {
        self.group = group
        let senders = try PushRegistration.SenderSet(pins: group.senderPins()) { try await backend.senderSet() }
        pushes = try PushRegistration(group, senders: senders) { try await backend.store($0) }
    }

    /// The system provided the device token: at every start of the app, and after a change.
    func received(_ deviceToken: Data) async throws -> PushRegistration.Outcome? {
        self.deviceToken = deviceToken
        return try await register()
    }

    /// A user signed in, or is still signed in when the app starts.
    func signedIn(as account: String) async throws -> PushRegistration.Outcome? {
        self.account = account
        return try await register()
    }

    /// Makes a key, uploads the record and updates the sender keys, each if it is due. Call it again after an error.
    ///
    /// - Returns: nil if the device token or the user is still unknown.
    func register() async throws -> PushRegistration.Outcome? {
        guard let account else {
            // Erases the keys of a sign-out that failed, because they were locked.
            if try await pushes.completeSignOut() { try await removeTraces(of: group) }
            return nil
        }
        guard let deviceToken else { return nil }
        return try await pushes.register(deviceToken: deviceToken, account: account)
    }

    /// The user signs out: erases the keys, and what the user's notifications have left on the device. Tell your backend
    /// before, while the user is authenticated.
    func signOut() async throws {
        account = nil
        do { try await pushes.signOut() } catch {
            // The keys may be locked; the notifications aren't.
            try? await removeTraces(of: group)
            throw error
        }
        try await removeTraces(of: group)
    }
}
