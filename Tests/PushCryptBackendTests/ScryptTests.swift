import CPushCryptOpenSSL
import PushCryptOpenSSL
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct ScryptTests {
    private let backend = OpenSSLBackend()
    private let small: ScryptParameters

    init() throws { small = try ScryptParameters(n: 16, r: 1, p: 1) }

    /// The largest one needs 1 GiB of memory and 5 seconds: it runs in a long run.
    @Test(
        "scrypt of the inputs of RFC 7914 section 12 returns the published keys",
        arguments: ScryptKnownAnswer.rfc7914 + LongTests.value([.largest], short: []))
    func knownAnswers(_ answer: ScryptKnownAnswer) throws {
        let parameters = try ScryptParameters(n: answer.n, r: answer.r, p: answer.p)
        #expect(try key(answer.passphrase, answer.salt, parameters, count: 64) == answer.key)
    }

    @Test func `a shorter key is the beginning of a longer one, and impossible lengths are refused`() throws {
        let longest = try key("passphrase", "salt", small, count: 200)
        for count in [1, 16, 31, 32, 33, 64, 199] {
            #expect(try key("passphrase", "salt", small, count: count) == Array(longest.prefix(count)))
        }
        for count in [0, -1, Int.min, 1 << 31, Int.max] {
            #expect(try cryptoErrorCode { try key("passphrase", "salt", small, count: count) } == .invalidLength)
        }
        #expect(ERR_peek_error() == 0)
    }

    @Test func `passphrase, salt and each parameter change the key`() throws {
        var keys = Set<[UInt8]>()
        for (n, r, p) in [(16, 1, 1), (32, 1, 1), (16, 2, 1), (16, 1, 2)] {
            let parameters = try ScryptParameters(n: n, r: r, p: p)
            for (passphrase, salt) in [("", ""), ("", "a"), ("a", ""), ("a", "a"), ("a\0", ""), ("a\0", "a")] {
                keys.insert(try key(passphrase, salt, parameters, count: 32))
            }
        }
        // HMAC pads a short key with zeros (RFC 2104 section 2), so that "a" and "a\0" are one passphrase, and
        // an empty passphrase is an ordinary one.
        #expect(keys.count == 4 * 2 * 2)
    }

    private func key(
        _ passphrase: String, _ salt: String, _ parameters: ScryptParameters, count: Int
    ) throws -> [UInt8] {
        let (passphrase, salt) = (Array(passphrase.utf8), Array(salt.utf8))
        return try backend.scrypt(
            passphrase: passphrase.bytes, salt: salt.bytes, parameters: parameters, count: count
        ).revealed
    }
}

struct ScryptKnownAnswer: Sendable, CustomStringConvertible {
    let passphrase, salt: String
    let n, r, p: Int
    let key: [UInt8]

    private init(_ passphrase: String, _ salt: String, n: Int, r: Int, p: Int, key: String) {
        (self.passphrase, self.salt, self.n, self.r, self.p) = (passphrase, salt, n, r, p)
        self.key = [UInt8](hex: key)
    }

    var description: String { "N \(n), r \(r), p \(p)" }

    /// RFC 7914 section 12, without ``largest``.
    static let rfc7914 = [
        ScryptKnownAnswer(
            "", "", n: 16, r: 1, p: 1,
            key: """
                77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442
                fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906
                """),
        ScryptKnownAnswer(
            "password", "NaCl", n: 1_024, r: 8, p: 16,
            key: """
                fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162
                2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
                """),
        ScryptKnownAnswer(
            "pleaseletmein", "SodiumChloride", n: 16_384, r: 8, p: 1,
            key: """
                7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2
                d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887
                """),
    ]

    /// The last one of RFC 7914 section 12, at the limits of N and of memory: 1 GiB.
    static let largest = ScryptKnownAnswer(
        "pleaseletmein", "SodiumChloride", n: 1_048_576, r: 8, p: 1,
        key: """
            2101cb9b6a511aaeaddbbe09cf70f881ec568d574a2ffd4dabe5ee9820adaa47
            8e56fd8f4ba5d09ffa1c6d927c40f4c337304049e8a952fbcbf45c6fa77a41a4
            """)
}

@Suite struct ScryptParametersTests {
    typealias Numbers = (n: Int, r: Int, p: Int)

    @Test func `the standard parameters are N 2^17, r 8 and p 1, with 128 MiB`() throws {
        #expect(try ScryptParameters(n: 131_072, r: 8, p: 1) == .standard)
        #expect(ScryptParameters.standard.memoryInBytes == 128 << 20)
    }

    static let allowed: [Numbers] = [
        (2, 1, 1), (1 << 15, 1, 16), (1 << 16, 2, 1), (1 << 20, 8, 16), (1 << 18, 32, 16), (2, 32, 16),
    ]

    @Test("parameters at the limits are accepted", arguments: allowed) func atTheLimits(_ numbers: Numbers) throws {
        let parameters = try ScryptParameters(n: numbers.n, r: numbers.r, p: numbers.p)
        #expect((parameters.n, parameters.r, parameters.p) == numbers)
        #expect(parameters.memoryInBytes == 128 * numbers.n * numbers.r)
        #expect(parameters.memoryInBytes <= 1 << 30)
    }

    /// Not powers of two above 1, or too large.
    static let refusedN = [0, 1, -1, -16, 3, 16_383, 16_385, 1 << 21, 1 << 62, Int.min, Int.max]
    static let refusedR = [0, -1, 33, Int.min, Int.max]
    static let refusedP = [0, -1, 17, Int.min, Int.max]
    /// More than 1 GiB; or N is not less than 2^(16 * r).
    static let refusedTogether: [Numbers] = [
        (1 << 20, 9, 1), (1 << 19, 17, 1), (1 << 20, 32, 16), (1 << 16, 1, 1), (1 << 20, 1, 1),
    ]
    static let refused = refusedN.map { ($0, 8, 1) } + refusedR.map { (16, $0, 1) } + refusedP.map { (16, 8, $0) }

    @Test("parameters outside the limits are refused with invalidParameters", arguments: refused + refusedTogether)
    func outsideTheLimits(_ numbers: Numbers) throws {
        let code = try cryptoErrorCode { try ScryptParameters(n: numbers.n, r: numbers.r, p: numbers.p) }
        #expect(code == .invalidParameters)
    }
}
