import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// The Ed25519 vectors of Wycheproof on the way that a pinned sender's key takes in the product: JWK, key record, trusted
/// senders, verification by `skid`.
@Suite(.enabled(if: Vectors.isAvailable, Comment(rawValue: Vectors.missing))) struct WycheproofSenderKeyTests {
    struct Vector: Sendable, CustomStringConvertible {
        let number: Int
        let comment: String
        let isValid: Bool
        let x: String
        let message, signature: [UInt8]

        var description: String { "\(number) \(comment)" }
    }

    private struct File: Decodable {
        let testGroups: [Group]

        struct Group: Decodable {
            let publicKeyJwk: JWK
            let tests: [Test]
        }

        struct JWK: Decodable {
            let x: String
        }

        struct Test: Decodable {
            let tcId: Int
            let comment, result: String
            let msg, sig: HexBytes
        }
    }

    static func vectors() throws -> [Vector] {
        try Vectors.load("wycheproof/ed25519_test.json", as: File.self).testGroups.flatMap { group in
            group.tests.map { test in
                Vector(
                    number: test.tcId, comment: test.comment, isValid: test.result == "valid",
                    x: group.publicKeyJwk.x, message: test.msg.bytes, signature: test.sig.bytes)
            }
        }
    }

    @Test("a pinned sender key gives the verdict of a Wycheproof vector", arguments: try vectors(), Backends.all)
    func verdict(_ vector: Vector, _ named: NamedBackend) throws {
        let jwk = try TestJWK.named("sender").withoutPrivateKey.with("x", "\"\(vector.x)\"").withOwnKeyID()
        let trusted = try TrustedSenders(jwk.keyset(named.backend))
        let key = try trusted.verificationKey(try #require(KeyID(jwk.text("kid"))), at: UnixTime(1_800_000_000)).key
        #expect(try key.isValid(vector.signature.bytes, for: vector.message.bytes) == vector.isValid)
    }

    @Test("the file has 88 valid and 63 invalid signatures, and none that a verifier may choose")
    func counts() throws {
        let vectors = try Self.vectors()
        #expect(vectors.count { $0.isValid } == 88)
        #expect(vectors.count { !$0.isValid } == 63)
    }
}
