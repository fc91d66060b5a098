import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct KeyAgreementKnownAnswerTests {
    @Test("both sides of an agreement compute its known secret", arguments: KeyAgreementKnownAnswer.all, Backends.all)
    func bothSides(_ answer: KeyAgreementKnownAnswer, _ named: NamedBackend) throws {
        let first = try named.backend.privateKey(answer.type, answer.firstPrivate.bytes)
        let second = try named.backend.privateKey(answer.type, answer.secondPrivate.bytes)
        #expect(first.publicKey.serialized == answer.firstPublic)
        #expect(second.publicKey.serialized == answer.secondPublic)
        #expect(first.publicKey.type == answer.type)
        #expect(try first.sharedSecret(with: second.publicKey).revealed == answer.shared)
        let firstPublic = try named.backend.publicKey(answer.type, answer.firstPublic.bytes)
        #expect(try second.sharedSecret(with: firstPublic).revealed == answer.shared)
    }

    @Test("1,000 iterations of X25519 return the value of RFC 7748 section 5.2", arguments: Backends.all)
    func x25519Iterated(_ named: NamedBackend) throws {
        var scalar = [9] + [UInt8](repeating: 0, count: 31)
        var coordinate = scalar
        var results = [[UInt8]]()
        for _ in 1...1000 {
            results.append(try named.backend.sharedSecret(.x25519, privateKey: scalar, publicKey: coordinate))
            (scalar, coordinate) = (results[results.count - 1], scalar)
        }
        #expect(results[0] == [UInt8](hex: "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"))
        #expect(results[999] == [UInt8](hex: "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"))
    }

    @Test("X25519 returns the published values of RFC 7748 section 5.2", arguments: Backends.all)
    func x25519Function(_ named: NamedBackend) throws {
        let first = try named.backend.sharedSecret(
            .x25519, privateKey: .init(hex: "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
            publicKey: .init(hex: "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"))
        #expect(first == [UInt8](hex: "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"))
        let second = try named.backend.sharedSecret(
            .x25519, privateKey: .init(hex: "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d"),
            publicKey: .init(hex: "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493"))
        #expect(second == [UInt8](hex: "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"))
    }
}

struct KeyAgreementKnownAnswer: Sendable, CustomStringConvertible {
    let description: String
    let type: KeyPairType
    let firstPrivate, firstPublic, secondPrivate, secondPublic, shared: [UInt8]

    static let all = [
        KeyAgreementKnownAnswer(
            description: "RFC 7748 section 6.1", type: .x25519,
            firstPrivate: .init(hex: "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"),
            firstPublic: .init(hex: "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"),
            secondPrivate: .init(hex: "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"),
            secondPublic: .init(hex: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"),
            shared: .init(hex: "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")),
        KeyAgreementKnownAnswer(
            description: "RFC 5903 section 8.1", type: .p256,
            firstPrivate: .init(hex: "c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433"),
            firstPublic: .init(
                hex: """
                    04 dad0b65394221cf9b051e1feca5787d098dfe637fc90b9ef945d0c3772581180
                    5271a0461cdb8252d61f1c456fa3e59ab1f45b33accf5f58389e0577b8990bb3
                    """),
            secondPrivate: .init(hex: "c6ef9c5d78ae012a011164acb397ce2088685d8f06bf9be0b283ab46476bee53"),
            secondPublic: .init(
                hex: """
                    04 d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63
                    56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab
                    """),
            shared: .init(hex: "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de")),
    ]
}

@Suite struct KeyMismatchTests {
    @Test("a key of the other backend or group throws keyMismatch", arguments: Backends.pairs, KeyPairType.groups)
    func otherBackendOrGroup(_ pair: BackendPair, _ type: KeyPairType) throws {
        let ours = try pair.first.generateKeyPair(type)
        for otherType in KeyPairType.groups {
            let theirs = try pair.second.generateKeyPair(otherType)
            let code = try cryptoErrorCode { try ours.sharedSecret(with: theirs.publicKey) }
            #expect(code == (pair.first.name == pair.second.name && type == otherType ? nil : .keyMismatch))
        }
    }
}

@Suite struct X25519KeyTests {
    private static let scalar = [UInt8](hex: "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    private static let peer = [UInt8](hex: "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")

    @Test("the top bit of a public key stays in it and doesn't change the secret", arguments: Backends.all)
    func topBitIsMasked(_ named: NamedBackend) throws {
        var withTopBit = Self.peer
        withTopBit[31] |= 0x80
        let key = try named.backend.publicKey(.x25519, withTopBit.bytes)
        #expect(key.serialized == withTopBit)
        let ours = try named.backend.privateKey(.x25519, Self.scalar.bytes)
        let plain = try named.backend.publicKey(.x25519, Self.peer.bytes)
        #expect(try ours.sharedSecret(with: key) == ours.sharedSecret(with: plain))
    }

    @Test("a public key at or above p is accepted, as RFC 7748 requires", arguments: Backends.all)
    func nonCanonicalPublicKey(_ named: NamedBackend) throws {
        let shifted = [0xf6] + [UInt8](repeating: 0xff, count: 30) + [0x7f]
        let key = try named.backend.publicKey(.x25519, shifted.bytes)
        let ours = try named.backend.privateKey(.x25519, Self.scalar.bytes)
        #expect(try ours.sharedSecret(with: key).revealed == ours.publicKey.serialized)
    }

    /// All u-coordinates of order 1, 2, 4 and 8 on the curve and its twist (https://cr.yp.to/ecdh.html). With every
    /// private key the result is zero.
    static let pointsOfSmallOrder: [[UInt8]] = {
        let ones = [UInt8](repeating: 0xff, count: 30)
        return [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
            [UInt8](hex: "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"),
            [UInt8](hex: "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"),
            [0xec] + ones + [0x7f], [0xed] + ones + [0x7f], [0xee] + ones + [0x7f],
        ]
    }()

    @Test("a public key of small order throws degenerateSharedSecret, also with masked bit", arguments: Backends.all)
    func smallOrder(_ named: NamedBackend) throws {
        let ours = try named.backend.privateKey(.x25519, Self.scalar.bytes)
        for point in Self.pointsOfSmallOrder {
            for topBit: UInt8 in [0, 0x80] {
                var bytes = point
                bytes[31] |= topBit
                let key = try named.backend.publicKey(.x25519, bytes.bytes)
                #expect(try cryptoErrorCode { try ours.sharedSecret(with: key) } == .degenerateSharedSecret)
            }
        }
    }

    @Test("bits that are clamped don't change the secret and stay in the serialised key", arguments: Backends.all)
    func clamping(_ named: NamedBackend) throws {
        var clamped = Self.scalar
        clamped[0] &= 0xf8
        clamped[31] = clamped[31] & 0x7f | 0x40
        let publicKey = try named.backend.privateKey(.x25519, clamped.bytes).publicKey.serialized
        for bit in [0, 1, 2, 254, 255] {
            let other = clamped.flipping(bit: bit)
            let key = try named.backend.privateKey(.x25519, other.bytes)
            #expect(key.publicKey.serialized == publicKey)
            #expect(try key.serialized.revealed == other)
        }
        for bit in [3, 100, 253] {
            let key = try named.backend.privateKey(.x25519, clamped.flipping(bit: bit).bytes)
            #expect(key.publicKey.serialized != publicKey)
        }
    }

    @Test("private keys of 32 bytes 0x00 and of 32 bytes 0xff are accepted and agree", arguments: Backends.all)
    func extremePrivateKeys(_ named: NamedBackend) throws {
        for byte: UInt8 in [0, 0xff] {
            let bytes = [UInt8](repeating: byte, count: 32)
            let key = try named.backend.privateKey(.x25519, bytes.bytes)
            let other = try named.backend.generateKeyPair(.x25519)
            #expect(try key.sharedSecret(with: other.publicKey) == other.sharedSecret(with: key.publicKey))
        }
    }
}

/// An export is a copy: wiping it must not wipe the library's key.
@Suite struct ExportTests {
    @Test("a key that was exported still agrees on the same secret", arguments: KeyPairType.groups, Backends.all)
    func keyAgreementKeyWorksAfterwards(_ type: KeyPairType, _ named: NamedBackend) throws {
        let seed = [0x7f] + [UInt8](repeating: 5, count: 31)
        for key in [try named.backend.generateKeyPair(type), try named.backend.privateKey(type, seed.bytes)] {
            let peer = try named.backend.generateKeyPair(type)
            let shared = try key.sharedSecret(with: peer.publicKey)
            let publicKey = key.publicKey.serialized
            #expect(try key.serialized.revealed == key.serialized.revealed)
            #expect(key.publicKey.serialized == publicKey)
            #expect(try key.sharedSecret(with: peer.publicKey) == shared)
        }
    }

    @Test("a signing key that was exported still signs", arguments: Backends.all)
    func signingKeyWorksAfterwards(_ named: NamedBackend) throws {
        let seed = [UInt8](repeating: 5, count: 32)
        let message = Array("message".utf8)
        for key in [try named.backend.generateSigningKey(), try named.backend.signingKey(seed.bytes)] {
            #expect(try key.serialized.revealed == key.serialized.revealed)
            #expect(try key.publicKey.accepts(key.signature(for: message.bytes), for: message))
        }
    }
}
