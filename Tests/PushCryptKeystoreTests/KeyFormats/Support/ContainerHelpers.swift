import CPushCryptOpenSSL
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

extension ContainedKey {
    /// A private key that is the same in every run.
    static func sample(_ algorithm: Algorithm, seed: UInt64 = 1) throws -> ContainedKey {
        let bytes = sampleBytes(seed: seed)
        return try ContainedKey(algorithm, privateKey: SecretBytes(copying: bytes.bytes))
    }

    /// 32 bytes that are below the order of P-256.
    static func sampleBytes(seed: UInt64 = 1) -> [UInt8] {
        var generator = SplitMix64(seed: seed)
        return [0x7f] + generator.bytes(31)
    }

    /// The key without its private half.
    var publicHalf: ContainedKey {
        get throws { try ContainedKey(algorithm, publicKey: publicKey) }
    }

    func written(as form: KeyContainer.Form, _ encoding: KeyContainer.Encoding) throws -> [UInt8] {
        ERR_clear_error()
        defer { #expect(ERR_peek_error() == 0) }
        return try KeyContainer.write(self, as: form, encoding: encoding).revealed
    }

    /// Whether the algorithm and both halves are the same.
    func isSame(as other: ContainedKey) -> Bool {
        algorithm == other.algorithm && publicKey == other.publicKey && privateKey == other.privateKey
    }
}

extension KeyContainer {
    static func read(_ bytes: [UInt8], passphrase: String? = nil) throws -> ContainedKey {
        try read(bytes.bytes, passphrase: passphrase.map(SecretBytes.init(text:)))
    }

    static func read(_ text: String, passphrase: String? = nil) throws -> ContainedKey {
        try read(Array(text.utf8), passphrase: passphrase)
    }

    /// The code with which a container is refused; nil if it is read. Throws other errors, because no input may cause a
    /// `CryptoError`.
    static func refusal(_ bytes: [UInt8], passphrase: String? = nil) throws -> KeyContainerError.Code? {
        ERR_clear_error()
        defer { #expect(ERR_peek_error() == 0) }
        do {
            _ = try read(bytes, passphrase: passphrase)
            return nil
        } catch let error as KeyContainerError {
            return error.code
        }
    }

    static func refusal(_ text: String, passphrase: String? = nil) throws -> KeyContainerError.Code? {
        try refusal(Array(text.utf8), passphrase: passphrase)
    }
}

extension SecretBytes {
    convenience init(text: String) {
        self.init(copying: Array(text.utf8).bytes)
    }
}
