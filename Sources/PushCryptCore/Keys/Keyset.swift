import PushCryptPrimitives

/// Keys of one kind with their lifecycles: those of a keystore, a published set, or a single key.
public struct Keyset: Sendable {
    /// One key and its lifecycle.
    package struct Entry: Sendable {
        package private(set) var record: KeyRecord
        package var lifecycle: KeyLifecycle
        /// Whether messages to this key are sealed with a psk. A published set requires the psk without containing it.
        package private(set) var demandsPSK: Bool

        package init(_ record: KeyRecord, _ lifecycle: KeyLifecycle, demandsPSK: Bool? = nil) {
            self.record = record
            self.lifecycle = lifecycle
            self.demandsPSK = demandsPSK ?? record.hasPSK
        }

        /// The entry with another record of the same key.
        package func withRecord(_ record: KeyRecord) -> Entry {
            var entry = self
            entry.record = record
            return entry
        }

        /// The entry with the key of one device of this master.
        /// - Throws: `KeyError` with `wrongKind` or `wrongDevice`.
        package func device(_ id: DeviceID) throws -> Entry { withRecord(try record.deviceRecord(id)) }

        /// The entry for sealing to a device or opening on it: for a shared key, the entry with the device's key. The entry of
        /// a key pair, which belongs to one device, doesn't change.
        /// - Throws: `KeyError` with `wrongDevice`.
        func forDevice(_ id: DeviceID?) throws -> Entry {
            guard let id, record.kind == .shared else { return self }
            return try device(id)
        }
    }

    /// The kind of all keys of the set.
    public let kind: KeyKind
    /// The number of changes. A reader refuses a lower number than it has seen.
    package var sequence: Int64
    /// When the set was last written. States are evaluated no earlier than this, so that they only move forward.
    package var updatedAt: UnixTime?
    package private(set) var entries: [Entry]
    /// Whether an operator allows a newest key whose suite ranks below that of an older one.
    package var allowsLowerSuite = false

    /// - Throws: `KeyError` with `malformed` for no keys, `wrongKind` for mixed kinds, `duplicateKey`.
    package init(_ entries: [Entry], sequence: Int64 = 0, updatedAt: UnixTime? = nil) throws {
        guard let kind = entries.first?.record.kind else { throw KeyError(.malformed, "the set contains no key") }
        guard entries.allSatisfy({ $0.record.kind == kind }) else {
            throw KeyError(
                .wrongKind, "the set mixes kinds of keys; a set contains recipient, shared, sender or publisher keys")
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

    /// - Throws: `KeyError` with `wrongKind` unless all keys have this kind. A publisher's key is never a sender's, nor a
    ///   sender's a publisher's, although both are Ed25519 keys.
    package func requireKind(_ expected: KeyKind) throws(KeyError) {
        guard kind == expected else {
            throw KeyError(
                .wrongKind, "the set contains \(kind.rawValue) keys; \(expected.rawValue) keys are needed")
        }
    }

    /// The ids of all keys, in the order of the set.
    public var keyIDs: [KeyID] { entries.map(\.record.kid) }
    package func entry(_ kid: KeyID) -> Entry? { entries.first { $0.record.kid == kid } }

    /// The set with the key of one device in the place of every master.
    ///
    /// - Throws: `KeyError` with `wrongKind` or `wrongDevice`.
    public func device(_ id: DeviceID) throws -> Keyset {
        try Keyset(entries.map { try $0.device(id) }, sequence: sequence, updatedAt: updatedAt)
    }

    /// The set without private halves and, unless `keepingPSK`, without the pre-shared keys.
    package func publicKeyset(keepingPSK: Bool) throws -> Keyset {
        let stripped = entries.map { $0.withRecord($0.record.publicRecord(keepingPSK: keepingPSK)) }
        return try Keyset(stripped, sequence: sequence, updatedAt: updatedAt)
    }

    /// The set with the keys that `isIncluded` selects.
    package func filter(_ isIncluded: (Entry) -> Bool) throws -> Keyset {
        try Keyset(entries.filter(isIncluded), sequence: sequence, updatedAt: updatedAt)
    }
}

/// The states of the keys (PROTOCOL section 9), as functions of the timestamps alone.
extension Keyset {
    package var timeline: KeyTimeline {
        KeyTimeline(entries.map { KeyTimeline.Key($0.record.kid, $0.lifecycle) }, updatedAt: updatedAt)
    }

    /// The newest key, if its suite ranks below that of an older key (PROTOCOL section 3), and that key; nil otherwise.
    package var lowerNewestKey: (newest: KeyRecord, older: KeyRecord)? {
        let dated = entries.filter { $0.lifecycle.activatesAt != nil }
        let newest = dated.max { left, right in
            KeyTimeline.Key(left.record.kid, left.lifecycle).rank
                < KeyTimeline.Key(right.record.kid, right.lifecycle).rank
        }
        guard let newest, let suite = newest.record.algorithm.suite else { return nil }
        let older = dated.first { $0.record.algorithm.suite.map { !suite.isAtLeast($0) } ?? false }
        return older.map { (newest.record, $0.record) }
    }

    /// The key that seals.
    package func primary(at time: UnixTime) -> Entry? { timeline.primary(at: time).flatMap { entry($0.kid) } }

    /// The state of a key; nil if it isn't in the set.
    public func state(of kid: KeyID, at time: UnixTime) -> KeyState? { timeline.state(of: kid, at: time) }

    /// The key that opens or verifies. A pending key opens too, because the sender's clock may be ahead.
    /// - Throws: `FailureClass`: `unknownKey`, `keyExpired`, `keyRevoked`.
    package func openingEntry(_ kid: KeyID, at time: UnixTime) throws(FailureClass) -> Entry {
        guard let entry = entry(kid) else { throw .unknownKey }
        let now = updatedAt.map { max($0, time) } ?? time
        if entry.lifecycle.isRevoked(at: now) { throw .keyRevoked }
        if entry.lifecycle.isExpired(at: now) || entry.lifecycle.destroyedAt != nil { throw .keyExpired }
        return entry
    }
}

extension KeyRecord {
    /// Whether both are the same key. Equal ids aren't enough, because an attacker can find a collision of 64 bits. A key
    /// pair with another psk, or another device's key of the same master, is another key. A private key and its public half
    /// are the same key.
    package func isSameKey(as other: KeyRecord) -> Bool {
        guard kid == other.kid, let own = try? thumbprint(), let theirs = try? other.thumbprint() else { return false }
        guard constantTimeEqual(own.bytes, theirs.bytes) else { return false }
        return switch (material, other.material) {
        case (.recipient(_, _, let psk), .recipient(_, _, let otherPSK)): psk == otherPSK
        case (.shared(_, let device), .shared(_, let otherDevice)): device == otherDevice
        default: true
        }
    }
}

extension Keyset {
    /// Whether both contain the same keys, in any order, with the same private halves, pre-shared keys and lifecycles, and
    /// have the same `seq` and `updatedAt`.
    package func hasSameContent(as other: Keyset) -> Bool {
        sequence == other.sequence && updatedAt == other.updatedAt && entries.count == other.entries.count
            && entries.allSatisfy { entry in other.entry(entry.record.kid)?.hasSameContent(as: entry) ?? false }
    }
}

extension Keyset.Entry {
    fileprivate func hasSameContent(as other: Keyset.Entry) -> Bool {
        lifecycle == other.lifecycle && demandsPSK == other.demandsPSK
            && record.isPrivateAsymmetric == other.record.isPrivateAsymmetric && record.isSameKey(as: other.record)
    }
}

extension Keyset: CustomStringConvertible, CustomReflectable {
    /// The kind and the ids of the keys.
    public var description: String { "\(kind.rawValue) keys \(keyIDs.map(\.description).joined(separator: ", "))" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
