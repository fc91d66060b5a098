public import PushCryptCore

/// Where a recipient's keys are.
public protocol RecipientKeyring: Sendable {
    /// The one key of that id. Nothing else is ever tried, and no key is ever made here.
    ///
    /// - Throws: `unknownKey` when there is none, `keyLocked` when it can't be read before the device's first unlock,
    ///   `keyExpired`, `keyRevoked`; `internalError` for what a new key wouldn't mend.
    func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey
}

/// The keys of a keyset in memory.
public struct KeysetKeyring: RecipientKeyring {
    private let keyset: Keyset
    private let device: DeviceID?

    /// - Parameter keyset: private recipient keys, or shared keys (a device's own: `Keyset.device(_:)`).
    public init(_ keyset: Keyset) {
        self.init(keyset, device: nil)
    }

    /// - Parameter device: whose keys of the masters in the set these are, each derived when it is asked for.
    package init(_ keyset: Keyset, device: DeviceID?) {
        (self.keyset, self.device) = (keyset, device)
    }

    public func key(_ id: KeyID, at time: UnixTime) throws(FailureClass) -> RecipientKey {
        switch keyset.openingEntry(id, at: time) {
        case .found(let entry):
            guard let key = try? RecipientKey(entry, device: device) else { throw .unknownKey }
            return key
        case .notFound: throw .unknownKey
        case .expired: throw .keyExpired
        case .revoked: throw .keyRevoked
        }
    }
}
