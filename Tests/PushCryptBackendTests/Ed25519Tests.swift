import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct Ed25519Tests {
    @Test("the keys of RFC 8032 make the published signatures", arguments: Ed25519KnownAnswer.rfc8032, Backends.all)
    func knownAnswers(_ answer: Ed25519KnownAnswer, _ named: NamedBackend) throws {
        let key = try named.backend.signingKey(answer.seed.bytes)
        #expect(key.publicKey.serialized == answer.publicKey)
        #expect(try key.serialized.revealed == answer.seed)
        let signature = try key.signature(for: answer.message.bytes)
        #expect(key.publicKey.accepts(signature, for: answer.message))
        if named.signsDeterministically { #expect(signature == answer.signature) }
        let imported = try named.backend.verificationKey(answer.publicKey.bytes)
        #expect(imported.serialized == answer.publicKey)
        #expect(imported.accepts(answer.signature, for: answer.message))
    }

    @Test("a flipped bit of signature, message or key is refused", arguments: Ed25519KnownAnswer.rfc8032, Backends.all)
    func flippedBits(_ answer: Ed25519KnownAnswer, _ named: NamedBackend) throws {
        let key = try named.backend.verificationKey(answer.publicKey.bytes)
        func accepted(_ bytes: [UInt8], _ accepts: (Int) -> Bool) -> [Int] {
            (0..<bytes.bitCount).sampled(every: 5).filter(accepts)
        }
        let (signature, message) = (answer.signature, answer.message)
        #expect(accepted(signature) { key.accepts(signature.flipping(bit: $0), for: message) } == [])
        #expect(accepted(message) { key.accepts(signature, for: message.flipping(bit: $0)) } == [])
        let inKey = accepted(answer.publicKey) { bit in
            let other = try? named.backend.verificationKey(answer.publicKey.flipping(bit: bit).bytes)
            return other?.accepts(signature, for: message) == true
        }
        #expect(inKey == [])
        #expect(!key.accepts(signature, for: message + [0]))
    }

    @Test("S + L in the place of S is refused (RFC 8032, 5.1.7)", arguments: Ed25519KnownAnswer.rfc8032, Backends.all)
    func scalarNotBelowTheOrder(_ answer: Ed25519KnownAnswer, _ named: NamedBackend) throws {
        let order = [UInt8](hex: "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var varied = answer.signature
        var carry = 0
        for index in 0..<32 {
            carry += Int(varied[32 + index]) + Int(order[index])
            varied[32 + index] = UInt8(carry & 0xff)
            carry >>= 8
        }
        #expect(try !named.backend.verificationKey(answer.publicKey.bytes).accepts(varied, for: answer.message))
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
            let publicCode = try cryptoErrorCode { try named.backend.verificationKey(bytes) }
            #expect([seedCode, publicCode] == [.invalidPrivateKey, .invalidPublicKey], "\(count) bytes")
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
        let moved = try named.backend.signingKey(exported.bytes)
        #expect(moved.publicKey.serialized == first.publicKey.serialized)
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

/// RFC 8032 doesn't determine which points of small order and which unusual encodings a verifier accepts. Both backends
/// must agree, so that a signature is valid for all recipients or for none.
@Suite struct Ed25519EdgeCaseTests {
    /// The eight points of small order and their other encodings.
    static let smallOrder: [[UInt8]] = {
        let zeros = [UInt8](repeating: 0, count: 30)
        let ones = [UInt8](repeating: 0xff, count: 30)
        let points: [[UInt8]] = [
            [0] + zeros + [0], [1] + zeros + [0], [0xec] + ones + [0x7f], [0xed] + ones + [0x7f],
            [0xee] + ones + [0x7f],
            .init(hex: "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
            .init(hex: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
        ]
        return points + points.map { $0.prefix(31) + [$0[31] | 0x80] }
    }()

    @Test func `both backends give the same verdict for keys of small order`() throws {
        var verdicts = Set<Bool>()
        for point in Self.smallOrder {
            for commitment in Self.smallOrder {
                let signature = commitment + [UInt8](repeating: 0, count: 32)
                for number: UInt8 in 0..<8 { verdicts.insert(try agreedVerdict(point, signature, [number])) }
            }
        }
        #expect(verdicts == [true, false], "the cases must produce both verdicts")
    }

    @Test func `both backends refuse random signatures under random keys`() throws {
        var generator = SplitMix64(seed: 70)
        for _ in 0..<200 {
            let signature = generator.bytes(63) + [0]
            #expect(try !agreedVerdict(generator.bytes(32), signature, [1]))
        }
    }

    /// Returns the verdict that both backends must give. A refused key counts as an invalid signature.
    private func agreedVerdict(_ key: [UInt8], _ signature: [UInt8], _ message: [UInt8]) throws -> Bool {
        let verdicts = Backends.all.map { named in
            (try? named.backend.verificationKey(key.bytes))?.accepts(signature, for: message) ?? false
        }
        #expect(Set(verdicts).count == 1, "key \(key), signature \(signature)")
        return verdicts[0]
    }
}

struct Ed25519KnownAnswer: Sendable, CustomStringConvertible {
    let description: String
    let seed, publicKey, message, signature: [UInt8]

    private init(_ name: String, seed: String, publicKey: String, message: String, signature: String) {
        description = "RFC 8032 TEST \(name)"
        (self.seed, self.publicKey) = ([UInt8](hex: seed), [UInt8](hex: publicKey))
        (self.message, self.signature) = ([UInt8](hex: message), [UInt8](hex: signature))
    }

    /// RFC 8032 section 7.1, without TEST 1024.
    static let rfc8032 = [
        Ed25519KnownAnswer(
            "1", seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
            signature: """
                e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
                5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
                """),
        Ed25519KnownAnswer(
            "2", seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
            signature: """
                92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
                085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
                """),
        Ed25519KnownAnswer(
            "3", seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
            signature: """
                6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
                18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
                """),
        Ed25519KnownAnswer(
            "SHA(abc)", seed: "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
            publicKey: "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
            message: """
                ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a
                2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f
                """,
            signature: """
                dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589
                09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704
                """),
    ]
}
