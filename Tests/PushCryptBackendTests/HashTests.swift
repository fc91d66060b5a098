import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct SHA256Tests {
    @Test(
        "the empty message and those of FIPS 180-2 appendix B have the published digests, also byte by byte",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            (
                String(repeating: "a", count: 1_000_000),
                "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
            ),
        ] as [(message: String, digest: String)], Backends.all)
    func knownAnswers(_ example: (message: String, digest: String), _ named: NamedBackend) throws {
        let message = Array(example.message.utf8)
        #expect(try named.backend.sha256(message.bytes) == [UInt8](hex: example.digest))
        guard message.count < 100 else { return }
        let digest = named.backend.sha256()
        for byte in message { digest.update([byte].bytes) }
        #expect(digest.finalize() == [UInt8](hex: example.digest))
    }

    @Test("a message in random pieces has the digest of the whole message", arguments: Backends.pairs)
    func anySplitEqualsOneShot(_ pair: BackendPair) throws {
        var generator = SplitMix64(seed: 22)
        let digest = pair.first.sha256()
        for byteCount in Array(0...200) + [1_000, 65_535, 65_536, 200_001] {
            let message = generator.bytes(byteCount)
            var rest = message[...]
            while !rest.isEmpty {
                let limit = max(byteCount / 3, 70)
                let piece = Array(rest.prefix(Int.random(in: 0...limit, using: &generator)))
                rest = rest.dropFirst(piece.count)
                digest.update(piece.bytes)
            }
            #expect(try digest.finalize() == pair.second.sha256(message.bytes), "\(byteCount) bytes")
        }
    }

    @Test("one object computes the digests of many messages, and two objects share no state", arguments: Backends.all)
    func reuse(_ named: NamedBackend) throws {
        let message = Array("message".utf8)
        let expected = try named.backend.sha256(message.bytes)
        let (first, second) = (named.backend.sha256(), named.backend.sha256())
        second.update([1].bytes)
        for _ in 0..<3 {
            first.update(message.bytes)
            #expect(first.finalize() == expected)
        }
        #expect(try first.finalize() == named.backend.sha256([UInt8]().bytes))
        #expect(try second.finalize() == named.backend.sha256([1].bytes))
    }
}

@Suite struct HMACTests {
    @Test("the inputs of RFC 4231 have the published codes", arguments: HMACKnownAnswer.rfc4231, Backends.all)
    func knownAnswers(_ answer: HMACKnownAnswer, _ named: NamedBackend) {
        #expect(Array(named.backend.hmac(answer.key, answer.message).prefix(answer.code.count)) == answer.code)
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
        #expect(try backend.hmac(block, message) != backend.hmac(backend.sha256(block.bytes), message))
        for byteCount in [65, 128, 1000] {
            let key = [UInt8](repeating: 9, count: byteCount)
            #expect(try backend.hmac(key, message) == backend.hmac(backend.sha256(key.bytes), message))
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

struct HMACKnownAnswer: Sendable, CustomStringConvertible {
    let description: String
    let key, message, code: [UInt8]

    init(_ number: Int, key: [UInt8], message: [UInt8], code: String) {
        description = "RFC 4231 test case \(number)"
        (self.key, self.message, self.code) = (key, message, [UInt8](hex: code))
    }

    /// RFC 4231 section 4; case 5 is cut to 16 bytes.
    static let rfc4231 = [
        HMACKnownAnswer(
            1, key: Array(repeating: 0x0b, count: 20), message: Array("Hi There".utf8),
            code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        HMACKnownAnswer(
            2, key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8),
            code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
        HMACKnownAnswer(
            3, key: Array(repeating: 0xaa, count: 20), message: Array(repeating: 0xdd, count: 50),
            code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        HMACKnownAnswer(
            4, key: Array(1...25), message: Array(repeating: 0xcd, count: 50),
            code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
        HMACKnownAnswer(
            5, key: Array(repeating: 0x0c, count: 20), message: Array("Test With Truncation".utf8),
            code: "a3b6167473100ee06e0c796c2955552b"),
        HMACKnownAnswer(
            6, key: Array(repeating: 0xaa, count: 131),
            message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
        HMACKnownAnswer(
            7, key: Array(repeating: 0xaa, count: 131),
            message: Array(
                """
                This is a test using a larger than block-size key and a larger than block-size data. \
                The key needs to be hashed before being used by the HMAC algorithm.
                """.utf8),
            code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
    ]
}

@Suite struct HKDFTests {
    @Test("the inputs of RFC 5869 appendix A derive its bytes", arguments: HKDFKnownAnswer.rfc5869, Backends.all)
    func knownAnswers(_ answer: HKDFKnownAnswer, _ named: NamedBackend) throws {
        let prk = HKDF.extract(salt: answer.salt.bytes, ikm: answer.ikm.bytes, backend: named.backend)
        #expect(prk.revealed == answer.prk)
        let hmac = named.backend.hmacSHA256(key: prk.bytes)
        #expect(try HKDF.expand(hmac, info: answer.info.bytes, count: answer.okm.count).revealed == answer.okm)
    }

    @Test("Expand returns 0 to 8,160 bytes and refuses other lengths", arguments: Backends.all)
    func lengths(_ named: NamedBackend) throws {
        let hmac = named.backend.hmacSHA256(key: [UInt8](repeating: 3, count: 32).bytes)
        let info = Array("info".utf8)
        let longest = try HKDF.expand(hmac, info: info.bytes, count: 8160).revealed
        #expect(longest.count == 8160)
        for count in [0, 1, 31, 32, 33, 64, 65, 8159] {
            #expect(try HKDF.expand(hmac, info: info.bytes, count: count).revealed == Array(longest.prefix(count)))
        }
        for count in [-1, 8161, Int.max, Int.min] {
            #expect(try cryptoErrorCode { try HKDF.expand(hmac, info: info.bytes, count: count) } == .invalidLength)
        }
    }
}

struct HKDFKnownAnswer: Sendable, CustomStringConvertible {
    let description: String
    let ikm, salt, info, prk, okm: [UInt8]

    private init(_ section: String, ikm: [UInt8], salt: [UInt8], info: [UInt8], prk: String, okm: String) {
        (description, self.ikm, self.salt, self.info) = (section, ikm, salt, info)
        (self.prk, self.okm) = ([UInt8](hex: prk), [UInt8](hex: okm))
    }

    static let rfc5869 = [
        HKDFKnownAnswer(
            "A.1", ikm: Array(repeating: 0x0b, count: 22), salt: Array(0x00...0x0c), info: Array(0xf0...0xf9),
            prk: "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
            okm: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
        HKDFKnownAnswer(
            "A.2", ikm: Array(0x00...0x4f), salt: Array(0x60...0xaf), info: Array(0xb0...0xff),
            prk: "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
            okm: """
                b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c
                59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71
                cc30c58179ec3e87c14c01d5c1f3434f1d87
                """),
        HKDFKnownAnswer(
            "A.3", ikm: Array(repeating: 0x0b, count: 22), salt: [], info: [],
            prk: "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
            okm: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
    ]
}
