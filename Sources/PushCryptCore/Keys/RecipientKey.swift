import PushCryptPrimitives

/// What a recipient opens with: its private key, with its psk if it has one, or a shared key.
public struct RecipientKey: Sendable {
    /// The key's id, which the envelope names.
    public let kid: KeyID
    /// How messages to the key are sealed.
    public let suite: Suite
    let scheme: EncryptionScheme<any DHPrivateKey>
    let backend: any CryptoBackend

    /// - Parameter id: a master gives the device its own key, and a device's own key must be that device's. A private
    ///   key belongs to one install already, and the id only names it.
    /// - Throws: `KeyError` with `wrongKind` for a public key or a sender's, `pskMissing`, `wrongDevice`.
    package init(_ entry: Keyset.Entry, device id: DeviceID? = nil) throws {
        let record = try entry.named(id).record
        if entry.demandsPSK, !record.hasPSK {
            throw KeyError(.pskMissing, "key \(record.kid) demands a psk that its record doesn't hold")
        }
        kid = record.kid
        backend = record.backend
        switch record.material {
        case .recipient(let publicKey, let privateKey?, let psk):
            suite = Suite(publicKey.group)
            scheme = .hpke(try HPKEScheme(privateKey, publicKey, psk: psk, kid: record.kid, backend: backend))
        case .shared(let secret, _):
            suite = .shared
            scheme = .shared(SharedSecretScheme(secret: secret, backend: backend))
        case .recipient:
            throw KeyError(.wrongKind, "key \(record.kid) is a public key: opening needs the private one")
        case .sender:
            throw KeyError(.wrongKind, "key \(record.kid) is a sender's key: it signs, nothing is sealed to it")
        }
    }
}
