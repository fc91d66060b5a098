import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Records that are written and read again. `KeysetVectorTests` has the refusals of each member.
@Suite struct KeyRecordTests {
    private static let halves = TestJWK.all + TestJWK.withPair.map(\.withoutPrivateKey)

    @Test("a record is written with the members that were read, and without unknown ones", arguments: halves)
    func writtenAsRead(jwk: TestJWK) throws {
        // RFC 7517 section 4: unknown members are ignored.
        let extended = jwk.with("use", "\"enc\"").with("key_ops", "[]").with("x5c", "null").with("more", #"{"d":1}"#)
        for text in [jwk, extended] {
            let records = try Backends.all.map { try text.record($0.backend) }
            let written = try records.map(Self.written)
            #expect(written[0] == written[1])
            #expect(try Self.members(of: written[0]) == jwk.members)
            #expect(written[0].count <= KeyRecord.maximumJWKByteCount)
            for record in records {
                #expect(record.isPrivateAsymmetric == (jwk.members["d"] != nil))
                #expect(record.hasPSK == (jwk.members["psk"] != nil))
            }
        }
    }

    @Test("a public record has no private half, and a psk only on request", arguments: TestJWK.all, Backends.all)
    func publicRecord(jwk: TestJWK, backend: NamedBackend) throws {
        let record = try jwk.record(backend.backend)
        let withPSK = try Self.members(of: Self.written(record.publicRecord(keepingPSK: true)))
        #expect(withPSK == jwk.withoutPrivateKey.members)
        let withoutPSK = try Self.members(of: Self.written(record.publicRecord(keepingPSK: false)))
        #expect(withoutPSK == jwk.withoutPrivateKey.with("psk", nil).members)
    }

    struct Kind: Sendable, CustomStringConvertible {
        let description: String
        let generate: @Sendable (NamedBackend) throws -> KeyRecord
    }

    private static let kinds = [
        Kind(description: "p256") { try .generate(.recipient, backend: $0.backend) },
        Kind(description: "p256 psk") { try .generate(.recipient, type: .p256, psk: true, backend: $0.backend) },
        Kind(description: "x25519") { try .generate(.recipient, type: .x25519, backend: $0.backend) },
        Kind(description: "x25519 psk") { try .generate(.recipient, type: .x25519, psk: true, backend: $0.backend) },
        Kind(description: "shared") { try .generate(.shared, backend: $0.backend) },
        Kind(description: "sender") { try .generate(.sender, backend: $0.backend) },
    ]

    @Test("a record that one backend generates is read by the other", arguments: kinds, Backends.all)
    func generated(kind: Kind, backend: NamedBackend) throws {
        let record = try kind.generate(backend)
        let written = try Self.written(record)
        for reader in Backends.all {
            let read = try KeyRecord(JSONText(written).root, backend: reader.backend)
            #expect(read.kid == record.kid)
            #expect(read.kind == record.kind)
            #expect(try Self.written(read) == written)
        }
        let again = try kind.generate(backend)
        #expect(again.kid != record.kid)
        let names = TestJWK.named(kind.description).members.keys.sorted()
        #expect(try Self.members(of: written).keys.sorted() == names)
    }

    @Test("a private member of another kind of key is refused as malformed", arguments: TestJWK.all)
    func misplacedPrivateMember(jwk: TestJWK) {
        for name in jwk.members["d"] == nil ? ["d", "priv"] : ["priv"] {
            for value in WrongJSON.types + ["\"\"", "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\""] {
                expectKeyError(.malformed, "\(name) \(value)") { try jwk.with(name, value).record() }
            }
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

    @Test("an error of a record contains no secret", arguments: TestJWK.all)
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

    @Test(
        "a kid is computed from the members of RFC 7638 alone",
        arguments: TestJWK.all.filter { $0.description != "device" }, Backends.all)
    func keyID(jwk: TestJWK, backend: NamedBackend) throws {
        let own = try jwk.withOwnKeyID()
        #expect(own.json == jwk.json)
        #expect(try jwk.record(backend.backend).kid.description == jwk.text("kid"))
    }

    @Test("the key of RFC 8037 appendix A has the published thumbprint", arguments: Backends.all)
    func publishedThumbprint(backend: NamedBackend) throws {
        let open = TestJWK.named("sender").withoutPrivateKey.with("kid", "\"kPrK_qmxVWY\"")
            .with("x", #""11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#)
        for jwk in [open, open.with("d", #""nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A""#)] {
            let record = try jwk.record(backend.backend)
            let thumbprint = try KeyRecord.thumbprint(of: record.material, backend: backend.backend)
            #expect(Base64URL.encode(thumbprint) == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
            #expect(record.kid.description == "kPrK_qmxVWY")
        }
    }

    private static func written(_ record: KeyRecord) throws -> [UInt8] {
        var output: [UInt8] = []
        try record.appendJWK(to: &output)
        return output
    }

    private static func members(of jwk: [UInt8]) throws -> [String: String] {
        let members = try JSONText(jwk).root.members.map { member in
            (member.name, String(decoding: member.value.rawBytes, as: UTF8.self))
        }
        return Dictionary(uniqueKeysWithValues: members)
    }
}

/// Private halves that aren't in the record, such as one in a Secure Enclave.
@Suite struct ExternalKeyTests {
    private static let pairs = ["p256", "p256 psk", "x25519", "x25519 psk"].map(TestJWK.named)

    private func privateKey(_ jwk: TestJWK) throws -> any DecapsulationKey {
        guard case .recipient(_, let privateKey?, _) = try jwk.record().material else {
            preconditionFailure("\(jwk) has no private half")
        }
        return privateKey
    }

    @Test("a public record joined with its private key is the private one, with another invalidKey", arguments: pairs)
    func joined(_ jwk: TestJWK) throws {
        let open = try jwk.withoutPrivateKey.record()
        let whole = try open.withPrivateKey(privateKey(jwk))
        #expect(whole.isPrivateAsymmetric && whole.kid == open.kid && whole.hasPSK == open.hasPSK)
        #expect(try TestJWK(generated: whole).members == TestJWK(generated: jwk.record()).members)
        for other in Self.pairs where other.text("x") != jwk.text("x") {
            expectKeyError(.invalidKey, "\(other)") { try open.withPrivateKey(privateKey(other)) }
        }
    }

    @Test("a record that isn't a recipient's key pair throws wrongKind", arguments: ["shared", "device", "sender"])
    func noPair(_ name: String) throws {
        let record = try TestJWK.named(name).record()
        expectKeyError(.wrongKind) { try record.withPrivateKey(privateKey(.named("p256"))) }
    }
}
