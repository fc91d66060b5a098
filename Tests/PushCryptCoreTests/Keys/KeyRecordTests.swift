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

    @Test(
        "a record that one backend generates is read by the other",
        arguments: [
            ("p256", .recipient, .p256), ("p256 psk", .recipient, .p256), ("x25519", .recipient, .x25519),
            ("x25519 psk", .recipient, .x25519), ("shared", .shared, .p256), ("sender", .sender, .p256),
        ] as [(name: String, kind: KeyKind, type: KeyPairType)], Backends.all)
    func generated(key: (name: String, kind: KeyKind, type: KeyPairType), backend: NamedBackend) throws {
        func generate() throws -> KeyRecord {
            try .generate(key.kind, type: key.type, psk: key.name.hasSuffix("psk"), backend: backend.backend)
        }
        let record = try generate()
        let written = try Self.written(record)
        for reader in Backends.all {
            let read = try KeyRecord(JSONText(written).root, backend: reader.backend)
            #expect(read.kid == record.kid)
            #expect(read.kind == record.kind)
            #expect(try Self.written(read) == written)
        }
        #expect(try generate().kid != record.kid)
        #expect(try Self.members(of: written).keys.sorted() == TestJWK.named(key.name).members.keys.sorted())
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

/// OpenSSL before 3.5 has no X-Wing; CryptoKit's interface runs everywhere. `KeysetVectorTests` has the refusals.
@Suite("records of X-Wing keys") struct XWingRecordTests {
    static let backends = Backends.supporting(.xWing)

    private static func jwk(psk: Bool = true, _ named: NamedBackend) throws -> TestJWK {
        let record = try KeyRecord.generate(.recipient, type: .xWing, psk: psk, backend: named.backend)
        return try TestJWK(generated: record)
    }

    @Test("a generated record has the members of the protocol's table", arguments: backends, [false, true])
    func members(_ named: NamedBackend, psk: Bool) throws {
        let jwk = try Self.jwk(psk: psk, named)
        #expect(Set(jwk.members.keys) == Set(["kty", "pub", "priv", "alg", "kid"] + (psk ? ["psk"] : [])))
        #expect(jwk.text("kty") == "AKP" && jwk.text("alg") == "pushcrypt-3")
        #expect(jwk.bytes("pub").count == 1_216 && jwk.bytes("priv").count == 32)
        #expect(jwk.json.utf8.count <= KeyRecord.maximumJWKByteCount)
    }

    @Test("a record that one backend writes is read by the other as the same key", arguments: backends)
    func roundTrip(_ named: NamedBackend) throws {
        let jwk = try Self.jwk(named)
        for reader in Self.backends {
            let record = try jwk.record(reader.backend)
            #expect(try TestJWK(generated: record).members == jwk.members)
            #expect(record.algorithm == .xWing && record.isPrivateAsymmetric && record.hasPSK)
            let open = try TestJWK(generated: record.publicRecord(keepingPSK: true))
            #expect(open.members == jwk.with("priv", nil).members)
            let published = try TestJWK(generated: record.publicRecord(keepingPSK: false))
            #expect(Set(published.members.keys) == ["kty", "pub", "alg", "kid"])
        }
    }

    @Test("a message opens, and is 1,136 bytes longer when it is sealed", arguments: backends, [false, true])
    func message(_ named: NamedBackend, psk: Bool) throws {
        let channel = TestChannel(jwk: try Self.jwk(psk: psk, named), isSigned: false)
        let sealed = try channel.seal(Array("message".utf8), named.backend)
        #expect(sealed.count == Suite.xWing.overheadByteCount + 7 && Suite.xWing.overheadByteCount == 1_136)
        #expect(try channel.open(sealed, named.backend) == Array("message".utf8))
    }

    @Test("a record of suite 3 is refused with unsupportedSuite by an OpenSSL before 3.5, which says what it needs")
    func unsupported() throws {
        let jwk = try Self.jwk(Backends.cryptoKit)
        for named in Backends.all where !named.backend.supports(.xWing) {
            let error = #expect(throws: KeyError.self) { try jwk.record(named.backend) }
            #expect(error?.code == .unsupportedSuite)
            #expect(error?.reason.hasSuffix("has no ML-KEM: suite 3 (xwing) needs OpenSSL 3.5 or later") == true)
        }
        #expect(Suite.xWing.isAvailable == Backends.openSSL.backend.supports(.xWing))
        for suite in [Suite.p256, .x25519, .shared] { #expect(suite.isAvailable) }
    }
}
