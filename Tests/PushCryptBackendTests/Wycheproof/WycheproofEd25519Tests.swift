import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Verification with public keys, which are all points of the curve. The invalid tests have signatures of other lengths,
/// S of the order and above, R in another encoding, and R and S of 0, 1 and the order.
@Suite(.needsPublicVectors) struct WycheproofEd25519Tests {
    typealias File = WycheproofFile<Ed25519Test>
    static let name = "ed25519_test.json"

    @Test("the backend gives the verdict of a Wycheproof vector", arguments: try File.vectors(name), Backends.all)
    func vector(_ vector: WycheproofVector<Ed25519Test>, _ named: NamedBackend) throws {
        try vector.test.check(named.backend)
    }

    @Test("the vectors of the file are all run or excluded by a named reason", arguments: Backends.all)
    func everyTestIsAccountedFor(_ named: NamedBackend) throws {
        let counts = try File.load(Self.name).tally(named.backend)
        #expect(counts == [.matches: 88, .refused: 63])
    }

    @Test("the file has signatures of 64 bytes and 12 of other lengths")
    func lengths() throws {
        let tests = try File.load(Self.name).tests
        #expect(tests.count { $0.signature.count == 64 } == 139)
        #expect(tests.count { $0.signature.count != 64 && $0.category == .refused } == 12)
    }
}

struct Ed25519Test: WycheproofTest {
    /// The tests of one public key.
    struct Group: WycheproofGroup {
        let tests: [Ed25519Test]

        private enum CodingKeys: String, CodingKey { case publicKey, tests }

        private struct PublicKey: Decodable { let pk: HexBytes }

        private struct Signature: Decodable {
            let tcId: Int
            let comment: String
            let result: WycheproofResult
            let msg, sig: HexBytes
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let key = try container.decode(PublicKey.self, forKey: .publicKey)
            tests = try container.decode([Signature].self, forKey: .tests).map { signature in
                Ed25519Test(
                    tcId: signature.tcId, comment: signature.comment, result: signature.result, key: key.pk.bytes,
                    message: signature.msg.bytes, signature: signature.sig.bytes)
            }
        }
    }

    let tcId: Int
    let comment: String
    let result: WycheproofResult
    let key, message, signature: [UInt8]

    var category: WycheproofCategory { result == .valid ? .matches : .refused }

    func check(_ backend: any CryptoBackend) throws {
        let verdict = try backend.verificationKey(key.bytes).accepts(signature, for: message)
        try WycheproofMismatch.unless(verdict == (category == .matches), verdict ? "accepted" : "refused")
    }
}
