import PushCryptCore
import PushCryptExtension

extension ExtensionConfiguration {
    /// Locks keys and store: until the device is unlocked for the first time (`kSecAttrAccessibleAfterFirstUnlock`, and
    /// `FileProtectionType.completeUntilFirstUserAuthentication`), or after the extension's process has ended.
    mutating func lockKeysAndStore(while isLocked: @escaping @Sendable () -> Bool) {
        opener = opener.mappingKeyring { LockedKeyring(inner: $0, isLocked: isLocked) }
        memory = memory.map { LockedMemory(inner: $0, isLocked: isLocked) }
    }
}

private struct LockedKeyring: RecipientKeyring {
    let inner: any RecipientKeyring
    let isLocked: @Sendable () -> Bool

    func key(_ kid: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        guard !isLocked() else { throw .keyLocked }
        return try inner.key(kid, at: time)
    }

    var hasDayKeys: Bool { inner.hasDayKeys && !isLocked() }

    func erase(after push: OpenedPush?, at clock: UnixTime) { inner.erase(after: push, at: clock) }
}

private struct LockedMemory: DeliveryMemory {
    private struct IsLocked: Error {}

    let inner: any DeliveryMemory
    let isLocked: @Sendable () -> Bool

    private func unlocked() throws -> any DeliveryMemory {
        guard !isLocked() else { throw IsLocked() }
        return inner
    }

    func highestIssuedAt(at time: UnixTime) throws -> UnixTime? { try unlocked().highestIssuedAt(at: time) }

    func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { inner.reserve(message, at: time) }

    func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
        try unlocked().claim(message, isReserved: isReserved, at: time)
    }

    func record(_ record: DeliveryRecord) throws -> RecordAnswer { try unlocked().record(record) }

    func isRetracted(_ message: MessageStamp) throws -> Bool { try unlocked().isRetracted(message) }
}
