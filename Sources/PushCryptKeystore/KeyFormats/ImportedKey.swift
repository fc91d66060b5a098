package import PushCryptCore
import PushCryptKeysets
package import PushCryptPrimitives

/// Reads keys of other tools: a JWK or JWK set, PEM or DER, or the raw 32 bytes of a private key or a secret. A JWK needs neither
/// `alg` nor `kid`.
package enum ImportedKey {
    /// The kind of a raw key. The bytes of a raw key don't contain it.
    package enum RawKind: Sendable {
        case recipient(KeyPairType)
        case sender
        case publisher
        case shared
    }

    /// Reads the private or shared keys in `bytes`, with their lifecycles if a set contains them.
    ///
    /// - Parameters:
    ///   - rawKind: the kind of a raw key, which is encoded in base64 or base64url. An Ed25519 key in PEM or DER is a
    ///     publisher's if this is `publisher`, otherwise a sender's.
    ///   - passphrase: for an encrypted PKCS#8 container.
    /// - Throws: `KeyError`; `KeystoreError` with `secretNeeded` or `wrongSecret` for an encrypted container.
    package static func read(_ bytes: [UInt8], rawKind: RawKind?, passphrase: SecretBytes?) throws -> Keyset {
        if let encoding = TextEncoding(of: bytes.bytes) {
            throw KeyError(.malformed, "the file is \(encoding.flaw)")
        }
        let keyset =
            if bytes.first(where: { !$0.isWhiteSpace }) == UInt8(ascii: "{") {
                try Keyset(json: bytes, isForeign: true, backend: DefaultBackend.shared)
            } else if bytes.isBase64Line {
                try raw(bytes, rawKind)
            } else {
                try container(bytes, rawKind, passphrase)
            }
        for entry in keyset.entries { try requirePrivate(entry.record) }
        return keyset
    }

    private static func container(_ bytes: [UInt8], _ kind: RawKind?, _ passphrase: SecretBytes?) throws -> Keyset {
        let key = try contained(bytes, passphrase)
        guard let privateKey = key.privateKey else {
            throw KeyError(.wrongKind, "the file contains a public key; a keyset needs the private one")
        }
        switch key.algorithm {
        case .p256: return try single(.recipient(.p256), privateKey)
        case .x25519: return try single(.recipient(.x25519), privateKey)
        case .ed25519:
            if case .publisher? = kind { return try single(.publisher, privateKey) }
            return try single(.sender, privateKey)
        }
    }

    private static func contained(_ bytes: [UInt8], _ passphrase: SecretBytes?) throws -> ContainedKey {
        do {
            return try KeyContainer.read(bytes.bytes, passphrase: passphrase)
        } catch let error as KeyContainerError {
            switch error.code {
            case .passphraseNeeded: throw KeystoreError(.secretNeeded, error.reason)
            case .wrongPassphrase: throw KeystoreError(.wrongSecret, error.reason)
            case .unsupportedKey, .unsupportedEncryption: throw KeyError(.unsupportedKey, error.reason)
            case .invalidKey, .inconsistentKeyPair: throw KeyError(.invalidKey, error.reason)
            default: throw KeyError(.malformed, error.reason)
            }
        }
    }

    private static func raw(_ bytes: [UInt8], _ kind: RawKind?) throws -> Keyset {
        guard let kind else {
            throw KeyError(.wrongKind, "raw bytes don't contain the kind and the suite of the key")
        }
        guard let secret = Base64.decode(bytes.bytes, .any), secret.count == KeyRecord.secretByteCount else {
            throw KeyError(.malformed, "a raw key is the base64 of \(KeyRecord.secretByteCount) bytes")
        }
        return try single(kind, secret)
    }

    private static func single(_ kind: RawKind, _ secret: SecretBytes) throws -> Keyset {
        let backend = DefaultBackend.shared
        let material: KeyRecord.Material
        do {
            switch kind {
            case .shared: material = .shared(secret, device: nil)
            case .sender:
                let key = try backend.signingKey(secret.bytes)
                material = .sender(publicKey: key.publicKey, privateKey: key)
            case .publisher:
                let key = try backend.signingKey(secret.bytes)
                material = .publisher(publicKey: key.publicKey, privateKey: key)
            case .recipient(let type):
                let key = try backend.privateKey(type, secret.bytes)
                material = .recipient(publicKey: key.publicKey, privateKey: key, psk: nil)
            }
        } catch let error as CryptoError where error.code != .backendFailure {
            throw KeyError(error.code == .unsupportedAlgorithm ? .unsupportedSuite : .invalidKey, error.reason)
        }
        let record = try KeyRecord(material, backend: backend)
        return try Keyset([.init(record, KeyLifecycle(activatesAt: UnixTime(0)))])
    }

    private static func requirePrivate(_ record: KeyRecord) throws {
        switch record.material {
        case .shared(_, .some):
            throw KeyError(
                .wrongDevice, "key \(record.kid) is a device's own key, not a master: it stays on its device")
        case .shared: return
        case .recipient, .sender, .publisher:
            guard record.isPrivateAsymmetric else {
                throw KeyError(.wrongKind, "key \(record.kid) is a public key; a keyset needs the private one")
            }
        }
    }
}

extension [UInt8] {
    /// Whether this is one short line of base64 or base64url. PEM has several lines, and DER isn't text.
    fileprivate var isBase64Line: Bool {
        let line = drop { $0.isWhiteSpace }.reversed().drop { $0.isWhiteSpace }
        return (1...88).contains(line.count) && line.allSatisfy { $0.isAlphanumeric || $0.isOne(of: "+/-_=") }
    }
}
