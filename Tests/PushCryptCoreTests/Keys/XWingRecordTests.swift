import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// Records of suite 3. OpenSSL before 3.5 has no X-Wing; CryptoKit's interface runs everywhere. `KeysetVectorTests` has the
/// refusals of each member.
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
