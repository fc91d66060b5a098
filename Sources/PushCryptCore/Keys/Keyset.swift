package import PushCryptPrimitives

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

/// JWK sets (RFC 7517 section 5) with lifecycles.
///
/// ```
/// {"keys": [JWK, ...],
///  "pushcrypt": {"seq": n, ["updatedAt": TIME,]
///                "keys": {kid: {["createdAt"], ["activatesAt"], ["retiresAt"], ["expiresAt"], ["revokedAt"],
///                               ["psk": true]}}}}
/// ```
/// Times are RFC 3339. Only private files contain `updatedAt` and `createdAt`. A single JWK, and a set without the
/// `pushcrypt` member, is one key that always seals and opens.
extension Keyset {
    /// Reads one JWK or a JWK set.
    ///
    /// - Throws: `KeyError`.
    public init(json: some Collection<UInt8>) throws {
        try self.init(json: Array(json), backend: DefaultBackend.shared)
    }

    /// - Parameter isForeign: whether another tool may have written the keys; see ``KeyRecord``.
    package init(json: [UInt8], isForeign: Bool = false, backend: any CryptoBackend) throws {
        guard !json.starts(with: "-----BEGIN".utf8) else {
            throw KeyError(.malformed, "this is PEM, and a key is read as a JWK: import it into a keyset")
        }
        let root: JSONValue
        do {
            root = try JSONText(json).root
        } catch {
            throw KeyError(
                .malformed,
                json.isEmpty
                    ? "it is empty: keys are in a keyset, or in a file with a JWK or JWK set"
                    : "not a JSON text with a JWK or JWK set: \(error)")
        }
        guard root["payload"] == nil || root["signatures"] == nil else {
            throw KeyError(
                .signedSet, "this is a signed sender set: it is read only with the pins of its publishers")
        }
        guard root["sealed"] == nil else {
            throw KeyError(.malformed, "the private keys are encrypted: give the keyset's folder, not its file")
        }
        try self.init(root, isForeign: isForeign, backend: backend)
    }

    /// - Parameter root: a JWK or a JWK set.
    /// - Throws: `KeyError`.
    init(_ root: JSONValue, isForeign: Bool = false, backend: any CryptoBackend) throws {
        guard let keys = root["keys"] else {
            try self.init([Entry(try KeyRecord(root, isForeign: isForeign, backend: backend), .always)])
            return
        }
        guard keys.kind == .array else { throw KeyError(.malformed, "the set's keys member is not an array") }
        let records = try keys.elements.map { try KeyRecord($0, isForeign: isForeign, backend: backend) }
        guard let member = root["pushcrypt"] else {
            guard records.count == 1 else {
                throw KeyError(
                    .malformed,
                    "a set of \(records.count) keys needs a pushcrypt member, which determines the key that seals")
            }
            try self.init([Entry(records[0], .always)])
            return
        }
        guard let sequence = member["seq"]?.protocolInteger, let lifecycles = member["keys"], lifecycles.kind == .object
        else { throw KeyError(.malformed, "the set's pushcrypt member has no seq or no keys") }
        // One pass: searching all members for each key would be quadratic in a hostile set.
        let lifecycleOfKey = Dictionary(
            lifecycles.members.lazy.compactMap { member in KeyID(member.name).map { ($0, member.value) } },
            uniquingKeysWith: { first, _ in first })
        let entries = try records.map { record in
            guard let lifecycle = lifecycleOfKey[record.kid] else {
                throw KeyError(.malformed, "the set's pushcrypt member has no lifecycle of key \(record.kid)")
            }
            return try Entry(record, reading: lifecycle)
        }
        try self.init(entries, sequence: sequence, updatedAt: try member.time("updatedAt"))
    }

    /// Writes the set as a JWK set with its secret members. The caller wipes the result.
    /// - Parameters:
    ///   - withHistory: whether `updatedAt` and `createdAt` are written, as in private files.
    ///   - publication: the members of a signed set, which are written after `seq`.
    package func jwkSet(withHistory: Bool, publication: SenderSetPublication? = nil) throws -> [UInt8] {
        var output = [UInt8]()
        output.reserveCapacity(256 + entries.count * (KeyRecord.maximumJWKByteCount + 256))
        output += "{\n  \"keys\": [\n    ".utf8
        for (index, entry) in entries.enumerated() {
            if index > 0 { output += ",\n    ".utf8 }
            try entry.record.appendJWK(to: &output)
        }
        output += "\n  ],\n  \"pushcrypt\": {\"seq\": \(sequence), ".utf8
        if let publication { output += "\(publication.jsonMembers), ".utf8 }
        if withHistory, let updatedAt { output += "\"updatedAt\": \"\(updatedAt)\", ".utf8 }
        output += "\"keys\": {\n    ".utf8
        for (index, entry) in entries.enumerated() {
            if index > 0 { output += ",\n    ".utf8 }
            output += "\"\(entry.record.kid)\": {\(entry.members(withHistory: withHistory))}".utf8
        }
        output += "\n  }}\n}\n".utf8
        return output
    }
}

extension KeyLifecycle {
    /// The lifecycle of a key for which the file has none.
    fileprivate static let always = KeyLifecycle(activatesAt: UnixTime(0))
}

extension Keyset.Entry {
    fileprivate init(_ record: KeyRecord, reading member: JSONValue) throws {
        let lifecycle = try KeyLifecycle(member, of: record.kid)
        let demandsPSK = try member.demandsPSK(of: record.kid)
        guard !demandsPSK || record.kind == .recipient else {
            throw KeyError(.malformed, "key \(record.kid): only recipient keys have a psk")
        }
        self.init(record, lifecycle, demandsPSK: record.hasPSK || demandsPSK)
    }

    fileprivate func members(withHistory: Bool) -> String {
        (lifecycle.jsonMembers(withHistory: withHistory) + (demandsPSK ? [#""psk": true"#] : []))
            .joined(separator: ", ")
    }
}
