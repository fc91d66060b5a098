import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Private halves that aren't in the record, such as one in a Secure Enclave.
@Suite struct ExternalKeyTests {
    private static let pairs = ["p256", "p256 psk", "x25519", "x25519 psk"].map(TestJWK.named)

    private func privateKey(_ jwk: TestJWK) throws -> any DecapsulationKey {
        guard case .recipient(_, let privateKey?, _) = try jwk.record().material else {
            preconditionFailure("\(jwk) has no private half")
        }
        return privateKey
    }

    @Test("a public record joined with its private key is written like the private record", arguments: pairs)
    func joined(
        _ jwk: TestJWK
    ) throws {
        let open = try jwk.withoutPrivateKey.record()
        let whole = try open.withPrivateKey(privateKey(jwk))
        #expect(whole.isPrivateAsymmetric && whole.kid == open.kid && whole.hasPSK == open.hasPSK)
        var (text, expected) = ([UInt8](), [UInt8]())
        try whole.appendJWK(to: &text)
        try jwk.record().appendJWK(to: &expected)
        #expect(text == expected)
    }

    @Test("the private key of another pair or group throws invalidKey", arguments: pairs) func otherPair(_ jwk: TestJWK)
        throws
    {
        let open = try jwk.withoutPrivateKey.record()
        for other in Self.pairs where other.text("x") != jwk.text("x") {
            expectKeyError(.invalidKey, "\(other)") { try open.withPrivateKey(privateKey(other)) }
        }
    }

    @Test("a record that isn't a recipient's key pair throws wrongKind", arguments: ["shared", "device", "sender"])
    func noPair(
        _ name: String
    ) throws {
        let record = try TestJWK.named(name).record()
        expectKeyError(.wrongKind) { try record.withPrivateKey(privateKey(.named("p256"))) }
    }
}
