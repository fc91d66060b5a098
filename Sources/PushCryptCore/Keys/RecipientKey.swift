import PushCryptHPKE
import PushCryptPrimitives

/// What a recipient opens with: its private key, with its psk if it has one, or a shared key.
public struct RecipientKey: Sendable {
    public let kid: KeyID
    public let suite: Suite
    let scheme: Scheme
    let backend: any CryptoBackend

    enum Scheme: Sendable {
        case hpke(HPKEOpening)
        case shared(SharedSecretScheme)
    }

    /// - Parameter id: a master gives the device its own key, and a device's own key must be that device's. A private
    ///   key belongs to one install as it is: the id is no more than its name.
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
            let id = Array(record.kid.utf8)
            scheme = .hpke(
                HPKEOpening(
                    Suite.hpke(publicKey.group, backend: backend), privateKey, try psk.map { try PSK($0, id: id) }))
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
