import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct HMACTests {
    @Test("the inputs of RFC 4231 have the published codes", arguments: HMACKnownAnswer.rfc4231, Backends.all)
    func knownAnswers(_ answer: HMACKnownAnswer, _ named: NamedBackend) {
        let code = named.backend.hmac(answer.key, answer.message)
        #expect(Array(code.prefix(answer.code.count)) == answer.code)
    }

    @Test("one object computes the codes of many messages under one key", arguments: Backends.all)
    func reuse(_ named: NamedBackend) {
        for answer in HMACKnownAnswer.rfc4231 {
            let hmac = named.backend.hmacSHA256(key: answer.key.bytes)
            let first = hmac.code(answer.message)
            let empty = hmac.code()
            #expect(hmac.code(Array("something else".utf8)) != first)
            #expect(hmac.code(answer.message) == first)
            #expect(hmac.code() == empty)
            #expect(named.backend.hmac(answer.key, []) == empty)
        }
    }

    @Test("a message in pieces has the code of the whole message", arguments: Backends.all)
    func oddPieces(_ named: NamedBackend) {
        var generator = SplitMix64(seed: 21)
        let hmac = named.backend.hmacSHA256(key: generator.bytes(32).bytes)
        for _ in 0..<50 {
            let message = generator.bytes(Int.random(in: 0...500, using: &generator))
            let expected = hmac.code(message)
            var rest = message[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(Int.random(in: 0...70, using: &generator)))
                rest = rest.dropFirst(piece.count)
                hmac.update(piece.bytes)
            }
            #expect(hmac.code() == expected)
        }
    }

    @Test("keys of all lengths around the block size follow RFC 2104", arguments: Backends.all)
    func keyLengths(_ named: NamedBackend) throws {
        let message = Array("message".utf8)
        let backend = named.backend
        for byteCount in [0, 1, 31, 32, 63] {
            let key = [UInt8](repeating: 9, count: byteCount)
            let padded = key + [UInt8](repeating: 0, count: 64 - byteCount)
            #expect(backend.hmac(key, message) == backend.hmac(padded, message))
        }
        let block = [UInt8](repeating: 9, count: 64)
        let blockDigest = try backend.sha256(block.bytes)
        #expect(backend.hmac(block, message) != backend.hmac(blockDigest, message))
        for byteCount in [65, 128, 1000] {
            let key = [UInt8](repeating: 9, count: byteCount)
            let digest = try backend.sha256(key.bytes)
            #expect(backend.hmac(key, message) == backend.hmac(digest, message))
        }
    }

    @Test("finalize writes the first 32 bytes of a longer buffer and no others", arguments: Backends.all)
    func writesThirtyTwoBytes(_ named: NamedBackend) {
        let hmac = named.backend.hmacSHA256(key: [UInt8](repeating: 1, count: 32).bytes)
        let expected = hmac.code()
        let buffer = SecretBytes(count: 40) { bytes in hmac.finalize(into: &bytes) }.revealed
        #expect(buffer == expected + [UInt8](repeating: 0, count: 8))
    }
}
