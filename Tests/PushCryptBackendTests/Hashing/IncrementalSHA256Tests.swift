import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct IncrementalSHA256Tests {
    @Test(
        "messages that are added byte by byte have the digests of FIPS 180-2 appendix B",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ] as [(message: String, digest: String)], Backends.all)
    func knownAnswers(_ example: (message: String, digest: String), _ named: NamedBackend) {
        let digest = named.backend.sha256()
        for byte in example.message.utf8 { digest.update([byte].bytes) }
        #expect(digest.finalize() == [UInt8](hex: example.digest))
    }

    @Test("a message in random pieces has the digest of the whole message", arguments: Backends.pairs)
    func anySplitEqualsOneShot(_ pair: BackendPair) throws {
        var generator = SplitMix64(seed: 22)
        let digest = pair.first.sha256()
        for byteCount in Array(0...130) + [1_000, 65_535, 65_536, 200_001] {
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
