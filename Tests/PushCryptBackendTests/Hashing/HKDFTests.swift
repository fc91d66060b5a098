import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct HKDFTests {
    @Test(
        "the inputs of RFC 5869 appendix A.1 to A.3 derive the published bytes", arguments: HKDFKnownAnswer.rfc5869,
        Backends.all)
    func knownAnswers(_ answer: HKDFKnownAnswer, _ named: NamedBackend) throws {
        let prk = HKDF.extract(salt: answer.salt.bytes, ikm: answer.ikm.bytes, backend: named.backend)
        #expect(prk.revealed == answer.prk)
        let hmac = named.backend.hmacSHA256(key: prk.bytes)
        let okm = try HKDF.expand(hmac, info: answer.info.bytes, count: answer.okm.count)
        #expect(okm.revealed == answer.okm)
    }

    @Test("Expand returns 0 to 8,160 bytes and refuses other lengths", arguments: Backends.all)
    func lengths(_ named: NamedBackend) throws {
        let hmac = named.backend.hmacSHA256(key: [UInt8](repeating: 3, count: 32).bytes)
        let info = Array("info".utf8)
        let longest = try HKDF.expand(hmac, info: info.bytes, count: 8160).revealed
        #expect(longest.count == 8160)
        for count in [0, 1, 31, 32, 33, 64, 65, 8159] {
            let output = try HKDF.expand(hmac, info: info.bytes, count: count).revealed
            #expect(output == Array(longest.prefix(count)))
        }
        for count in [-1, 8161, Int.max, Int.min] {
            let code = try cryptoErrorCode { try HKDF.expand(hmac, info: info.bytes, count: count) }
            #expect(code == .invalidLength)
        }
    }
}

struct HKDFKnownAnswer: Sendable, CustomStringConvertible {
    let description: String
    let ikm, salt, info, prk, okm: [UInt8]

    static let rfc5869 = [
        HKDFKnownAnswer(
            description: "A.1", ikm: Array(repeating: 0x0b, count: 22), salt: Array(0x00...0x0c),
            info: Array(0xf0...0xf9),
            prk: .init(hex: "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"),
            okm: .init(
                hex: """
                    3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf
                    34007208d5b887185865
                    """)),
        HKDFKnownAnswer(
            description: "A.2", ikm: Array(0x00...0x4f), salt: Array(0x60...0xaf), info: Array(0xb0...0xff),
            prk: .init(hex: "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244"),
            okm: .init(
                hex: """
                    b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c
                    59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71
                    cc30c58179ec3e87c14c01d5c1f3434f1d87
                    """)),
        HKDFKnownAnswer(
            description: "A.3", ikm: Array(repeating: 0x0b, count: 22), salt: [], info: [],
            prk: .init(hex: "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04"),
            okm: .init(
                hex: """
                    8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d
                    9d201395faa4b61a96c8
                    """)),
    ]
}
