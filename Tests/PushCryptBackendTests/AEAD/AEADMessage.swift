import PushCryptPrimitives
import PushCryptTestSupport

/// The inputs of a seal, drawn from a seed.
struct AEADMessage {
    let algorithm: AEADAlgorithm
    var key, nonce, aad, plaintext: [UInt8]

    init(_ algorithm: AEADAlgorithm, seed: UInt64, plaintextByteCount: Int, aadByteCount: Int) {
        var generator = SplitMix64(seed: seed)
        self.algorithm = algorithm
        key = generator.bytes(algorithm.keyByteCount)
        nonce = generator.bytes(AEADAlgorithm.nonceByteCount)
        aad = generator.bytes(aadByteCount)
        plaintext = generator.bytes(plaintextByteCount)
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
