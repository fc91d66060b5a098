import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct CrossBackendTests {
    @Test("one backend opens what the other has sealed", arguments: Backends.pairs, AEADAlgorithm.allCases)
    func aead(_ pair: BackendPair, _ algorithm: AEADAlgorithm) throws {
        for seed in 0..<100 {
            let message = AEADMessage(
                algorithm, seed: UInt64(seed), plaintextByteCount: seed * 7, aadByteCount: seed % 40)
            let sealed = try message.seal(with: pair.first)
            #expect(try message.seal(with: pair.second) == sealed)
            #expect(try message.open(sealed, with: pair.second) == message.plaintext)
            #expect(try message.openCode(sealed.flipping(bit: seed), with: pair.second) == .authenticationFailure)
        }
    }

    @Test("generated keys of two backends agree and can be exported", arguments: Backends.pairs, KeyPairType.groups)
    func generatedKeys(_ pair: BackendPair, _ type: KeyPairType) throws {
        for _ in 0..<20 {
            let first = try pair.first.generateKeyPair(type)
            let second = try pair.second.generateKeyPair(type)
            let secondForFirst = try pair.first.publicKey(type, second.publicKey.serialized.bytes)
            let firstForSecond = try pair.second.publicKey(type, first.publicKey.serialized.bytes)
            #expect(first.publicKey.serialized.count == type.publicKeyByteCount)
            let shared = try first.sharedSecret(with: secondForFirst)
            #expect(shared.count == KeyPairType.sharedSecretByteCount)
            #expect(try second.sharedSecret(with: firstForSecond) == shared)
            let exported = try first.serialized
            #expect(exported.count == KeyPairType.privateKeyByteCount)
            let moved = try pair.second.privateKey(type, exported.bytes)
            #expect(moved.publicKey.serialized == first.publicKey.serialized)
            #expect(try moved.sharedSecret(with: second.publicKey) == shared)
        }
    }

    @Test("imported keys of two backends agree on the same secret", arguments: Backends.pairs, KeyPairType.groups)
    func importedKeys(_ pair: BackendPair, _ type: KeyPairType) throws {
        var generator = SplitMix64(seed: 40)
        for _ in 0..<50 {
            // Below the order of P-256, which begins with ff.
            let ours = [0x7f] + generator.bytes(31)
            let theirs = [0x7e] + generator.bytes(31)
            let publicKeys = try [pair.first, pair.second].map { backend in
                try backend.privateKey(type, theirs.bytes).publicKey.serialized
            }
            #expect(publicKeys[0] == publicKeys[1])
            let first = try pair.first.sharedSecret(type, privateKey: ours, publicKey: publicKeys[1])
            #expect(try pair.second.sharedSecret(type, privateKey: ours, publicKey: publicKeys[0]) == first)
        }
    }

    @Test("one backend verifies what the other has signed", arguments: Backends.pairs)
    func signatures(_ pair: BackendPair) throws {
        var generator = SplitMix64(seed: 41)
        for byteCount in 0..<60 {
            let message = generator.bytes(byteCount * 17)
            let key = try pair.first.signingKey(generator.bytes(32).bytes)
            let signature = try key.signature(for: message.bytes)
            let verifier = try pair.second.verificationKey(key.publicKey.serialized.bytes)
            #expect(verifier.accepts(signature, for: message))
            #expect(!verifier.accepts(signature.flipping(bit: byteCount), for: message))
            let exported = try key.serialized
            let moved = try pair.second.signingKey(exported.bytes)
            #expect(moved.publicKey.serialized == key.publicKey.serialized)
        }
    }

    @Test("both backends compute the same SHA-256, HMAC and HKDF-Extract", arguments: Backends.pairs)
    func hashes(_ pair: BackendPair) throws {
        var generator = SplitMix64(seed: 42)
        for byteCount in 0..<150 {
            let key = generator.bytes(byteCount)
            let message = generator.bytes(byteCount * 3)
            #expect(pair.first.hmac(key, message) == pair.second.hmac(key, message))
            #expect(try pair.first.sha256(message.bytes) == pair.second.sha256(message.bytes))
            let first = HKDF.extract(salt: key.bytes, ikm: message.bytes, backend: pair.first)
            #expect(HKDF.extract(salt: key.bytes, ikm: message.bytes, backend: pair.second) == first)
        }
    }
}
