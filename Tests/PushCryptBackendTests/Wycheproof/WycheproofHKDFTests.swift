import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite(.needsPublicVectors) struct WycheproofHKDFTests {
    typealias File = WycheproofFile<HKDFTest>
    static let name = "hkdf_sha256_test.json"

    @Test("the backend gives the verdict of a Wycheproof vector", arguments: try File.vectors(name), Backends.all)
    func vector(_ vector: WycheproofVector<HKDFTest>, _ named: NamedBackend) throws {
        try vector.test.check(named.backend)
    }

    @Test("the vectors of the file are all run or excluded by a named reason", arguments: Backends.all)
    func everyTestIsAccountedFor(_ named: NamedBackend) throws {
        let counts = try File.load(Self.name).tally(named.backend)
        #expect(counts == [.matches: 83, .refused: 3])
    }
}

/// The invalid tests request more than 255 blocks.
struct HKDFTest: WycheproofTest, Decodable {
    typealias Group = WycheproofTests<Self>

    let tcId: Int
    let comment: String
    let result: WycheproofResult
    let ikm, salt, info, okm: HexBytes
    let size: Int

    var category: WycheproofCategory { result == .valid ? .matches : .refused }

    func check(_ backend: any CryptoBackend) throws {
        let prk = HKDF.extract(salt: salt.span, ikm: ikm.span, backend: backend)
        let hmac = backend.hmacSHA256(key: prk.bytes)
        if category == .matches {
            let output = try HKDF.expand(hmac, info: info.span, count: size).revealed
            try WycheproofMismatch.unless(output == okm.bytes, "\(output)")
        } else {
            let code = try cryptoErrorCode { try HKDF.expand(hmac, info: info.span, count: size) }
            try WycheproofMismatch.unless(code == .invalidLength, "\(code, default: "expanded")")
        }
    }
}
