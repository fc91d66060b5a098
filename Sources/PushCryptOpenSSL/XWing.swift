import CPushCryptOpenSSL
import PushCryptPrimitives

// X-Wing (draft-connolly-cfrg-xwing-kem), the hybrid of ML-KEM-768 and X25519. It needs OpenSSL 3.5 at run time.
//
// The draft says nothing about an X25519 secret of zeros. Here it is refused, as in DHKEM (RFC 9180 section 7.1.4; PROTOCOL
// section 3).

/// draft-connolly-cfrg-xwing-kem sections 5.2 to 5.5.
///
/// ```
/// def expandDecapsulationKey(sk):
///   expanded = SHAKE256(sk, 96)
///   (pk_M, sk_M) = ML-KEM-768.KeyGen_internal(expanded[0:32], expanded[32:64])
///   sk_X = expanded[64:96]
///   pk_X = X25519(sk_X, X25519_BASE)
///   return (sk_M, sk_X, pk_M, pk_X)
///
/// def Combiner(ss_M, ss_X, ct_X, pk_X):
///   return SHA3-256(concat(ss_M, ss_X, ct_X, pk_X, XWingLabel))
///
/// def Encapsulate(pk):                                def Decapsulate(ct, sk):
///   pk_M = pk[0:1184]                                   (sk_M, sk_X, pk_M, pk_X) = expandDecapsulationKey(sk)
///   pk_X = pk[1184:1216]                                ct_M = ct[0:1088]
///   ek_X = random(32)                                   ct_X = ct[1088:1120]
///   ct_X = X25519(ek_X, X25519_BASE)                    ss_M = ML-KEM-768.Decapsulate(ct_M, sk_M)
///   ss_X = X25519(ek_X, pk_X)                           ss_X = X25519(sk_X, ct_X)
///   (ss_M, ct_M) = ML-KEM-768.Encaps(pk_M)              return Combiner(ss_M, ss_X, ct_X, pk_X)
///   ss = Combiner(ss_M, ss_X, ct_X, pk_X)
///   ct = concat(ct_M, ct_X)
///   return (ss, ct)
/// ```
enum XWing {
    static let sharedSecretByteCount = 32
    /// XWingLabel: `\./` and, below it, `/^\`.
    private static let label: [UInt8] = [0x5c, 0x2e, 0x2f, 0x2f, 0x5e, 0x5c]

    /// - Parameter sharedSecret: 32 bytes.
    fileprivate static func combine(
        _ mlkemSecret: Span<UInt8>, _ x25519Secret: Span<UInt8>, x25519Ciphertext: Span<UInt8>,
        _ x25519PublicKey: X25519PublicKey, into sharedSecret: inout MutableSpan<UInt8>
    ) throws {
        let publicKey = x25519PublicKey.serialized
        try withTemporarySecret(count: 4 * 32 + label.count) { input in
            input.write(mlkemSecret)
            input.write(x25519Secret, at: 32)
            input.write(x25519Ciphertext, at: 64)
            input.write(publicKey.bytes, at: 96)
            input.write(label.bytes, at: 128)
            try SHA3.hash256(input.span, into: &sharedSecret)
        }
    }
}

/// `@unchecked Sendable`: the keys are immutable.
final class XWingPublicKey: EncapsulationKey, @unchecked Sendable {
    let serialized: [UInt8]
    private let mlkem: MLKEM768Key
    private let x25519: X25519PublicKey

    var type: KeyPairType { .xWing }

    /// - Throws: `CryptoError` with `invalidPublicKey` for a wrong length or if ML-KEM's part isn't reduced (FIPS 203 section
    ///   7.2), `unsupportedAlgorithm`.
    init(_ serialized: Span<UInt8>) throws {
        guard serialized.count == KeyPairType.xWing.publicKeyByteCount else {
            throw CryptoError(.invalidPublicKey, "an X-Wing public key has 1,216 bytes")
        }
        mlkem = try MLKEM768Key(publicKey: serialized.extracting(first: MLKEM768Key.publicKeyByteCount))
        x25519 = try X25519PublicKey(serialized.extracting(droppingFirst: MLKEM768Key.publicKeyByteCount))
        self.serialized = Array(serialized)
    }

    fileprivate init(_ mlkem: MLKEM768Key, _ x25519: X25519PublicKey) throws {
        self.mlkem = mlkem
        self.x25519 = x25519
        serialized = try mlkem.publicKey() + x25519.serialized
    }

    /// Encapsulate(), or EncapsulateDerand() with `randomness`.
    ///
    /// - Parameters:
    ///   - sharedSecret: 32 bytes.
    ///   - output: the ciphertext, 1,120 bytes, is appended.
    ///   - randomness: 64 bytes, which only tests of published vectors pass; empty for new ones.
    func encapsulate(
        into sharedSecret: inout MutableSpan<UInt8>, appendingTo output: inout [UInt8],
        randomness: Span<UInt8> = .init()
    ) throws {
        try withTemporarySecrets(32, 32) { mlkemSecret, x25519Secret in
            try output.append(count: MLKEM768Key.ciphertextByteCount) { ciphertext in
                try mlkem.encapsulate(
                    into: &mlkemSecret, ciphertext: &ciphertext, randomness: randomness.extracting(first: 32))
            }
            let start = output.count
            if randomness.isEmpty {
                try X25519PrivateKey.agreeOnce(with: x25519, into: &x25519Secret, appendingPublicKeyTo: &output)
            } else {
                let ephemeral = try X25519PrivateKey(randomness.extracting(droppingFirst: 32))
                let agreed = try ephemeral.sharedSecret(with: x25519)
                x25519Secret.write(agreed.bytes)
                output += ephemeral.publicKey.serialized
            }
            try XWing.combine(
                mlkemSecret.span, x25519Secret.span,
                x25519Ciphertext: output.bytes.extracting(droppingFirst: start), x25519,
                into: &sharedSecret)
        }
    }
}

/// `@unchecked Sendable`: as for the public key.
final class XWingPrivateKey: DecapsulationKey, @unchecked Sendable {
    private let seed: SecretBytes
    private let mlkem: MLKEM768Key
    private let x25519: X25519PrivateKey
    let publicKey: any EncapsulationKey

    var serialized: SecretBytes { seed }

    /// - Parameter seed: 32 bytes.
    /// - Throws: `CryptoError` with `unsupportedAlgorithm`.
    init(_ seed: SecretBytes) throws {
        let (mlkem, x25519) = try withTemporarySecret(count: 96) { expanded in
            try SHA3.shake256(seed.bytes, into: &expanded)
            return (
                try MLKEM768Key(seed: expanded.span.extracting(first: 64)),
                try X25519PrivateKey(expanded.span.extracting(droppingFirst: 64))
            )
        }
        self.seed = seed
        (self.mlkem, self.x25519) = (mlkem, x25519)
        publicKey = try XWingPublicKey(mlkem, x25519.point)
    }

    /// - Throws: `CryptoError` with `keyMismatch`: X-Wing has no Diffie-Hellman of two keys.
    func sharedSecret(with peer: any EncapsulationKey) throws -> SecretBytes {
        throw CryptoError(.keyMismatch, "an X-Wing key agrees on no secret with another key")
    }

    /// Decapsulate().
    ///
    /// - Parameter sharedSecret: 32 bytes.
    /// - Throws: `CryptoError` with `invalidPublicKey` for a ciphertext of another length, `degenerateSharedSecret`. ML-KEM
    ///   rejects implicitly: another ciphertext gives another secret.
    func decapsulate(_ ciphertext: Span<UInt8>, into sharedSecret: inout MutableSpan<UInt8>) throws {
        guard ciphertext.count == KeyPairType.xWing.encapsulatedByteCount else {
            throw CryptoError(.invalidPublicKey, "an X-Wing ciphertext has 1,120 bytes")
        }
        let x25519Ciphertext = ciphertext.extracting(droppingFirst: MLKEM768Key.ciphertextByteCount)
        try withTemporarySecrets(32, 32) { mlkemSecret, x25519Secret in
            try mlkem.decapsulate(ciphertext.extracting(first: MLKEM768Key.ciphertextByteCount), into: &mlkemSecret)
            try x25519.agree(withSerialized: x25519Ciphertext, into: &x25519Secret)
            try XWing.combine(
                mlkemSecret.span, x25519Secret.span, x25519Ciphertext: x25519Ciphertext, x25519.point,
                into: &sharedSecret)
        }
    }
}
