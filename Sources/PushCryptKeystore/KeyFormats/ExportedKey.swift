package import PushCryptCore
package import PushCryptPrimitives

/// Writes one key in the formats of other tools. The caller wipes private keys.
package enum ExportedKey {
    package enum Form: String, Sendable {
        case jwk
        /// SubjectPublicKeyInfo or PKCS#8, as text (PEM) or as bytes (DER).
        case pem, der
        /// base64 of the raw bytes: of a public key 65 (P-256) or 32, of a private key 32.
        case raw
    }

    /// - Throws: `KeyError` with `wrongKind` for a shared key, which has no public half.
    package static func publicKey(_ record: KeyRecord, as form: Form) throws -> [UInt8] {
        let key = try contained(record.publicRecord(keepingPSK: false))
        switch form {
        case .jwk: return try jwk(record.publicRecord(keepingPSK: false))
        case .pem, .der: return try container(key, as: .publicKey, form)
        case .raw: return Base64.encode(key.publicKey.bytes)
        }
    }

    /// Writes the private or shared key. Only a JWK contains the psk.
    ///
    /// - Parameter passphrase: encrypts PEM and DER; nil leaves them unencrypted.
    /// - Throws: `KeyError` with `wrongKind` for a public key, and for a shared key as PEM or DER.
    package static func privateKey(_ record: KeyRecord, as form: Form, passphrase: SecretBytes?) throws -> [UInt8] {
        if form == .jwk { return try jwk(record) }
        if form == .raw, case .shared(let secret, _) = record.material { return Base64.encode(secret.bytes) }
        let key = try contained(record)
        guard let privateKey = key.privateKey else { throw KeyError(.wrongKind, "key \(record.kid) is a public key") }
        if form == .raw { return Base64.encode(privateKey.bytes) }
        return try container(key, as: passphrase.map { .encryptedPrivateKey(passphrase: $0) } ?? .privateKey, form)
    }

    private static func jwk(_ record: KeyRecord) throws -> [UInt8] {
        var output = [UInt8]()
        output.reserveCapacity(KeyRecord.maximumJWKByteCount)
        try record.appendJWK(to: &output)
        return output
    }

    private static func container(_ key: ContainedKey, as kind: KeyContainer.Form, _ form: Form) throws -> [UInt8] {
        let bytes = try KeyContainer.write(key, as: kind, encoding: form == .pem ? .pem : .der)
        return Array(bytes.bytes)
    }

    private static func contained(_ record: KeyRecord) throws -> ContainedKey {
        switch record.material {
        case .recipient(let publicKey, let privateKey, _):
            let algorithm: ContainedKey.Algorithm
            switch publicKey.type {
            case .p256: algorithm = .p256
            case .x25519: algorithm = .x25519
            case .xWing:
                throw KeyError(
                    .wrongKind,
                    "key \(record.kid) is an X-Wing key, for which no PEM format is standardised: export it as JWK")
            }
            guard let privateKey else { return try ContainedKey(algorithm, publicKey: publicKey.serialized) }
            return try ContainedKey(algorithm, privateKey: privateKey.serialized)
        case .sender(let publicKey, let privateKey), .publisher(let publicKey, let privateKey):
            guard let privateKey else { return try ContainedKey(.ed25519, publicKey: publicKey.serialized) }
            return try ContainedKey(.ed25519, privateKey: privateKey.serialized)
        case .shared:
            throw KeyError(
                .wrongKind, "key \(record.kid) is a shared secret: it has no public half and can't be written as PEM")
        }
    }
}
