import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite(.needsPublicVectors) struct WycheproofP256Tests {
    typealias File = WycheproofFile<P256Test>
    static let name = "ecdh_secp256r1_ecpoint_test.json"

    @Test("the backend gives the verdict of a Wycheproof vector", arguments: try File.vectors(name), Backends.all)
    func vector(_ vector: WycheproofVector<P256Test>, _ named: NamedBackend) throws {
        try vector.test.check(named.backend)
    }

    @Test("the vectors of the file are all run or excluded by a named reason", arguments: Backends.all)
    func everyTestIsAccountedFor(_ named: NamedBackend) throws {
        let counts = try File.load(Self.name).tally(named.backend)
        #expect(counts == [.matches: 330, .refused: 24, .outside("compressed point form"): 1])
    }
}

struct P256Test: WycheproofTest, Decodable {
    typealias Group = WycheproofTests<Self>

    enum CodingKeys: String, CodingKey {
        case tcId, comment, result, shared
        case publicKey = "public"
        case privateKey = "private"
    }

    let tcId: Int
    let comment: String
    let result: WycheproofResult
    let publicKey, privateKey, shared: HexBytes

    /// `acceptable` is the one valid point in compressed form.
    var category: WycheproofCategory {
        switch result {
        case .valid: .matches
        case .invalid: .refused
        case .acceptable: .outside("compressed point form")
        }
    }

    /// The file writes private keys as Java's BigInteger does: without leading zeros, or with one that keeps the sign.
    private var fixedLengthPrivateKey: [UInt8] {
        let digits = privateKey.bytes.drop { $0 == 0 }
        return [UInt8](repeating: 0, count: KeyPairType.privateKeyByteCount - digits.count) + digits
    }

    func check(_ backend: any CryptoBackend) throws {
        let ours = try backend.privateKey(.p256, fixedLengthPrivateKey.bytes)
        if category == .matches {
            let theirs = try backend.publicKey(.p256, publicKey.span)
            let secret = try ours.sharedSecret(with: theirs).revealed
            try WycheproofMismatch.unless(secret == shared.bytes, "\(secret)")
        } else {
            let code = try cryptoErrorCode { try backend.publicKey(.p256, publicKey.span) }
            try WycheproofMismatch.unless(code == .invalidPublicKey, "\(code, default: "imported")")
        }
    }
}
