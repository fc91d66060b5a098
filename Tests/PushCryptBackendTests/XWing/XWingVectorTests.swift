import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptOpenSSL

/// The vectors of draft-connolly-cfrg-xwing-kem.
@Suite(.needsPublicVectors) struct XWingVectorTests {
    struct Vector: Decodable, Sendable, CustomStringConvertible {
        let seed, eseed, ss, sk, pk, ct: HexBytes

        var description: String { "seed \(seed.bytes.prefix(4))" }
    }

    static func vectors() throws -> [Vector] { try Vectors.load("xwing/xwing-kem.json", as: [Vector].self) }

    @Test("the file has three vectors, whose private key is the seed")
    func counts() throws {
        let vectors = try Self.vectors()
        #expect(vectors.count == 3)
        #expect(vectors.allSatisfy { $0.seed.bytes == $0.sk.bytes })
    }

    @Test(
        "the seed of a vector gives its public key, and decapsulating its ciphertext its secret",
        arguments: try vectors(),
        Backends.supporting(.xWing))
    func decapsulation(_ vector: Vector, _ named: NamedBackend) throws {
        let key = try named.backend.privateKey(.xWing, vector.sk.span)
        #expect(key.publicKey.serialized == vector.pk.bytes)
        let secret = try SecretBytes(count: 32) { secret in
            try named.backend.decapsulate(vector.ct.span, with: key, into: &secret)
        }
        #expect(secret.revealed == vector.ss.bytes)
    }

    @Test(
        "encapsulation with the randomness of a vector gives its ciphertext and secret", .needsXWingOfOpenSSL,
        arguments: try vectors())
    func encapsulation(_ vector: Vector) throws {
        let key = try XWingPublicKey(vector.pk.span)
        var ciphertext = [UInt8]()
        let secret = try SecretBytes(count: 32) { secret in
            try key.encapsulate(into: &secret, appendingTo: &ciphertext, randomness: vector.eseed.span)
        }
        #expect(ciphertext == vector.ct.bytes)
        #expect(secret.revealed == vector.ss.bytes)
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test where OpenSSL has no X-Wing.
    static var needsXWingOfOpenSSL: Self {
        .enabled(
            if: Backends.openSSL.backend.supports(.xWing),
            "suite 3 is unavailable: it needs OpenSSL 3.5, and this is \(OpenSSLLibrary.version)")
    }
}
