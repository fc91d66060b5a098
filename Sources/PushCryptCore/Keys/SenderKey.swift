package import PushCryptPrimitives

/// The private key that a sender signs with (profile "signed").
public struct SenderKey: Sendable {
    /// The key's id, `skid` in the envelope.
    public let kid: KeyID
    let key: any SigningKey

    /// Reads the JWK of a sender's private key.
    ///
    /// - Throws: `KeyError`.
    public init(jwk: some Collection<UInt8>) throws { try self.init(try Keyset(json: jwk).onlyEntry()) }

    package init(_ entry: Keyset.Entry) throws {
        guard case .sender(_, let key?) = entry.record.material else {
            let kind = entry.record.kind
            let found = kind == .sender ? "a sender's public key" : "a \(kind.rawValue) key"
            throw KeyError(
                .wrongKind, "key \(entry.record.kid) is \(found): only a sender's private key signs a push")
        }
        kid = entry.record.kid
        self.key = key
    }
}

extension SenderKey: CustomStringConvertible, CustomReflectable {
    /// The id of the key.
    public var description: String { "sender key \(kid)" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Keyset {
    /// The key to sign with at `time`.
    ///
    /// - Throws: `KeyError` with `noKeySeals` or `wrongKind`.
    public func senderKey(at time: UnixTime) throws -> SenderKey { try SenderKey(try sealingEntry(at: time)) }
}

/// The sender keys that a recipient trusts.
public struct TrustedSenders: Sendable {
    private let keyset: Keyset
    private let revoked: Set<KeyID>
    /// From then on no key verifies; nil for a set that isn't signed.
    private var endsAt: UnixTime?

    /// Reads a published JWK set of sender keys.
    ///
    /// - Throws: `KeyError`.
    public init(json: some Collection<UInt8>) throws { try self.init(try Keyset(json: json)) }

    /// Trusts the keys of a set.
    ///
    /// - Throws: `KeyError` with `wrongKind` for keys other than sender keys.
    public init(_ keyset: Keyset) throws { try self.init(keyset, revoked: []) }

    /// - Parameter thumbprints: RFC 7638 thumbprints, 32 bytes, of keys that are revoked in addition to those of the set.
    /// - Throws: `KeyError` with `wrongKind` for keys other than sender keys.
    package init(_ keyset: Keyset, revoked thumbprints: Set<[UInt8]>) throws {
        try keyset.requireKind(.sender)
        self.keyset = keyset
        let entries = try keyset.entries.filter { entry in
            try entry.lifecycle.revokedAt != nil || thumbprints.contains(entry.record.thumbprint())
        }
        revoked = Set(entries.map(\.record.kid))
    }

    /// The keys of a signed set, which are judged no earlier than its `issuedAt`. They verify until its `validUntil`.
    ///
    /// - Parameters:
    ///   - thumbprints: RFC 7638 thumbprints, 32 bytes, of all keys that were revoked in the set's epoch.
    ///   - graceInSeconds: how long the keys verify after `validUntil`.
    package init(_ set: SignedSenderSet, revoked thumbprints: Set<[UInt8]>, graceInSeconds: Int64) throws {
        try self.init(set.keyset, revoked: thumbprints)
        endsAt = set.publication.validUntil + graceInSeconds
    }

    /// The ids of all keys, including expired and revoked ones.
    package var keyIDs: [KeyID] { keyset.keyIDs }

    /// The number of the set; 0 for one that has none.
    package var sequence: Int64 { keyset.sequence }

    /// - Throws: `FailureClass`: `unknownKey`, `keyExpired`, `keyRevoked`. A revoked key verifies nothing as soon as its set
    ///   is read. The times of the message and of the device don't matter, because an attacker may have changed them.
    package func verificationKey(_ skid: KeyID, at time: UnixTime) throws(FailureClass) -> any VerificationKey {
        if let endsAt, endsAt <= time { throw .keyExpired }
        guard !revoked.contains(skid) else { throw .keyRevoked }
        guard case .sender(let key, _) = try keyset.openingEntry(skid, at: time).record.material else {
            throw .unknownKey
        }
        return key
    }
}

extension TrustedSenders: CustomStringConvertible, CustomReflectable {
    /// The ids of the keys.
    public var description: String { "trusted senders \(keyset.keyIDs.map(\.description).joined(separator: ", "))" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
