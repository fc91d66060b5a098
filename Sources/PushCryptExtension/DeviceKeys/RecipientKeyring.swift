public import PushCryptCore

/// Looks up the keys of a recipient by their ids.
public protocol RecipientKeyring: Sendable {
    /// Returns the key with the id. It never makes a key and never returns another key.
    ///
    /// - Throws: `unknownKey` if there is no such key, `keyLocked` if it can't be read before the first unlock,
    ///   `keyExpired`, `keyRevoked`, `unsupportedSuite`; `internalError` for failures that a new key wouldn't solve.
    func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey

    /// Whether it has keys that ``erase(after:at:)`` erases.
    var hasDayKeys: Bool { get }

    /// Erases the keys that have expired. The extension calls it after it has handed over the content of a push.
    ///
    /// - Parameters:
    ///   - push: nil for a push that wasn't opened.
    ///   - clock: the device's clock.
    func erase(after push: OpenedPush?, at clock: UnixTime)
}

extension RecipientKeyring {
    /// False.
    public var hasDayKeys: Bool { false }
    /// Does nothing.
    public func erase(after push: OpenedPush?, at clock: UnixTime) {}
}

/// The keys of a keyset in memory.
public struct KeysetKeyring: RecipientKeyring {
    private let keyset: Keyset
    private let device: DeviceID?

    /// Creates a keyring of private recipient keys, or of shared keys (for a device: `Keyset.device(_:)`).
    public init(_ keyset: Keyset) { self.init(keyset, device: nil) }

    /// - Parameter device: the device whose keys are derived from the set's masters on demand.
    package init(_ keyset: Keyset, device: DeviceID?) {
        self.keyset = keyset
        self.device = device
    }

    /// Returns the key with the id.
    ///
    /// - Throws: `unknownKey`, `keyExpired`, `keyRevoked`.
    public func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        let entry = try keyset.openingEntry(id, at: time)
        guard let key = try? RecipientKey(entry, device: device) else { throw .unknownKey }
        return key
    }
}
