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

/// The sender keys that a recipient trusts: one set for each sender (PROTOCOL section 4).
///
/// The keys of one set act for each other: they take back each other's messages. If you trust several senders, make one
/// value for each, with a name if its set isn't signed, and join them by ``init(_:)-([TrustedSenders])``.
public struct TrustedSenders: Sendable {
    private struct SenderSet {
        let sender: MessageSender
        let keyset: Keyset
        let revoked: Set<KeyID>
        /// From then on no key verifies; nil for a set that isn't signed.
        var endsAt: UnixTime?
    }

    private let sets: [SenderSet]

    /// Reads a published JWK set of sender keys.
    ///
    /// - Parameter name: distinguishes this sender from others that the app trusts. It is never sent. Keep it: under another
    ///   name the sender can't take back its earlier messages.
    /// - Throws: `KeyError`.
    public init(json: some Collection<UInt8>, name: String = "") throws {
        try self.init(try Keyset(json: json), name: name)
    }

    /// Trusts the keys of a set.
    ///
    /// - Throws: `KeyError` with `wrongKind` for keys other than sender keys.
    public init(_ keyset: Keyset, name: String = "") throws {
        sets = [try Self.set(MessageSender(name: name), keyset, [], endsAt: nil)]
    }

    /// Trusts one key, which an app can have in its code.
    ///
    /// - Parameters:
    ///   - publicKey: an Ed25519 public key (RFC 8032, section 5.1.5): its 32 bytes as base64 or base64url.
    ///   - name: as for ``init(json:name:)``.
    /// - Throws: `KeyError` with `invalidKey`.
    public init(publicKey: String, name: String = "") throws {
        guard let bytes = Base64.decode(Array(publicKey.utf8).bytes, .any), bytes.count == 32 else {
            throw KeyError(.invalidKey, "a sender's public key has 32 bytes, written as base64")
        }
        var jwk = Array(#"{"kty":"OKP","crv":"Ed25519","x":""#.utf8)
        Base64URL.append(bytes.bytes, to: &jwk)
        jwk += #""}"#.utf8
        try self.init(try Keyset(json: jwk, isForeign: true, backend: DefaultBackend.shared), name: name)
    }

    /// Trusts several senders. A key that two of their sets have verifies nothing.
    public init(_ senders: [TrustedSenders]) { sets = senders.flatMap(\.sets) }

    /// The keys of a signed set, which are judged no earlier than its `issuedAt`. They verify until its `validUntil`.
    ///
    /// - Parameters:
    ///   - thumbprints: RFC 7638 thumbprints, 32 bytes, of all keys that were revoked in the set's epoch.
    ///   - graceInSeconds: how long the keys verify after `validUntil`.
    package init(_ set: SignedSenderSet, revoked thumbprints: Set<[UInt8]>, graceInSeconds: Int64) throws {
        let publication = set.publication
        sets = [
            try Self.set(
                MessageSender(set: publication.set), set.keyset, thumbprints,
                endsAt: publication.validUntil + graceInSeconds)
        ]
    }

    private static func set(
        _ sender: MessageSender, _ keyset: Keyset, _ thumbprints: Set<[UInt8]>, endsAt: UnixTime?
    ) throws -> SenderSet {
        try keyset.requireKind(.sender)
        let revoked = try keyset.entries.filter { entry in
            try entry.lifecycle.revokedAt != nil || thumbprints.contains(entry.record.thumbprint())
        }
        return SenderSet(sender: sender, keyset: keyset, revoked: Set(revoked.map(\.record.kid)), endsAt: endsAt)
    }

    /// The ids of all keys, including expired and revoked ones.
    package var keyIDs: [KeyID] { sets.flatMap(\.keyset.keyIDs) }

    /// The number of the set; 0 for one that has none, nil for several sets.
    package var sequence: Int64? { sets.count == 1 ? sets[0].keyset.sequence : nil }

    /// The key that must have signed a message, and whose message it then is.
    ///
    /// - Throws: `FailureClass`: `unknownKey`, also for a key of two sets, because nothing would say whose message it is;
    ///   `keyExpired`, `keyRevoked`. A revoked key verifies nothing as soon as its set is read. The times of the message and
    ///   of the device don't matter, because an attacker may have changed them.
    package func verificationKey(
        _ skid: KeyID, at time: UnixTime
    ) throws(FailureClass) -> (key: any VerificationKey, sender: MessageSender) {
        let holders = sets.filter { $0.keyset.entry(skid) != nil }
        guard holders.count == 1, let set = holders.first else { throw .unknownKey }
        if let endsAt = set.endsAt, endsAt <= time { throw .keyExpired }
        guard !set.revoked.contains(skid) else { throw .keyRevoked }
        guard case .sender(let key, _) = try set.keyset.openingEntry(skid, at: time).record.material else {
            throw .unknownKey
        }
        return (key, set.sender)
    }
}

extension TrustedSenders: CustomStringConvertible, CustomReflectable {
    /// The ids of the keys.
    public var description: String { "trusted senders \(keyIDs.map(\.description).joined(separator: ", "))" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
