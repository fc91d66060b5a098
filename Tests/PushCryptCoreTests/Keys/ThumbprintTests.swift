import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct ThumbprintTests {
    /// RFC 8037 appendix A.3.
    private static let rfc8037 = TestJWK.named("sender").withoutPrivateKey
        .with("x", #""11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#)
    private static let rfc8037Thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"

    @Test("the key of RFC 8037 appendix A has the published thumbprint", arguments: Backends.all)
    func publishedEd25519(backend: NamedBackend) throws {
        let jwk = Self.rfc8037.with("kid", "\"kPrK_qmxVWY\"")
        let record = try jwk.record(backend.backend)
        let thumbprint = try KeyRecord.thumbprint(of: record.material, backend: backend.backend)
        #expect(Base64URL.encode(thumbprint) == Self.rfc8037Thumbprint)
        #expect(record.kid.description == "kPrK_qmxVWY")
    }

    @Test("a key with its private half has the kid of its public half", arguments: Backends.all)
    func privateHalfIsLeftOut(backend: NamedBackend) throws {
        let jwk = Self.rfc8037.with("kid", "\"kPrK_qmxVWY\"")
            .with("d", #""nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A""#)
        #expect(try jwk.record(backend.backend).isPrivateAsymmetric)
    }

    @Test(
        "a kid is computed from the members of RFC 7638 alone",
        arguments: TestJWK.all.filter { $0.description != "device" }, Backends.all)
    func keyID(jwk: TestJWK, backend: NamedBackend) throws {
        let own = try jwk.withOwnKeyID()
        #expect(own.json == jwk.json)
        #expect(try jwk.record(backend.backend).kid.description == jwk.text("kid"))
    }

    @Test("a record with another kid throws kidMismatch", arguments: TestJWK.all.filter { $0.description != "device" })
    func anotherKeyID(jwk: TestJWK) throws {
        let first = jwk.text("kid").first == "A" ? "B" : "A"
        let changed = jwk.with("kid", "\"\(first)\(jwk.text("kid").dropFirst())\"")
        expectKeyError(.kidMismatch) { try changed.record() }
        let other = jwk.with("kid", "\"\(TestJWK.named("other p256").text("kid"))\"")
        expectKeyError(.kidMismatch) { try other.record() }
    }

    @Test(
        "a part of the thumbprint with another length or with trailing bits is refused as a kid",
        arguments: ["kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", "kPrK_qmxVWaY", "kPrK_qmxVQ", "kPrK_qmxVWa"])
    func lengthOfKeyID(kid: String) {
        expectKeyError(.malformed) { try Self.rfc8037.with("kid", "\"\(kid)\"").record() }
    }
}
