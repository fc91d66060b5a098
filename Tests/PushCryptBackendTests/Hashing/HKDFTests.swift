import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct HKDFTests {
    /// RFC 5869 appendix A.1 to A.3.
    @Test(arguments: HKDFKnownAnswer.rfc5869, Backends.all)
    func knownAnswers(_ answer: HKDFKnownAnswer, _ named: NamedBackend) throws {
        let prk = HKDF.extract(salt: answer.salt.bytes, ikm: answer.ikm.bytes, backend: named.backend)
        #expect(prk.revealed == answer.prk)
        let hmac = named.backend.hmacSHA256(key: prk.bytes)
        let okm = try HKDF.expand(hmac, info: answer.info.bytes, count: answer.okm.count)
        #expect(okm.revealed == answer.okm)
    }

    @Test(arguments: Backends.all)
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
