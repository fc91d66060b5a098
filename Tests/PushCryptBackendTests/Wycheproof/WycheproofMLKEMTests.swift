import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptOpenSSL

/// ML-KEM-768 of OpenSSL, a part of X-Wing. CryptoKit's X-Wing has its own ML-KEM, which isn't called here.
@Suite(.needsPublicVectors, .needsXWingOfOpenSSL) struct WycheproofMLKEMTests {
    static let decapsulations = "mlkem_768_test.json"
    static let keys = "mlkem_768_keygen_seed_test.json"

    @Test(
        "decapsulation with the key of a seed gives the verdict of a Wycheproof vector",
        arguments: try WycheproofFile<MLKEMDecapsulation>.vectors(decapsulations))
    func decapsulation(_ vector: WycheproofVector<MLKEMDecapsulation>) throws {
        try vector.test.check(Backends.openSSL.backend)
    }

    @Test(
        "a seed gives the public key of a Wycheproof vector",
        arguments: try WycheproofFile<MLKEMKeyGeneration>.vectors(keys))
    func keyGeneration(_ vector: WycheproofVector<MLKEMKeyGeneration>) throws {
        try vector.test.check(Backends.openSSL.backend)
    }

    @Test("the vectors of the files are all run")
    func everyTestIsAccountedFor() throws {
        let backend = Backends.openSSL.backend
        let decapsulations = try WycheproofFile<MLKEMDecapsulation>.load(Self.decapsulations).tally(backend)
        #expect(decapsulations == [.matches: 153, .refused: 40])
        #expect(try WycheproofFile<MLKEMKeyGeneration>.load(Self.keys).tally(backend) == [.matches: 100])
    }
}

struct MLKEMDecapsulation: WycheproofTest, Decodable {
    typealias Group = WycheproofTests<Self>

    enum CodingKeys: String, CodingKey {
        case tcId, result, seed, ek
        case ciphertext = "c"
        case secret = "K"
    }

    let tcId: Int
    let result: WycheproofResult
    let seed, ciphertext: HexBytes
    let ek, secret: HexBytes?

    var comment: String { "" }
    var category: WycheproofCategory { result == .valid ? .matches : .refused }

    /// An invalid test has a seed or a ciphertext of another length.
    func check(_ backend: any CryptoBackend) throws {
        if category == .refused {
            let code = try cryptoErrorCode { try decapsulated() }
            let expected: CryptoError.Code = seed.bytes.count == 64 ? .invalidPublicKey : .invalidPrivateKey
            return try WycheproofMismatch.unless(code == expected, "\(code, default: "decapsulated")")
        }
        let (publicKey, found) = try decapsulated()
        try WycheproofMismatch.unless(publicKey == ek?.bytes, "another public key")
        try WycheproofMismatch.unless(found == secret?.bytes, "\(found)")
    }

    private func decapsulated() throws -> (publicKey: [UInt8], secret: [UInt8]) {
        let key = try MLKEM768Key(seed: seed.span)
        let secret = try SecretBytes(count: 32) { try key.decapsulate(ciphertext.span, into: &$0) }
        return (try key.publicKey(), secret.revealed)
    }
}

struct MLKEMKeyGeneration: WycheproofTest, Decodable {
    typealias Group = WycheproofTests<Self>

    let tcId: Int
    let comment: String
    let seed, ek: HexBytes

    var category: WycheproofCategory { .matches }

    func check(_ backend: any CryptoBackend) throws {
        let found = try MLKEM768Key(seed: seed.span).publicKey()
        try WycheproofMismatch.unless(found == ek.bytes, "\(found)")
    }
}
