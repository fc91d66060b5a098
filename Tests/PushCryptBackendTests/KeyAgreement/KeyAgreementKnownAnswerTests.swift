import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct KeyAgreementKnownAnswerTests {
    @Test(
        "both sides of a published agreement compute the published secret", arguments: KeyAgreementKnownAnswer.all,
        Backends.all)
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
        for round in 1...1000 {
            let result = try named.backend.sharedSecret(.x25519, privateKey: scalar, publicKey: coordinate)
            (scalar, coordinate) = (result, scalar)
            if round == 1 {
                #expect(
                    scalar == [UInt8](hex: "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079"))
            }
        }
        #expect(scalar == [UInt8](hex: "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"))
    }

    @Test("X25519 returns the published values of RFC 7748 section 5.2", arguments: Backends.all)
    func x25519Function(_ named: NamedBackend) throws {
        let first = try named.backend.sharedSecret(
            .x25519,
            privateKey: .init(hex: "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"),
            publicKey: .init(hex: "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"))
        #expect(first == [UInt8](hex: "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"))
        let second = try named.backend.sharedSecret(
            .x25519,
            privateKey: .init(hex: "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d"),
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
