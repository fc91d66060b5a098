import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct Ed25519Tests {
    @Test(
        "the keys and messages of RFC 8032 have the published signatures", arguments: Ed25519KnownAnswer.rfc8032,
        Backends.all)
    func knownAnswers(_ answer: Ed25519KnownAnswer, _ named: NamedBackend) throws {
        let key = try named.backend.signingKey(answer.seed.bytes)
        #expect(key.publicKey.serialized == answer.publicKey)
        #expect(try key.serialized.revealed == answer.seed)
        let signature = try key.signature(for: answer.message.bytes)
        #expect(key.publicKey.accepts(signature, for: answer.message))
        if named.signsDeterministically {
            #expect(signature == answer.signature)
        }
        let imported = try named.backend.verificationKey(answer.publicKey.bytes)
        #expect(imported.serialized == answer.publicKey)
        #expect(imported.accepts(answer.signature, for: answer.message))
    }

    @Test(
        "a flip of a bit of signature, message or key makes the signature invalid",
        arguments: Ed25519KnownAnswer.rfc8032, Backends.all)
    func flippedBits(_ answer: Ed25519KnownAnswer, _ named: NamedBackend) throws {
        let key = try named.backend.verificationKey(answer.publicKey.bytes)
        let inSignature = (0..<answer.signature.bitCount).sampled(every: 5).filter { bit in
            key.accepts(answer.signature.flipping(bit: bit), for: answer.message)
        }
        #expect(inSignature == [])
        let inMessage = (0..<answer.message.bitCount).sampled(every: 5).filter { bit in
            key.accepts(answer.signature, for: answer.message.flipping(bit: bit))
        }
        #expect(inMessage == [])
        let inKey = (0..<answer.publicKey.bitCount).sampled(every: 5).filter { bit in
            let other = try? named.backend.verificationKey(answer.publicKey.flipping(bit: bit).bytes)
            return other?.accepts(answer.signature, for: answer.message) == true
        }
        #expect(inKey == [])
        #expect(!key.accepts(answer.signature, for: (answer.message + [0])))
    }

    @Test(
        "a signature with S + L in the place of S is refused (RFC 8032 section 5.1.7)",
        arguments: Ed25519KnownAnswer.rfc8032, Backends.all)
    func scalarNotBelowTheOrder(_ answer: Ed25519KnownAnswer, _ named: NamedBackend) throws {
        let order = [UInt8](hex: "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var varied = answer.signature
        var carry = 0
        for index in 0..<32 {
            carry += Int(varied[32 + index]) + Int(order[index])
            varied[32 + index] = UInt8(carry & 0xff)
            carry >>= 8
        }
        let key = try named.backend.verificationKey(answer.publicKey.bytes)
        #expect(!key.accepts(varied, for: answer.message))
    }

    @Test("signatures and keys of another length are refused", arguments: Backends.all)
    func wrongLengths(_ named: NamedBackend) throws {
        let answer = Ed25519KnownAnswer.rfc8032[0]
        let key = try named.backend.verificationKey(answer.publicKey.bytes)
        let long = answer.signature + answer.signature
        for count in 0...128 where count != 64 {
            #expect(!key.accepts(Array(long.prefix(count)), for: answer.message), "\(count) bytes")
        }
        for count in 0...65 where count != 32 {
            let bytes = long.bytes.extracting(first: count)
            let seedCode = try cryptoErrorCode { try named.backend.signingKey(bytes) }
            #expect(seedCode == .invalidPrivateKey, "\(count) bytes")
            let publicCode = try cryptoErrorCode { try named.backend.verificationKey(bytes) }
            #expect(publicCode == .invalidPublicKey, "\(count) bytes")
        }
    }

    @Test("generated keys sign, verify and import as the same keys", arguments: Backends.all)
    func generatedKeys(_ named: NamedBackend) throws {
        let first = try named.backend.generateSigningKey()
        let second = try named.backend.generateSigningKey()
        var generator = SplitMix64(seed: 30)
        for byteCount in [0, 1, 63, 64, 65, 1023, 10_000] {
            let message = generator.bytes(byteCount)
            let signature = try first.signature(for: message.bytes)
            #expect(signature.count == 64)
            #expect(first.publicKey.accepts(signature, for: message))
            #expect(!second.publicKey.accepts(signature, for: message))
        }
        let exported = try first.serialized
        let imported = try named.backend.signingKey(exported.bytes)
        #expect(imported.publicKey.serialized == first.publicKey.serialized)
    }
}

extension NamedBackend {
    /// Apple's CryptoKit adds randomness to a signature; RFC 8032, OpenSSL and swift-crypto don't.
    var signsDeterministically: Bool {
        #if canImport(CryptoKit)
        backend.name != "CryptoKit"
        #else
        true
        #endif
    }
}
