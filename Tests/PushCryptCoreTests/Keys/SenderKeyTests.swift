import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct TrustedSendersTests {
    @Test(
        "a sender key verifies or is refused by its lifecycle",
        arguments: [
            (.at(2_000), nil), (.at(nil), nil), (.at(0), nil), (.at(0, retires: 500), nil),
            (.at(0, retires: 500, expires: 1_001), nil), (.at(0, retires: 500, expires: 1_000), .keyExpired),
            (.at(0, revoked: 1_000), .keyRevoked), (.at(0, expires: 7, revoked: 9), .keyRevoked),
            // The clock of the revoking host may be ahead.
            (.at(0, revoked: 1_001), .keyRevoked),
        ] as [(KeyLifecycle, FailureClass?)])
    func lifecycle(lifecycle: KeyLifecycle, failure: FailureClass?) throws {
        let record = try TestJWK.named("sender").withoutPrivateKey.record()
        let senders = try TrustedSenders(Keyset([Keyset.Entry(record, lifecycle)]))
        func key() throws -> any VerificationKey { try senders.verificationKey(record.kid, at: UnixTime(1_000)).key }
        if let failure {
            #expect(throws: failure) { try key() }
        } else {
            #expect(try key().serialized == TestJWK.named("sender").bytes("x"))
        }
    }

    @Test("a key whose thumbprint is revoked verifies nothing even if its set says otherwise")
    func revokedBefore() throws {
        let publisher = try TestSenderSet.publisher(1)
        let document = try SignedSenderSet.sign(TestSenderSet.keyset(2), TestSenderSet.publication(), by: [publisher])
        let set = try SignedSenderSet.verify(document, publishers: [publisher.publicRecord(keepingPSK: false)])
        let (revoked, other) = (set.keyset.entries[0].record, set.keyset.entries[1].record)
        let senders = try TrustedSenders(set, revoked: [revoked.thumbprint()], graceInSeconds: 0)
        let now = TestSenderSet.now
        #expect(throws: FailureClass.keyRevoked) { _ = try senders.verificationKey(revoked.kid, at: now) }
        _ = try senders.verificationKey(other.kid, at: now)
    }

    @Test("a skid that isn't in the set throws unknownKey")
    func aStranger() throws {
        let senders = try TrustedSenders(json: Array(TestJWK.named("sender").withoutPrivateKey.json.utf8))
        let stranger = try #require(KeyID(TestJWK.named("other sender").text("kid")))
        #expect(throws: FailureClass.unknownKey) { _ = try senders.verificationKey(stranger, at: UnixTime(0)) }
    }
}

/// A publisher's key is an Ed25519 key like a sender's. Only its role keeps them apart.
@Suite("keys of publishers") struct PublisherKeyTests {
    private func jwk(of record: KeyRecord) throws -> [UInt8] {
        var json = [UInt8]()
        try record.appendJWK(to: &json)
        return json
    }

    @Test("A new publisher's key is written with its role and read again as a publisher's", arguments: Backends.pairs)
    func roundTrip(_ pair: BackendPair) throws {
        let record = try KeyRecord.generate(.publisher, backend: pair.first)
        for (written, isPrivate) in [(record, true), (record.publicRecord(keepingPSK: false), false)] {
            let json = try jwk(of: written)
            #expect(String(decoding: json, as: UTF8.self).hasSuffix(#""role":"publisher"}"#))
            let read = try Keyset(json: json, backend: pair.second)
            #expect(read.kind == .publisher)
            #expect(read.keyIDs == [record.kid])
            #expect(read.entries[0].record.isPrivateAsymmetric == isPrivate)
            #expect(read.entries[0].record.algorithm == .publisher)
        }
    }

    @Test("A publisher's key neither signs nor verifies messages, and is no recipient: wrongKind")
    func isNoSender() throws {
        let json = try jwk(of: TestSenderSet.publisher(1))
        let publicJSON = try jwk(of: TestSenderSet.publisher(1).publicRecord(keepingPSK: false))
        expectKeyError(.wrongKind) { try SenderKey(jwk: json) }
        expectKeyError(.wrongKind) { try Keyset(json: json).senderKey(at: UnixTime(0)) }
        expectKeyError(.wrongKind) { try TrustedSenders(json: publicJSON) }
        expectKeyError(.wrongKind) { try Recipient(jwk: publicJSON) }
        expectKeyError(.wrongKind) { try RecipientKey(Keyset(json: json).entries[0]) }
    }

    @Test("A sender's key can't be pinned as a publisher's: wrongKind")
    func isNoPublisher() throws {
        let sender = try TestSenderSet.sender(1).publicRecord(keepingPSK: false)
        expectKeyError(.wrongKind) { try SenderSetPins(publishers: [sender], set: TestSenderSet.id, epoch: 1) }
    }

    @Test("A set of senders and publishers is refused: wrongKind")
    func mixed() throws {
        let entries = [try TestSenderSet.sender(1), try TestSenderSet.publisher(1)].map { Keyset.Entry($0, .at(0)) }
        expectKeyError(.wrongKind) { try Keyset(entries) }
    }

    @Test(
        "An Ed25519 key with another role is refused: unsupportedKey",
        arguments: WrongJSON.types + [#""sender""#, #""Publisher""#, #""""#])
    func otherRole(_ role: String) {
        expectKeyError(.unsupportedKey) { try TestJWK.named("sender").with("role", role).record() }
    }

    @Test("The role of a key that isn't Ed25519 is ignored", arguments: ["p256", "x25519", "shared"])
    func roleOfAnotherKey(_ name: String) throws {
        let plain = TestJWK.named(name)
        #expect(try plain.with("role", #""publisher""#).record().kind == plain.record().kind)
    }
}

/// The Ed25519 vectors of Wycheproof on the way of a pinned sender's key: JWK, key record, trusted senders, `skid`.
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
