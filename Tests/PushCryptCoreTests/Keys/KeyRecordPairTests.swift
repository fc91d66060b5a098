import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Records with the halves of two key pairs.
@Suite struct KeyRecordPairTests {
    @Test("a record with the private key of another pair throws invalidKey", arguments: TestJWK.withPair, Backends.all)
    func anotherPrivateKey(jwk: TestJWK, backend: NamedBackend) {
        let stranger = TestJWK.named("other \(jwk.description.split(separator: " ")[0])")
        expectKeyError(.invalidKey) { try jwk.with("d", stranger.members["d"]).record(backend.backend) }
        var changed = jwk.bytes("d")
        changed[16] ^= 1
        expectKeyError(.invalidKey) { try jwk.with("d", bytes: changed).record(backend.backend) }
    }

    @Test("a P-256 private key of 0, n or above throws invalidKey", arguments: Backends.all)
    func p256ScalarOutOfRange(backend: NamedBackend) {
        let order = [UInt8](hex: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        let scalars = [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xff, count: 32)]
        for scalar in scalars {
            expectKeyError(.invalidKey) { try TestJWK.named("p256").with("d", bytes: scalar).record(backend.backend) }
        }
    }

    @Test(
        "a record with another public key throws invalidKey if it has a private key, else kidMismatch",
        arguments: TestJWK.withPair, Backends.all)
    func anotherPublicKey(jwk: TestJWK, backend: NamedBackend) {
        let stranger = TestJWK.named("other \(jwk.description.split(separator: " ")[0])")
        let changed = jwk.with("x", stranger.members["x"]).with("y", stranger.members["y"])
        expectKeyError(.invalidKey) { try changed.record(backend.backend) }
        expectKeyError(.kidMismatch) { try changed.withoutPrivateKey.record(backend.backend) }
    }

    @Test("an error of a record contains its kid and no secret", arguments: TestJWK.all)
    func errorsHoldNoSecret(jwk: TestJWK) {
        for member in ["kty", "alg", "kid", "x", "y", "k", "d", "psk"] where jwk.members[member] != nil {
            let broken = jwk.with(member, "\"\(jwk.text(member))AAAA\"")
            let error = #expect(throws: KeyError.self) { try broken.record() }
            let text = error.map { "\($0) \(String(reflecting: $0))" } ?? ""
            for secret in ["k", "d", "psk"] where jwk.members[secret] != nil {
                #expect(!text.contains(jwk.text(secret)))
            }
        }
    }
}
