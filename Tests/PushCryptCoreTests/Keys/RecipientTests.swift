import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct RecipientTests {
    @Test(
        "a recipient has the suite of its key",
        arguments: [
            ("p256", Suite.p256), ("p256 psk", .p256), ("x25519", .x25519), ("x25519 psk", .x25519),
            ("shared", .shared), ("device", .shared),
        ], Backends.all)
    func suite(expected: (String, PushCryptCore.Suite), backend: NamedBackend) throws {
        let jwk = TestJWK.named(expected.0).withoutPrivateKey
        let recipient = try Recipient(jwk: Array(jwk.json.utf8), backend: backend.backend)
        #expect(recipient.suite == expected.1)
        #expect(recipient.kid.description == jwk.text("kid"))
        let key = try RecipientKey(TestJWK.named(expected.0).keyset(backend.backend).entries[0])
        #expect(key.suite == expected.1)
        #expect(key.kid == recipient.kid)
    }

    @Test(
        "a private key of a pair is refused as a recipient",
        arguments: ["p256", "p256 psk", "x25519", "x25519 psk", "sender"])
    func privateKeyIsRefused(name: String) throws {
        let jwk = TestJWK.named(name)
        expectKeyError(.wrongKind) { try Recipient(jwk: jwk.json.utf8) }
        expectKeyError(.wrongKind) { try jwk.keyset().recipient(at: UnixTime(0)) }
    }

    @Test(
        "a recipient's record with a private member of any suite is refused",
        arguments: ["p256", "p256 psk", "x25519", "shared", "device"], ["d", "priv"])
    func privateMember(name: String, member: String) throws {
        let jwk = TestJWK.named(name).withoutPrivateKey
        _ = try Recipient(jwk: jwk.json.utf8)
        for value in [#""\#(jwk.text("x"))""#, "\"\"", "null"] {
            let error = #expect(throws: KeyError.self) { try Recipient(jwk: jwk.with(member, value).json.utf8) }
            #expect(error.map { [.malformed, .invalidKey, .wrongKind].contains($0.code) } == true, "\(value)")
        }
    }

    @Test(
        "a record of suite 3 with a private member is refused", arguments: Backends.supporting(.xWing), ["d", "priv"])
    func privateMemberOfXWing(_ named: NamedBackend, member: String) throws {
        let record = try KeyRecord.generate(.recipient, type: .xWing, psk: true, backend: named.backend)
        let jwk = try TestJWK(generated: record)
        let changed = jwk.withoutPrivateKey.with(member, jwk.members["priv"])
        expectKeyError(member == "d" ? .malformed : .wrongKind) {
            try Recipient(jwk: changed.json.utf8, backend: named.backend)
        }
    }

    private static func set(_ named: NamedBackend, _ types: [(KeyPairType, KeyLifecycle)]) throws -> Keyset {
        let entries = try types.map { type, lifecycle in
            let record = try KeyRecord.generate(.recipient, type: type, psk: false, backend: named.backend)
            return Keyset.Entry(record.publicRecord(keepingPSK: false), lifecycle)
        }
        let published = try Keyset(entries, sequence: 3).jwkSet(withHistory: false)
        return try Keyset(json: published, backend: named.backend)
    }

    @Test(
        "a published set whose newest key ranks below an older one is refused unless an operator allows it",
        arguments: Backends.supporting(.xWing), [KeyPairType.p256, .x25519])
    func lowerNewestKey(_ named: NamedBackend, _ low: KeyPairType) throws {
        for older in [KeyLifecycle.at(0), .at(0, retires: 5, expires: 900), .at(0, revoked: 5)] {
            let set = try Self.set(named, [(.xWing, older), (low, .at(10))])
            for time in [UnixTime(10), UnixTime(500)] {
                expectKeyError(.suiteTooLow) { try set.recipient(at: time) }
                #expect(try set.recipient(at: time, allowsLowerSuite: true).suite == PushCryptCore.Suite(low))
            }
        }
        // It is refused before the new key seals, so that an operator has time.
        expectKeyError(.suiteTooLow) {
            try Self.set(named, [(low, .at(10)), (.xWing, .at(0))]).recipient(at: UnixTime(1))
        }
    }

    @Test("a set that goes to a higher rank or stays in one is accepted", arguments: Backends.supporting(.xWing))
    func higherNewestKey(_ named: NamedBackend) throws {
        for types in [[KeyPairType.p256, .xWing], [.xWing, .xWing], [.p256, .x25519], [.x25519, .p256, .xWing]] {
            let dated = types.enumerated().map { ($1, KeyLifecycle.at(Int64($0))) }
            let set = try Self.set(named, dated)
            #expect(try set.recipient(at: UnixTime(20)).suite == PushCryptCore.Suite(types[types.count - 1]))
        }
        // A key that waits to be promoted has no place in the order yet.
        #expect(try Self.set(named, [(.xWing, .at(0)), (.p256, .at(nil))]).recipient(at: UnixTime(1)).suite == .xWing)
    }

    @Test("a sender's key neither seals nor opens")
    func senderIsNoRecipient() throws {
        let jwk = TestJWK.named("sender").withoutPrivateKey
        expectKeyError(.wrongKind) { try Recipient(jwk: jwk.json.utf8) }
        expectKeyError(.wrongKind) { try RecipientKey(TestJWK.named("sender").keyset().entries[0]) }
    }

    @Test("a published set of several sender keys is refused as a recipient for its kind, not for its size")
    func senderSetIsNoRecipient() throws {
        let published = try TestSenderSet.keyset(2, .at(0, expires: 1)).jwkSet(withHistory: false)
        expectKeyError(.wrongKind) { try Recipient(jwk: published) }
    }

    @Test("a public key is refused for opening", arguments: ["p256", "x25519"])
    func openingNeedsThePrivateKey(name: String) throws {
        let keyset = try TestJWK.named(name).withoutPrivateKey.keyset()
        expectKeyError(.wrongKind) { try RecipientKey(keyset.entries[0]) }
    }

    @Test("a key that demands a psk throws pskMissing without it", arguments: ["p256 psk", "x25519 psk"])
    func pskIsMissing(name: String) throws {
        let entries = try [Keyset.Entry(TestJWK.named(name).record(), .at(0))]
        let published = try Keyset(entries).publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
        expectKeyError(.pskMissing) { try Recipient(jwk: published) }
        expectKeyError(.pskMissing) { try Keyset(json: published).recipient(at: UnixTime(0)) }
        let stripped = try Keyset.Entry(TestJWK.named(name).with("psk", nil).record(), .at(0), demandsPSK: true)
        expectKeyError(.pskMissing) { try RecipientKey(stripped) }
    }

    @Test(
        "a device id names a public key without changing it", arguments: ["p256", "p256 psk", "x25519", "x25519 psk"])
    func deviceNamesAPublicKey(name: String) throws {
        let jwk = TestJWK.named(name).withoutPrivateKey
        let entry = try jwk.keyset().entries[0]
        let recipient = try Recipient(entry, device: DeviceID("a"))
        #expect(try recipient.device == DeviceID("a") && Recipient(entry).device == nil)
        #expect(recipient.kid.description == jwk.text("kid"))
        // The record itself has no such member.
        expectKeyError(.malformed) { try Recipient(jwk: jwk.with("device", "\"a\"").json.utf8) }
    }

    @Test("a device id doesn't make an unsuitable key acceptable")
    func deviceNamesNoOtherKey() throws {
        for name in ["p256", "x25519 psk", "sender"] {
            let entry = try TestJWK.named(name).keyset().entries[0]
            expectKeyError(.wrongKind) { try Recipient(entry, device: DeviceID("a")) }
        }
        let bare = try TestJWK.named("p256").withoutPrivateKey.record()
        expectKeyError(.pskMissing) {
            try Recipient(Keyset.Entry(bare, .at(0), demandsPSK: true), device: DeviceID("a"))
        }
    }

    @Test("a master with a device id makes that device's key")
    func deviceHasItsOwnSharedKey() throws {
        let (master, own) = (TestJWK.named("shared"), TestJWK.named("device"))
        let id = try DeviceID(own.text("device"))
        for jwk in [master, own] {
            let recipient = try Recipient(jwk.keyset().entries[0], device: id)
            #expect(recipient.device == id && recipient.kid.description == own.text("kid"))
        }
        #expect(try Recipient(master.keyset().entries[0]).device == nil)
        #expect(try Recipient(own.keyset().entries[0]).device == id)
        expectKeyError(.wrongDevice) { try Recipient(own.keyset().entries[0], device: DeviceID("tablet-2")) }
    }

    @Test("a set of several keys makes a recipient only by time")
    func severalKeys() throws {
        let keyset = try TestKeysets.keyset([.at(0), .at(1)])
        let json = try keyset.jwkSet(withHistory: false)
        expectKeyError(.malformed) { try Recipient(jwk: json) }
        #expect(try keyset.recipient(at: UnixTime(5)).kid == keyset.keyIDs[1])
        #expect(try keyset.recipient(at: UnixTime(0)).kid == keyset.keyIDs[0])
        expectKeyError(.noKeySeals) { try keyset.recipient(at: UnixTime(-1)) }
    }

    @Test("a sender's private key signs, and a public one throws wrongKind")
    func senderKey() throws {
        let jwk = TestJWK.named("sender")
        #expect(try SenderKey(jwk: jwk.json.utf8).kid.description == jwk.text("kid"))
        #expect(try jwk.keyset().senderKey(at: UnixTime(0)).kid.description == jwk.text("kid"))
        expectKeyError(.wrongKind) { try SenderKey(jwk: jwk.withoutPrivateKey.json.utf8) }
        for name in ["p256", "x25519 psk", "shared", "device"] {
            expectKeyError(.wrongKind) { try SenderKey(jwk: TestJWK.named(name).json.utf8) }
        }
    }

    @Test("a set of several sender keys signs with its primary")
    func severalSenderKeys() throws {
        let entries = try [("sender", 0), ("other sender", 10)].map { name, activation in
            Keyset.Entry(try TestJWK.named(name).record(), .at(activation))
        }
        let keyset = try Keyset(entries)
        expectKeyError(.malformed) { try SenderKey(jwk: keyset.jwkSet(withHistory: false)) }
        #expect(try keyset.senderKey(at: UnixTime(9)).kid == keyset.keyIDs[0])
        #expect(try keyset.senderKey(at: UnixTime(10)).kid == keyset.keyIDs[1])
        expectKeyError(.noKeySeals) { try keyset.senderKey(at: UnixTime(-1)) }
    }

    @Test(
        "a set of keys that aren't senders' throws wrongKind as trusted senders",
        arguments: ["p256", "x25519", "shared", "device"])
    func onlySendersAreTrusted(name: String) throws {
        let keyset = try TestJWK.named(name).keyset()
        expectKeyError(.wrongKind) { try TrustedSenders(keyset) }
    }

    @Test("only 1 to 4 are numbers of suites")
    func suiteNumbers() {
        #expect((0...255).filter { PushCryptCore.Suite(rawValue: UInt8($0)) != nil } == [1, 2, 3, 4])
        #expect([Suite.p256, .x25519, .xWing, .shared].map(\.rawValue) == [1, 2, 3, 4])
    }
}
