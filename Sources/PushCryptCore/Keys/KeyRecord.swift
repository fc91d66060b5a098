package import PushCryptPrimitives

/// The key of a JWK (PROTOCOL section 3, "Key records"), parsed and checked against its `kid`.
package struct KeyRecord: Sendable {
    package enum Material: Sendable {
        /// Suite 1, 2 or 3. `psk` has 32 bytes.
        case recipient(publicKey: any EncapsulationKey, privateKey: (any DecapsulationKey)?, psk: SecretBytes?)
        /// Suite 4, 32 bytes: a shared secret or a master or, with `device`, the key of that device.
        case shared(SecretBytes, device: DeviceID?)
        /// Ed25519. It signs messages.
        case sender(publicKey: any VerificationKey, privateKey: (any SigningKey)?)
        /// Ed25519. It signs published sets of sender keys, and never messages.
        case publisher(publicKey: any VerificationKey, privateKey: (any SigningKey)?)

        var algorithm: KeyAlgorithm {
            switch self {
            case .recipient(let publicKey, _, _): KeyAlgorithm(publicKey.type)
            case .shared: .shared
            case .sender: .ed25519
            case .publisher: .publisher
            }
        }
    }

    package let kid: KeyID
    package let material: Material
    let backend: any CryptoBackend
    /// The day keys that the device has published beside this registration record.
    package internal(set) var deviceSet: DeviceSet?
    /// The length of a shared secret and of a psk.
    package static let secretByteCount = 32

    package var algorithm: KeyAlgorithm { material.algorithm }
    package var kind: KeyKind { algorithm.kind }

    /// Whether the record contains the private half of a key pair.
    package var isPrivateAsymmetric: Bool {
        switch material {
        case .recipient(_, .some, _), .sender(_, .some), .publisher(_, .some): true
        default: false
        }
    }

    package var hasPSK: Bool {
        if case .recipient(_, _, .some) = material { true } else { false }
    }
}

/// The use of a key.
public struct KeyKind: RawRepresentable, Hashable, Sendable, CaseIterable {
    /// `recipient`, `shared`, `sender` or `publisher`.
    public let rawValue: String

    /// Makes a kind from its name; nil for another text.
    public init?(rawValue: String) {
        self.init(rawValue)
        guard Self.allCases.contains(self) else { return nil }
    }

    private init(_ rawValue: String) { self.rawValue = rawValue }

    /// A key pair that messages are sealed to (suites 1 to 3).
    public static let recipient = KeyKind("recipient")
    /// A shared secret, or the master of many devices' secrets (suite 4).
    public static let shared = KeyKind("shared")
    /// A key pair that signs messages (Ed25519).
    public static let sender = KeyKind("sender")
    /// A key pair that signs published sets of sender keys (Ed25519).
    public static let publisher = KeyKind("publisher")
    /// Every kind.
    public static let allCases: [KeyKind] = [.recipient, .shared, .sender, .publisher]
}

extension KeyRecord {
    /// Makes a key with the backend's CSPRNG. Its kid doesn't begin with `-`, because a command line would parse it as an
    /// option.
    /// - Parameters:
    ///   - type: for a recipient.
    ///   - psk: whether the recipient's record gets a pre-shared key.
    package static func generate(
        _ kind: KeyKind, type: KeyPairType = .p256, psk: Bool = false, backend: any CryptoBackend
    ) throws -> KeyRecord {
        while true {
            let material = try newMaterial(kind, type: type, psk: psk, backend: backend)
            let record = try KeyRecord(material, backend: backend)
            if record.kid.utf8.first != UInt8(ascii: "-") { return record }
        }
    }

    private static func newMaterial(
        _ kind: KeyKind, type: KeyPairType, psk: Bool, backend: any CryptoBackend
    ) throws -> Material {
        switch kind {
        case .sender:
            let key = try backend.generateSigningKey()
            return .sender(publicKey: key.publicKey, privateKey: key)
        case .publisher:
            let key = try backend.generateSigningKey()
            return .publisher(publicKey: key.publicKey, privateKey: key)
        case .shared:
            return .shared(try backend.randomSecret(count: secretByteCount), device: nil)
        default:
            let key = try backend.generateKeyPair(type)
            let secret = psk ? try backend.randomSecret(count: secretByteCount) : nil
            return .recipient(publicKey: key.publicKey, privateKey: key, psk: secret)
        }
    }

    /// Makes a record of material of `backend`, and computes its kid.
    package init(_ material: Material, backend: any CryptoBackend) throws {
        let kid = KeyID(thumbprint: try Self.thumbprint(of: material, backend: backend))
        self.init(kid: kid, material: material, backend: backend)
    }

    /// The record without the private half and, unless `keepingPSK`, without the psk.
    package func publicRecord(keepingPSK: Bool) -> KeyRecord {
        switch material {
        case .recipient(let publicKey, _, let psk):
            let kept: Material = .recipient(publicKey: publicKey, privateKey: nil, psk: keepingPSK ? psk : nil)
            return KeyRecord(kid: kid, material: kept, backend: backend)
        case .sender(let publicKey, _):
            return KeyRecord(kid: kid, material: .sender(publicKey: publicKey, privateKey: nil), backend: backend)
        case .publisher(let publicKey, _):
            return KeyRecord(kid: kid, material: .publisher(publicKey: publicKey, privateKey: nil), backend: backend)
        case .shared:
            return self
        }
    }

    /// Derives the key of one device from this master.
    ///
    /// ```
    /// K_device = HKDF-SHA256(ikm: master, salt: empty,
    ///                        info: "pushcrypt/1 device" || 0x00 || lp16(kid) || lp16(device id), 32)
    /// ```
    /// A device's key is returned unchanged for that device, and derives nothing.
    /// - Throws: `KeyError` with `wrongKind` for a key of another suite, `wrongDevice` for another device's key.
    package func deviceRecord(_ id: DeviceID) throws -> KeyRecord {
        guard case .shared(let master, let device) = material else {
            throw KeyError(.wrongKind, "key \(kid) is not a shared key: device ids belong to shared keys only")
        }
        if let device {
            guard device == id else {
                throw KeyError(.wrongDevice, "key \(kid) is the key of another device and derives no further keys")
            }
            return self
        }
        let key = try withTemporaryBytes(capacity: 98) { info in
            info.append("pushcrypt/1 device")
            info.append(0)
            info.append(lengthPrefixed: kid.description)
            info.append(lengthPrefixed: id.description)
            let prk = HKDF.extract(salt: .init(), ikm: master.bytes, backend: backend)
            return try backend.withHMACSHA256(key: prk.bytes) { hmac in
                try HKDF.expand(hmac, info: info.bytes, count: Self.secretByteCount)
            }
        }
        return KeyRecord(kid: kid, material: .shared(key, device: id), backend: backend)
    }
}

extension KeyRecord {
    /// R of a key pair's messages (PROTOCOL section 4), 32 bytes; nil for other keys.
    package func recipientName() throws -> [UInt8]? {
        guard case .recipient(let publicKey, _, _) = material else { return nil }
        return try backend.sha256(publicKey.serialized.bytes)
    }

    /// The record of a key pair with another psk.
    package func withPSK(_ psk: SecretBytes) -> KeyRecord {
        guard case .recipient(let publicKey, let privateKey, _) = material else { return self }
        return KeyRecord(
            kid: kid, material: .recipient(publicKey: publicKey, privateKey: privateKey, psk: psk), backend: backend)
    }

    /// The record with a private half from elsewhere, such as a Secure Enclave.
    /// - Throws: `KeyError` with `wrongKind` for other than a recipient's record, `invalidKey` for the private half of
    ///   another key.
    package func withPrivateKey(_ privateKey: any DecapsulationKey) throws(KeyError) -> KeyRecord {
        guard case .recipient(let publicKey, _, let psk) = material else {
            throw KeyError(.wrongKind, "key \(kid) is not a recipient's key pair")
        }
        let own = privateKey.publicKey
        guard own.type == publicKey.type, own.serialized == publicKey.serialized else {
            throw KeyError(.invalidKey, "key \(kid): the private key belongs to another public key")
        }
        return KeyRecord(
            kid: kid, material: .recipient(publicKey: publicKey, privateKey: privateKey, psk: psk), backend: backend)
    }
}
