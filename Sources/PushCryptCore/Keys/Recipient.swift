package import PushCryptPrimitives

/// What a sender seals to: a device's public key, with its psk if it has one, or a shared key.
///
/// The key is parsed and checked once, here; keep the value for as long as you send to the device.
public struct Recipient: Sendable {
    /// The key's id, which goes into the envelope.
    public let kid: KeyID
    /// How messages to the key are sealed.
    public let suite: Suite
    /// The device whose shared key this is or that was named with the public key. The message ids of a campaign depend
    /// on it.
    public let device: DeviceID?
    let scheme: EncryptionScheme<any DHPublicKey>
    package let backend: any CryptoBackend

    /// Reads a recipient's record as an app uploads it, or a shared key: a JWK.
    ///
    /// - Parameter jwk: UTF-8 JSON. A private key of a key pair is refused: a backend must not hold it.
    /// - Throws: `KeyError`.
    public init(jwk: some Collection<UInt8>) throws {
        try self.init(jwk: jwk, backend: DefaultBackend.shared)
    }

    package init(jwk: some Collection<UInt8>, backend: any CryptoBackend) throws {
        try self.init(try Keyset(json: Array(jwk), backend: backend).onlyEntry())
    }

    /// - Parameter id: a master gives the device its own key, and a device's own key must be that device's. A public key
    ///   belongs to one install already, and the id only names it.
    /// - Throws: `KeyError` with `wrongKind`, `pskMissing`, `wrongDevice`.
    package init(_ entry: Keyset.Entry, device id: DeviceID? = nil) throws {
        let record = try entry.named(id).record
        guard !record.isPrivateAsymmetric else {
            throw KeyError(.wrongKind, "key \(record.kid) is a private key: seal to the public one")
        }
        if entry.demandsPSK, !record.hasPSK {
            throw KeyError(
                .pskMissing, "key \(record.kid) demands a psk: use the registration record, not the published set")
        }
        kid = record.kid
        backend = record.backend
        switch record.material {
        case .recipient(let publicKey, _, let psk):
            suite = Suite(publicKey.group)
            device = id
            scheme = .hpke(try HPKEScheme(publicKey, publicKey, psk: psk, kid: record.kid, backend: backend))
        case .shared(let secret, let owner):
            suite = .shared
            device = owner
            scheme = .shared(SharedSecretScheme(secret: secret, backend: backend))
        case .sender:
            throw KeyError(.wrongKind, "key \(record.kid) is a sender's key: it signs, nothing is sealed to it")
        }
    }
}

extension Keyset {
    /// The recipient to seal to at `time`: the primary key, which must not be private.
    ///
    /// - Throws: `KeyError` with `noKeySeals`, `wrongKind`, `pskMissing`.
    public func recipient(at time: UnixTime) throws -> Recipient {
        try Recipient(try sealingEntry(at: time))
    }

    /// The only key of a set, which needs no time to be chosen.
    ///
    /// - Throws: `KeyError` with `malformed` for several keys or one whose end is set.
    func onlyEntry() throws -> Entry {
        guard entries.count == 1 else {
            throw KeyError(.malformed, "a set of \(entries.count) keys: choose one by time, from a Keyset")
        }
        let (entry, lifecycle) = (entries[0], entries[0].lifecycle)
        guard lifecycle.retiresAt == nil, lifecycle.expiresAt == nil, lifecycle.revokedAt == nil else {
            throw KeyError(.malformed, "key \(entry.record.kid) ends at a time: choose by time, from a Keyset")
        }
        return entry
    }

    package func sealingEntry(at time: UnixTime) throws -> Entry {
        guard let entry = primary(at: time) else {
            throw KeyError(.noKeySeals, "none of the \(keyIDs.count) keys seals at \(time)")
        }
        return entry
    }
}
