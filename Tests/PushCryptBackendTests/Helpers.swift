import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// The code of the `CryptoError` that `body` throws, nil if it succeeds. Rethrows other errors.
func cryptoErrorCode<Result>(_ body: () throws -> Result) throws -> CryptoError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as CryptoError {
        return error.code
    }
}

extension HMACSHA256 {
    func code(_ message: [UInt8] = []) -> [UInt8] {
        update(message.bytes)
        return SecretBytes(count: 32) { code in finalize(into: &code) }.revealed
    }
}

extension CryptoBackend {
    func sealed(
        _ algorithm: AEADAlgorithm, key: [UInt8], nonce: [UInt8], aad: [UInt8] = [], _ plaintext: [UInt8]
    ) throws -> [UInt8] {
        var output = [UInt8]()
        try seal(
            algorithm, key: key.bytes, nonce: nonce.bytes, aad: aad.bytes, plaintext: plaintext.bytes,
            appendingTo: &output)
        return output
    }

    func opened(
        _ algorithm: AEADAlgorithm, key: [UInt8], nonce: [UInt8], aad: [UInt8] = [], _ ciphertext: [UInt8]
    ) throws -> [UInt8] {
        try open(algorithm, key: key.bytes, nonce: nonce.bytes, aad: aad.bytes, ciphertext: ciphertext.bytes)
    }

    func hmac(_ key: [UInt8], _ message: [UInt8]) -> [UInt8] { hmacSHA256(key: key.bytes).code(message) }

    func sharedSecret(_ type: KeyPairType, privateKey: [UInt8], publicKey: [UInt8]) throws -> [UInt8] {
        let peer = try self.publicKey(type, publicKey.bytes)
        return try self.privateKey(type, privateKey.bytes).sharedSecret(with: peer).revealed
    }
}

extension VerificationKey {
    func accepts(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        try! isValid(signature.bytes, for: message.bytes)
    }
}

struct AEADMessage: Sendable {
    let algorithm: AEADAlgorithm
    var key, nonce, aad, plaintext: [UInt8]

    init(_ algorithm: AEADAlgorithm, key: [UInt8], nonce: [UInt8], aad: [UInt8], plaintext: [UInt8]) {
        self.algorithm = algorithm
        (self.key, self.nonce, self.aad, self.plaintext) = (key, nonce, aad, plaintext)
    }

    /// Draws the inputs from a seed.
    init(_ algorithm: AEADAlgorithm, seed: UInt64, plaintextByteCount: Int, aadByteCount: Int) {
        var generator = SplitMix64(seed: seed)
        self.init(
            algorithm, key: generator.bytes(algorithm.keyByteCount),
            nonce: generator.bytes(AEADAlgorithm.nonceByteCount), aad: generator.bytes(aadByteCount),
            plaintext: generator.bytes(plaintextByteCount))
    }

    func seal(with backend: any CryptoBackend) throws -> [UInt8] {
        try backend.sealed(algorithm, key: key, nonce: nonce, aad: aad, plaintext)
    }

    func open(_ sealed: [UInt8], with backend: any CryptoBackend) throws -> [UInt8] {
        try backend.opened(algorithm, key: key, nonce: nonce, aad: aad, sealed)
    }

    func openCode(_ sealed: [UInt8], with backend: any CryptoBackend) throws -> CryptoError.Code? {
        try cryptoErrorCode { try open(sealed, with: backend) }
    }
}
