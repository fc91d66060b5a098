import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import Testing

/// An app that follows the guide, and the backend with which it registers.
final class AppAndBackend {
    /// The record that the backend seals to.
    private(set) var registered: RegistrationRecord?

    /// Starts the app, which registers its pair if it isn't confirmed.
    func launch(_ identity: DeviceIdentity) throws {
        let record = try identity.makeIfNeeded()
        guard !record.isConfirmed else { return }
        registered = record
        try identity.confirmRegistered(record.kid)
    }

    /// Expects a push of the backend to open.
    func expectPushesOpen(
        _ keyring: any RecipientKeyring, at time: UnixTime = TestPush.now, _ comment: Comment? = nil,
        location: SourceLocation = #_sourceLocation
    ) throws {
        guard let registered else { return }
        let payload = try TestPush.sealed(to: registered)
        let result = try TestPush.open(payload, with: keyring, at: time)
        #expect((try? result.get()) != nil, comment, sourceLocation: location)
    }
}

/// A storage that fails at its nth change, before or after making it, like a killed process.
final class FailingStorage: DeviceKeyStorage {
    private let storage: any DeviceKeyStorage
    private let fault: Int
    private let isAfter: Bool
    private let changes = Locked(0)

    init(_ storage: any DeviceKeyStorage, atChange fault: Int, isAfter: Bool) {
        (self.storage, self.fault, self.isAfter) = (storage, fault, isAfter)
    }

    func keyIDs() throws(DeviceKeyError) -> [KeyID] { try storage.keyIDs() }

    func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey { try storage.load(kid) }

    func make(_ suite: Suite, withPSK: Bool, at time: UnixTime) throws(DeviceKeyError) -> DeviceKey {
        try change { () throws(DeviceKeyError) in try storage.make(suite, withPSK: withPSK, at: time) }
    }

    func add(_ key: DeviceKey) throws(DeviceKeyError) {
        try change { () throws(DeviceKeyError) in try storage.add(key) }
    }

    func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) {
        try change { () throws(DeviceKeyError) in try storage.update(kid, to: lifecycle, at: time) }
    }

    func remove(_ kid: KeyID) throws(DeviceKeyError) {
        try change { () throws(DeviceKeyError) in try storage.remove(kid) }
    }

    private func change<Result>(_ body: () throws(DeviceKeyError) -> Result) throws(DeviceKeyError) -> Result {
        let number = changes.withLock { count in
            count += 1
            return count
        }
        if number == fault, !isAfter { throw Self.breakdown }
        let result = try body()
        if number == fault { throw Self.breakdown }
        return result
    }

    private static let breakdown = DeviceKeyError(.failed, "the test made the storage fail")
}
