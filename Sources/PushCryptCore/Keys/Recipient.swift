import PushCryptHPKE
package import PushCryptPrimitives

/// Whom a sender seals to: a device's public key, with its psk if it has one, or a shared key.
///
/// The key is parsed and checked once, here; keep the value for as long as you send to the device.
public struct Recipient: Sendable {
    public let kid: KeyID
    public let suite: Suite
    /// Whose own shared key it is; of a public key the device that was named with it. It is in the ids of a campaign's
    /// messages.
    public let device: DeviceID?
    let scheme: Scheme
    package let backend: any CryptoBackend

    enum Scheme: Sendable {
        case hpke(HPKESealing)
        case shared(SharedSecretScheme)
    }

    /// Reads a recipient's record as an app uploads it, or a shared key: a JWK.
    ///
    /// - Parameter jwk: UTF-8 JSON. A private asymmetric key is refused: a backend has no business with one.
    /// - Throws: `KeyError`.
    public init(jwk: some Collection<UInt8>) throws {
        try self.init(jwk: jwk, backend: DefaultBackend.shared)
    }

    package init(jwk: some Collection<UInt8>, backend: any CryptoBackend) throws {
        try self.init(try Keyset(json: Array(jwk), backend: backend).onlyEntry())
    }

    /// - Parameter id: a master gives the device its own key, and a device's own key must be that device's. A public key
    ///   belongs to one install as it is: the id is no more than its name.
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
            let pskID = Array(record.kid.utf8)
            scheme = .hpke(
                HPKESealing(
                    Suite.hpke(publicKey.group, backend: backend), publicKey, try psk.map { try PSK($0, id: pskID) }))
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

    /// The key of a set of one, where no time is needed to say that it seals.
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
