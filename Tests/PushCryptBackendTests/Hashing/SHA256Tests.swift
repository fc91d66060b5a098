import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite struct SHA256Tests {
    @Test(
        "the empty message and those of FIPS 180-2 appendix B have the published digests",
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
        ] as [(message: String, digest: String)])
    func knownAnswers(_ example: (message: String, digest: String)) throws {
        let message = Array(example.message.utf8)
        for named in Backends.all {
            #expect(try named.backend.sha256(message.bytes) == [UInt8](hex: example.digest), "\(named)")
        }
    }

    @Test("both backends agree on the digests of all lengths around the block size")
    func everyLengthAroundTheBlock() throws {
        var generator = SplitMix64(seed: 20)
        for byteCount in 0...200 {
            let message = generator.bytes(byteCount)
            let digests = try Backends.all.map { try $0.backend.sha256(message.bytes) }
            #expect(Set(digests).count == 1, "\(byteCount) bytes")
        }
    }
}
