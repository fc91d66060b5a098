import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct ThumbprintTests {
    /// RFC 8037 appendix A.3.
    private static let rfc8037 = TestJWK.named("sender").withoutPrivateKey
        .with("x", #""11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#)
    private static let rfc8037Thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"

    @Test(arguments: Backends.all)
    func publishedEd25519(backend: NamedBackend) throws {
        let jwk = Self.rfc8037.with("kid", "\"kPrK_qmxVWY\"")
        let record = try jwk.record(backend.backend)
        let thumbprint = try KeyRecord.thumbprint(of: record.material, backend: backend.backend)
        #expect(Base64URL.encode(thumbprint) == Self.rfc8037Thumbprint)
        #expect(record.kid.description == "kPrK_qmxVWY")
    }

    /// The same key with its private half (RFC 8037 appendix A.1) has the same kid.
    @Test(arguments: Backends.all)
    func privateHalfIsLeftOut(backend: NamedBackend) throws {
        let jwk = Self.rfc8037.with("kid", "\"kPrK_qmxVWY\"")
            .with("d", #""nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A""#)
        #expect(try jwk.record(backend.backend).isPrivateAsymmetric)
    }

    /// kid computed by hand from the JSON of RFC 7638, for each kind, with whatever else stands in the record.
    @Test(arguments: TestJWK.all.filter { $0.description != "device" }, Backends.all)
    func keyID(jwk: TestJWK, backend: NamedBackend) throws {
        let own = try jwk.withOwnKeyID()
        #expect(own.json == jwk.json)
        #expect(try jwk.record(backend.backend).kid.description == jwk.text("kid"))
    }

    @Test(arguments: TestJWK.all.filter { $0.description != "device" })
    func anotherKeyID(jwk: TestJWK) throws {
        let first = jwk.text("kid").first == "A" ? "B" : "A"
        let changed = jwk.with("kid", "\"\(first)\(jwk.text("kid").dropFirst())\"")
        expectKeyError(.kidMismatch) { try changed.record() }
        let other = jwk.with("kid", "\"\(TestJWK.named("other p256").text("kid"))\"")
        expectKeyError(.kidMismatch) { try other.record() }
    }

    /// The whole thumbprint isn't a kid, nor is a shorter part of it.
    @Test(arguments: ["kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k", "kPrK_qmxVWaY", "kPrK_qmxVQ", "kPrK_qmxVWa"])
    func lengthOfKeyID(kid: String) {
        expectKeyError(.malformed) { try Self.rfc8037.with("kid", "\"\(kid)\"").record() }
    }
}
