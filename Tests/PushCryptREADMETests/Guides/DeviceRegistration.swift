import Foundation
import PushCryptApple

/// The app's part. Make one and keep it.
struct DeviceRegistration: Sendable {
    let storage: KeychainKeyring
    let identity: DeviceIdentity
    let pins: SenderPins
    let store: SharedStore
    /// Posts to your backend, over TLS and as the user who is signed in; throws unless the answer is success.
    let upload: @Sendable (_ record: Data, _ deviceToken: String) async throws -> Void

    init(upload: @escaping @Sendable (_ record: Data, _ deviceToken: String) async throws -> Void) throws {
        let group = try AppGroup("group.com.example.app")
        storage = KeychainKeyring(accessGroup: "ABCDE12345.com.example.shared", usesSecureEnclave: false)
        identity = DeviceIdentity(storage: storage)
        pins = SenderPins(folder: group.path(of: "senders"))
        store = SharedStore(folder: group.path(of: "pushes"), role: .app)
        self.upload = upload
    }

    /// At every start, when the system has given the device token.
    ///
    /// - Parameter senders: the backend's public keys, from the app's bundle.
    func start(deviceToken: Data, senders: Data) async throws {
        try pins.pinFirst(json: Array(senders))
        try await register(identity.makeIfNeeded(), deviceToken)
        try identity.prune()
    }

    /// Every few months, and when ``advice(at:)`` says `registerKey`: what is on its way to the old key still opens.
    func renew(deviceToken: Data) async throws {
        try await register(identity.rotate(), deviceToken)
    }

    /// What to do about pushes that weren't restored, by the extension's counters.
    func advice(at time: UnixTime) throws -> [RecoveryAdvice.Step] {
        try RecoveryAdvice.steps(for: store.statistics(), keys: Set(storage.keyIDs()), at: time)
    }

    private func register(_ record: RegistrationRecord, _ deviceToken: Data) async throws {
        guard !record.isConfirmed else { return }
        let token = deviceToken.map { String(format: "%02x", $0) }.joined()
        try await upload(record.requestBody, token)
        try identity.confirmRegistered(record.kid)
    }
}
