import PushCryptPrimitives

/// Keys of one kind with their lifecycles: a keystore's own, a published set, or a single key.
public struct Keyset: Sendable {
    /// One key and its lifecycle.
    package struct Entry: Sendable {
        package private(set) var record: KeyRecord
        package var lifecycle: KeyLifecycle
        /// The set says that this key's messages are sealed with a psk, whether or not the psk is here.
        package private(set) var demandsPSK: Bool

        package init(_ record: KeyRecord, _ lifecycle: KeyLifecycle, demandsPSK: Bool? = nil) {
            self.record = record
            self.lifecycle = lifecycle
            self.demandsPSK = demandsPSK ?? record.hasPSK
        }

        /// The entry with another record of the same key. All that the set says of the key stays.
        package func withRecord(_ record: KeyRecord) -> Entry {
            var entry = self
            entry.record = record
            return entry
        }

        /// The entry of the key that one device has of this master.
        ///
        /// - Throws: `KeyError` with `wrongKind` or `wrongDevice`.
        package func device(_ id: DeviceID) throws -> Entry {
            withRecord(try record.deviceRecord(id))
        }

        /// The entry to seal to or open with where a device is named: of a shared key the device's own. A key pair
        /// belongs to one install, and the id is no more than its name.
        ///
        /// - Throws: `KeyError` with `wrongDevice`.
        func named(_ id: DeviceID?) throws -> Entry {
            guard let id, record.kind == .shared else { return self }
            return try device(id)
        }
    }

    public let kind: KeyKind
    /// Grows with every change; a reader refuses a lower one than it has seen.
    package var sequence: Int64
    /// When the set was last written. State is evaluated no earlier than this, so that it only moves forward.
    package var updatedAt: UnixTime?
    package private(set) var entries: [Entry]

    /// - Throws: `KeyError` with `malformed` for no keys, `wrongKind` for mixed kinds, `duplicateKey`.
    package init(
        _ entries: [Entry], sequence: Int64 = 0, updatedAt: UnixTime? = nil
    ) throws {
        guard let kind = entries.first?.record.kind else { throw KeyError(.malformed, "the set holds no key") }
        guard entries.allSatisfy({ $0.record.kind == kind }) else {
            throw KeyError(.wrongKind, "the set mixes kinds of keys; a set holds recipient, shared or sender keys")
        }
        var seen = Set<KeyID>()
        for entry in entries where !seen.insert(entry.record.kid).inserted {
            throw KeyError(.duplicateKey, "key \(entry.record.kid) is in the set twice")
        }
        self.kind = kind
        self.sequence = sequence
        self.updatedAt = updatedAt
        self.entries = entries
    }

    public var keyIDs: [KeyID] { entries.map(\.record.kid) }

    package func entry(_ kid: KeyID) -> Entry? {
        entries.first { $0.record.kid == kid }
    }

    /// The set with every master replaced by the key of one device.
    ///
    /// - Throws: `KeyError` with `wrongKind` or `wrongDevice`.
    public func device(_ id: DeviceID) throws -> Keyset {
        try Keyset(entries.map { try $0.device(id) }, sequence: sequence, updatedAt: updatedAt)
    }

    /// The set without private halves; with or without the pre-shared keys.
    package func publicKeyset(keepingPSK: Bool) throws -> Keyset {
        let stripped = entries.map { $0.withRecord($0.record.publicRecord(keepingPSK: keepingPSK)) }
        return try Keyset(stripped, sequence: sequence, updatedAt: updatedAt)
    }

    /// The set with the keys that `isIncluded` picks.
    package func filter(_ isIncluded: (Entry) -> Bool) throws -> Keyset {
        try Keyset(entries.filter(isIncluded), sequence: sequence, updatedAt: updatedAt)
    }
}
