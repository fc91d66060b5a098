import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite(.needsPublicVectors) struct WycheproofX25519Tests {
    typealias File = WycheproofFile<X25519Test>
    static let name = "x25519_test.json"

    @Test("the backend gives the verdict of a Wycheproof vector", arguments: try File.vectors(name), Backends.all)
    func vector(_ vector: WycheproofVector<X25519Test>, _ named: NamedBackend) throws {
        try vector.test.check(named.backend)
    }

    @Test("the vectors of the file are all run or excluded by a named reason", arguments: Backends.all)
    func everyTestIsAccountedFor(_ named: NamedBackend) throws {
        let counts = try File.load(Self.name).tally(named.backend)
        #expect(counts == [.matches: 487, .refused: 31])
    }

    @Test("the file has public keys with the top bit, which RFC 7748 section 5 masks")
    func topBitIsAmongThePublicKeys() throws {
        #expect(try File.load(Self.name).tests.count { $0.publicKey.bytes[31] >= 0x80 } == 21)
    }
}

/// The file's 254 acceptable tests are keys on the twist, non-canonical keys and keys of small order. Only those whose
/// shared secret is zero may be refused, and RFC 9180 section 7.1.4 says that they must.
struct X25519Test: WycheproofTest, Decodable {
    typealias Group = WycheproofTests<Self>

    enum CodingKeys: String, CodingKey {
        case tcId, comment, shared
        case publicKey = "public"
        case privateKey = "private"
    }

    let tcId: Int
    let comment: String
    let publicKey, privateKey, shared: HexBytes

    var category: WycheproofCategory {
        shared.bytes.allSatisfy { $0 == 0 } ? .refused : .matches
    }

    func check(_ backend: any CryptoBackend) throws {
        let ours = try backend.privateKey(.x25519, privateKey.span)
        let theirs = try backend.publicKey(.x25519, publicKey.span)
        if category == .matches {
            let secret = try ours.sharedSecret(with: theirs).revealed
            try WycheproofMismatch.unless(secret == shared.bytes, "\(secret)")
        } else {
            let code = try cryptoErrorCode { try ours.sharedSecret(with: theirs) }
            try WycheproofMismatch.unless(code == .degenerateSharedSecret, "\(code, default: "agreed")")
        }
    }
}
