import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptOpenSSL

/// ML-KEM-768 of OpenSSL, a part of X-Wing. CryptoKit's X-Wing has its own ML-KEM, which isn't called here.
@Suite(.needsPublicVectors, .needsXWingOfOpenSSL) struct WycheproofMLKEMTests {
    @Test(
        "decapsulation with the key of a seed, and the public key of a seed, are those of a Wycheproof vector",
        arguments: try MLKEMDecapsulation.vectors() + MLKEMKeyGeneration.vectors())
    func vector(_ vector: WycheproofVector) throws { try vector.check(Backends.openSSL.backend) }

    @Test func `the vectors of the files are all run`() throws {
        let backend = Backends.openSSL.backend
        #expect(try MLKEMDecapsulation.tally(backend) == MLKEMDecapsulation.counts)
        #expect(try MLKEMKeyGeneration.tally(backend) == MLKEMKeyGeneration.counts)
    }
}

struct MLKEMDecapsulation: WycheproofTest, Decodable {
    typealias Group = WycheproofList<Self>
    static let file = "mlkem_768_test.json"
    static let counts: [WycheproofCategory: Int] = [.matches: 153, .refused: 40]

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
    typealias Group = WycheproofList<Self>
    static let file = "mlkem_768_keygen_seed_test.json"
    static let counts: [WycheproofCategory: Int] = [.matches: 100]

    let tcId: Int
    let comment: String
    let seed, ek: HexBytes

    var category: WycheproofCategory { .matches }

    func check(_ backend: any CryptoBackend) throws {
        let found = try MLKEM768Key(seed: seed.span).publicKey()
        try WycheproofMismatch.unless(found == ek.bytes, "\(found)")
    }
}
