public import PushCryptCore

/// The keys of a recipient, by their ids.
public protocol RecipientKeyring: Sendable {
    /// The one key of that id. No other key is tried, and none is ever made here.
    ///
    /// - Throws: `unknownKey` if there is none, `keyLocked` if it can't be read before the device's first unlock,
    ///   `keyExpired`, `keyRevoked`; `internalError` for failures that a new key wouldn't correct.
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

    /// - Parameter device: the device whose keys are derived from the masters in the set, each on demand.
    package init(_ keyset: Keyset, device: DeviceID?) {
        self.keyset = keyset
        self.device = device
    }

    /// The key of that id, unless it has expired or was revoked.
    ///
    /// - Throws: `unknownKey`, `keyExpired`, `keyRevoked`.
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
