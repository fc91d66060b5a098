import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite(.needsPublicVectors) struct WycheproofHMACTests {
    typealias File = WycheproofFile<HMACTest>
    static let name = "hmac_sha256_test.json"

    @Test("the backend gives the verdict of a Wycheproof vector", arguments: try File.vectors(name), Backends.all)
    func vector(_ vector: WycheproofVector<HMACTest>, _ named: NamedBackend) throws {
        try vector.test.check(named.backend)
    }

    @Test("the vectors of the file are all run or excluded by a named reason", arguments: Backends.all)
    func everyTestIsAccountedFor(_ named: NamedBackend) throws {
        let counts = try File.load(Self.name).tally(named.backend)
        #expect(counts == [.matches: 66, .refused: 108])
    }

    @Test("the file has vectors with whole and with truncated tags")
    func tagSizes() throws {
        let tests = try File.load(Self.name).tests
        #expect(tests.count { $0.tag.bytes.count == 32 } == 87)
        #expect(tests.count { $0.tag.bytes.count == 16 } == 87)
    }
}

/// Half of the tags are truncated to 16 bytes. The backends don't truncate, so the check compares the first 16 bytes.
struct HMACTest: WycheproofTest, Decodable {
    typealias Group = WycheproofTests<Self>

    let tcId: Int
    let comment: String
    let result: WycheproofResult
    let key, msg, tag: HexBytes

    var category: WycheproofCategory { result == .valid ? .matches : .refused }

    func check(_ backend: any CryptoBackend) throws {
        let code = backend.hmacSHA256(key: key.span).code(msg.bytes)
        let isEqual = constantTimeEqual(code.bytes.extracting(first: tag.bytes.count), tag.span)
        try WycheproofMismatch.unless(isEqual == (category == .matches), "\(code)")
    }
}
