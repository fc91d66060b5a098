import Foundation
import PushCryptApple

/// The app's part. Create one and keep it. It works off the main actor, because the keychain may take long to answer.
nonisolated struct DeviceRegistration: Sendable {
    let storage: KeychainKeyring
    let identity: DeviceIdentity
    let pins: SenderPins
    let store: SharedStore
    /// Posts to your backend over TLS as the signed-in user; throws unless it responds with success. The version of the sender
    /// set is JSON, empty if there is none. The backend compares it with the set that it publishes.
    let upload: Upload

    typealias Upload =
        @Sendable (_ record: Data, _ senderSetVersion: Data, _ deviceToken: String) async throws -> Void

    init(upload: @escaping Upload) throws {
        let group = try AppGroup("group.com.example.app")
        storage = KeychainKeyring(accessGroup: "ABCDE12345.com.example.shared", usesSecureEnclave: false)
        identity = DeviceIdentity(storage: storage)
        pins = try SenderPins(
            folder: group.path(of: "senders"), publishers: SenderSetPins(resource: "sender-pins"),
            topic: "com.example.app")
        store = SharedStore(folder: group.path(of: "pushes"), role: .app)
        self.upload = upload
    }

    /// Call it at every start, when the system has provided the device token.
    ///
    /// - Parameter senders: the signed set of the backend's public keys; nil if it wasn't fetched at this start.
    /// - Throws: after the registration, why the set was refused. Report it: the device keeps its last set.
    @concurrent func start(deviceToken: Data, senders: Data?) async throws {
        let accepted = Result {
            try pins.discardDamaged()
            if let senders { try pins.accept(Array(senders)) }
        }
        try await register(identity.makeIfNeeded(), deviceToken)
        try identity.prune()
        try accepted.get()
    }

    /// Call it every few months, and when ``advice(at:)`` returns `registerKey`. Pushes sealed to the old key still open.
    @concurrent func renew(deviceToken: Data) async throws {
        try await register(identity.rotate(), deviceToken)
    }

    /// Returns what to do about pushes that weren't restored, from the extension's counters.
    @concurrent func advice(at time: UnixTime) async throws -> [RecoveryAdvice.Step] {
        try RecoveryAdvice.steps(for: store.statistics(), keys: Set(storage.keyIDs()), at: time)
    }

    private func register(_ record: RegistrationRecord, _ deviceToken: Data) async throws {
        let token = deviceToken.map { String(format: "%02x", $0) }.joined()
        let version = (try? pins.version())?.json ?? []
        try await upload(record.requestBody, Data(version), token)
        try identity.confirmRegistered(record.kid)
    }
}
