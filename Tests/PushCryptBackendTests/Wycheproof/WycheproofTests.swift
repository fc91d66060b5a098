import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// The vectors that both backends run.
@Suite(.needsPublicVectors) struct WycheproofTests {
    static let types: [any WycheproofTest.Type] = [
        AEADTest<AESGCM>.self, AEADTest<ChaCha20Poly1305>.self, Ed25519Test.self, HKDFTest.self, HMACTest.self,
        P256Test.self, X25519Test.self,
    ]

    @Test("a Wycheproof vector gets its verdict", arguments: try types.flatMap { try $0.vectors() }, Backends.all)
    func vector(_ vector: WycheproofVector, _ named: NamedBackend) throws {
        try vector.check(named.backend)
    }

    @Test("the vectors of each file are all run or excluded by a named reason", arguments: Backends.all)
    func everyTestIsAccountedFor(_ named: NamedBackend) throws {
        for type in Self.types { #expect(try type.tally(named.backend) == type.counts, "\(type.file)") }
    }

    @Test func `the files have signatures of other lengths, truncated tags, and X25519 keys with the top bit`() throws {
        let signatures = try Ed25519Test.load().map(\.signature.count)
        #expect(signatures.count { $0 == 64 } == 139)
        #expect(try Ed25519Test.load().count { $0.signature.count != 64 && $0.category == .refused } == 12)
        let tags = try HMACTest.load().map(\.tag.bytes.count)
        #expect(tags.count { $0 == 32 } == 87 && tags.count { $0 == 16 } == 87)
        // RFC 7748 section 5 masks it.
        #expect(try X25519Test.load().count { $0.publicKey.bytes[31] >= 0x80 } == 21)
    }
}

protocol AEADFamily: Sendable {
    static var algorithms: [AEADAlgorithm] { get }
    static var file: String { get }
    static var counts: [WycheproofCategory: Int] { get }
}

enum AESGCM: AEADFamily {
    static let algorithms = [AEADAlgorithm.aes128GCM, .aes256GCM]
    static let file = "aes_gcm_test.json"
    static let counts: [WycheproofCategory: Int] = [
        .matches: 79, .refused: 54, .outside("keySize"): 103, .outside("ivSize"): 80,
    ]
}

enum ChaCha20Poly1305: AEADFamily {
    static let algorithms = [AEADAlgorithm.chaCha20Poly1305]
    static let file = "chacha20_poly1305_test.json"
    static let counts: [WycheproofCategory: Int] = [.matches: 256, .refused: 60, .outside("ivSize"): 9]
}

struct AEADTest<Family: AEADFamily>: WycheproofTest, Decodable {
    typealias Group = WycheproofList<Self>
    static var file: String { Family.file }
    static var counts: [WycheproofCategory: Int] { Family.counts }

    let tcId: Int
    let comment: String
    let result: WycheproofResult
    let key, iv, aad, msg, ct, tag: HexBytes

    private var algorithm: AEADAlgorithm? { Family.algorithms.first { $0.keyByteCount == key.bytes.count } }

    var category: WycheproofCategory {
        if algorithm == nil { return .outside("keySize") }
        if iv.bytes.count != AEADAlgorithm.nonceByteCount { return .outside("ivSize") }
        return result == .valid ? .matches : .refused
    }

    func check(_ backend: any CryptoBackend) throws {
        switch category {
        case .matches:
            let sealed = try seal(backend, algorithm!)
            try WycheproofMismatch.unless(sealed == ct.bytes + tag.bytes, "sealed \(sealed)")
            let opened = try open(backend, algorithm!)
            try WycheproofMismatch.unless(opened == msg.bytes, "opened \(opened)")
        case .refused:
            let code = try cryptoErrorCode { try open(backend, algorithm!) }
            try WycheproofMismatch.unless(code == .authenticationFailure, "\(code, default: "opened")")
        case .outside:
            for algorithm in algorithm.map({ [$0] }) ?? Family.algorithms {
                let sealCode = try cryptoErrorCode { try seal(backend, algorithm) }
                try WycheproofMismatch.unless(sealCode == .invalidLength, "\(sealCode, default: "sealed")")
                let openCode = try cryptoErrorCode { try open(backend, algorithm) }
                try WycheproofMismatch.unless(openCode == .invalidLength, "\(openCode, default: "opened")")
            }
        }
    }

    private func seal(_ backend: any CryptoBackend, _ algorithm: AEADAlgorithm) throws -> [UInt8] {
        try backend.sealed(algorithm, key: key.bytes, nonce: iv.bytes, aad: aad.bytes, msg.bytes)
    }

    private func open(_ backend: any CryptoBackend, _ algorithm: AEADAlgorithm) throws -> [UInt8] {
        try backend.opened(algorithm, key: key.bytes, nonce: iv.bytes, aad: aad.bytes, ct.bytes + tag.bytes)
    }
}

/// The keys are all points of the curve. The invalid tests have signatures of other lengths, S of the order and above, R in
/// another encoding, and R and S of 0, 1 and the order.
struct Ed25519Test: WycheproofTest {
    static let file = "ed25519_test.json"
    static let counts: [WycheproofCategory: Int] = [.matches: 88, .refused: 63]

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

/// The invalid tests request more than 255 blocks.
struct HKDFTest: WycheproofTest, Decodable {
    typealias Group = WycheproofList<Self>
    static let file = "hkdf_sha256_test.json"
    static let counts: [WycheproofCategory: Int] = [.matches: 83, .refused: 3]

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

/// Half of the tags are truncated to 16 bytes. The backends don't truncate, so the check compares the first 16 bytes.
struct HMACTest: WycheproofTest, Decodable {
    typealias Group = WycheproofList<Self>
    static let file = "hmac_sha256_test.json"
    static let counts: [WycheproofCategory: Int] = [.matches: 66, .refused: 108]

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

struct P256Test: WycheproofTest, Decodable {
    typealias Group = WycheproofList<Self>
    static let file = "ecdh_secp256r1_ecpoint_test.json"
    static let counts: [WycheproofCategory: Int] = [.matches: 330, .refused: 24, .outside("compressed point form"): 1]

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

/// The file's 254 acceptable tests are keys on the twist, non-canonical keys and keys of small order. Only those whose
/// shared secret is zero may be refused, and RFC 9180 section 7.1.4 says that they must.
struct X25519Test: WycheproofTest, Decodable {
    typealias Group = WycheproofList<Self>
    static let file = "x25519_test.json"
    static let counts: [WycheproofCategory: Int] = [.matches: 487, .refused: 31]

    enum CodingKeys: String, CodingKey {
        case tcId, comment, shared
        case publicKey = "public"
        case privateKey = "private"
    }

    let tcId: Int
    let comment: String
    let publicKey, privateKey, shared: HexBytes

    var category: WycheproofCategory { shared.bytes.allSatisfy { $0 == 0 } ? .refused : .matches }

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
