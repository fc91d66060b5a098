import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Records of suite 3. OpenSSL before 3.5 has no X-Wing; CryptoKit's interface runs everywhere.
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

    @Test("kid is the thumbprint of alg, kty and pub (RFC 9964)", arguments: backends)
    func thumbprint(_ named: NamedBackend) throws {
        let jwk = try Self.jwk(named)
        let text = #"{"alg":"pushcrypt-3","kty":"AKP","pub":"\#(jwk.text("pub"))"}"#
        let digest = try Backends.openSSL.backend.sha256(Array(text.utf8).bytes)
        #expect(jwk.bytes("kid") == Array(digest[..<8]))
        expectKeyError(.kidMismatch) { try jwk.with("kid", "\"AAAAAAAAAAA\"").record(named.backend) }
    }

    @Test(
        "a member that is missing, of a wrong type or of a wrong length is refused", arguments: backends,
        ["pub", "priv", "psk"])
    func wrongMembers(_ named: NamedBackend, _ member: String) throws {
        let jwk = try Self.jwk(named)
        let bytes = jwk.bytes(member)
        for wrong in [
            "null", "1", "true", "[]", "{}", "\"\"", "\"\(jwk.text(member))=\"", "\"\(jwk.text(member))\\n\"",
        ] {
            expectKeyError(.malformed) { try jwk.with(member, wrong).record(named.backend) }
        }
        for wrong in [[], Array(bytes.dropLast()), bytes + [0]] {
            expectKeyError(.malformed) { try jwk.with(member, bytes: wrong).record(named.backend) }
        }
        if member == "pub" { expectKeyError(.malformed) { try jwk.with(member, nil).record(named.backend) } }
    }

    @Test("another alg or kty is refused with unsupportedKey", arguments: backends)
    func otherAlgorithm(_ named: NamedBackend) throws {
        let jwk = try Self.jwk(named)
        for alg in ["\"HPKE-7\"", "\"pushcrypt-4\"", "\"ML-KEM-768\"", "\"\"", "null", "3", nil] {
            expectKeyError(.unsupportedKey) { try jwk.with("alg", alg).record(named.backend) }
        }
        for kty in ["\"akp\"", "\"AKPX\"", "\"\""] {
            expectKeyError(.unsupportedKey) { try jwk.with("kty", kty).record(named.backend) }
        }
    }

    @Test("a seed of another key is refused with invalidKey", arguments: backends)
    func otherSeed(_ named: NamedBackend) throws {
        let (jwk, other) = (try Self.jwk(named), try Self.jwk(named))
        expectKeyError(.invalidKey) { try jwk.with("priv", "\"\(other.text("priv"))\"").record(named.backend) }
    }

    @Test("an ML-KEM half that isn't reduced is refused with invalidKey", arguments: backends)
    func modulus(_ named: NamedBackend) throws {
        var pub = try Self.jwk(named).bytes("pub")
        (pub[0], pub[1]) = (0xff, pub[1] | 0x0f)
        let jwk = try Self.jwk(named).with("priv", nil).with("pub", bytes: pub).withOwnKeyID()
        expectKeyError(.invalidKey) { try jwk.record(named.backend) }
    }

    @Test("an X25519 half of small order, or not below 2^255 - 19, is refused with invalidKey", arguments: backends)
    func x25519Half(_ named: NamedBackend) throws {
        let jwk = try Self.jwk(named).with("priv", nil)
        let notCanonical = [UInt8](repeating: 0xff, count: 31) + [0x7f]
        for point in X25519SmallOrderTests.points.map({ [UInt8](hex: $0) }) + [notCanonical] {
            let changed = try jwk.with("pub", bytes: jwk.bytes("pub").prefix(1_184) + point).withOwnKeyID()
            expectKeyError(.invalidKey) { try changed.record(named.backend) }
        }
    }

    @Test("a device id is refused: only shared keys are a device's", arguments: backends)
    func device(_ named: NamedBackend) throws {
        let jwk = try Self.jwk(named)
        expectKeyError(.malformed) { try jwk.with("device", "\"d1\"").record(named.backend) }
    }

    @Test(
        "a message opens, and one with a changed bit, cut or extended is undecryptable", arguments: backends,
        [false, true])
    func messages(_ named: NamedBackend, psk: Bool) throws {
        let channel = TestChannel(jwk: try Self.jwk(psk: psk, named), isSigned: false)
        let sealed = try channel.seal(Array("message".utf8), named.backend)
        #expect(sealed.count == Suite.xWing.overheadByteCount + 7 && Suite.xWing.overheadByteCount == 1_136)
        #expect(try channel.open(sealed, named.backend) == Array("message".utf8))
        var wrong = [Array(sealed.dropLast()), sealed + [0], Array(sealed.prefix(1_136)), []]
        for index in stride(from: 0, to: sealed.count, by: 97) {
            var changed = sealed
            changed[index] ^= 1
            wrong.append(changed)
        }
        for sealed in wrong {
            #expect(throws: FailureClass.undecryptable) { try channel.open(sealed, named.backend) }
        }
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
