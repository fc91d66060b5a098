import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// What a key may be used for. `KeysetVectorTests` has what `Recipient(jwk:)`, `SenderKey` and `TrustedSenders` refuse.
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

    struct Refusal: Sendable, CustomStringConvertible {
        let description: String
        let code: KeyError.Code
        let use: @Sendable () throws -> Any

        init(_ description: String, _ code: KeyError.Code, _ use: @escaping @Sendable () throws -> Any) {
            (self.description, self.code, self.use) = (description, code, use)
        }
    }

    private static func entry(_ name: String) throws -> Keyset.Entry { try TestJWK.named(name).keyset().entries[0] }

    private static let start = UnixTime(0)
    private static let device = try! DeviceID("tablet-2")
    private static let bare = TestJWK.named("p256").withoutPrivateKey

    /// A recipient of a published set of one key.
    private static func alone(_ lifecycle: KeyLifecycle) throws -> Recipient {
        try Recipient(jwk: Keyset([Keyset.Entry(bare.record(), lifecycle)]).jwkSet(withHistory: true))
    }

    @Test(
        "a key that doesn't have the use is refused with its code",
        arguments: [
            Refusal("a private key seals", .wrongKind) { try TestJWK.named("p256").keyset().recipient(at: start) },
            Refusal("a sender's key seals", .wrongKind) { try TestJWK.named("sender").keyset().recipient(at: start) },
            Refusal("a published set of senders seals", .wrongKind) {
                try Recipient(jwk: TestSenderSet.keyset(2, .at(0, expires: 1)).jwkSet(withHistory: false))
            },
            Refusal("a destroyed key, alone in its set, seals", .noKeySeals) {
                try alone(KeyLifecycle(activatesAt: start, destroyedAt: start))
            },
            Refusal("a key without a time of activation, alone in its set, seals", .noKeySeals) {
                try alone(KeyLifecycle(createdAt: start))
            },
            Refusal("a key that activates in a century, alone in its set, seals", .noKeySeals) {
                try alone(KeyLifecycle(activatesAt: UnixTime(5_000_000_000)))
            },
            Refusal("a destroyed key, alone in its set, signs", .noKeySeals) {
                let lifecycle = KeyLifecycle(activatesAt: start, destroyedAt: start)
                let entry = Keyset.Entry(try TestJWK.named("sender").record(), lifecycle)
                return try SenderKey(jwk: Keyset([entry]).jwkSet(withHistory: true))
            },
            Refusal("a sender's key opens", .wrongKind) { try RecipientKey(entry("sender")) },
            Refusal("a public P-256 key opens", .wrongKind) { try RecipientKey(bare.keyset().entries[0]) },
            Refusal("a public X25519 key opens", .wrongKind) {
                try RecipientKey(TestJWK.named("x25519").withoutPrivateKey.keyset().entries[0])
            },
            Refusal("a key without the psk that its set demands seals", .pskMissing) {
                let entry = Keyset.Entry(try TestJWK.named("x25519 psk").record(), .at(0))
                let published = try Keyset([entry]).publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
                return try Keyset(json: published).recipient(at: start)
            },
            Refusal("a key without the psk that its set demands opens", .pskMissing) {
                let record = try TestJWK.named("p256 psk").with("psk", nil).record()
                return try RecipientKey(Keyset.Entry(record, .at(0), demandsPSK: true))
            },
            Refusal("a device id names a private key", .wrongKind) { try Recipient(entry("p256"), device: device) },
            Refusal("a device id names a sender's key", .wrongKind) { try Recipient(entry("sender"), device: device) },
            Refusal("a device id names a key without the psk that its set demands", .pskMissing) {
                try Recipient(Keyset.Entry(bare.record(), .at(0), demandsPSK: true), device: device)
            },
            Refusal("a device id names another device's key", .wrongDevice) {
                try Recipient(entry("device"), device: device)
            },
            Refusal("a key that isn't active yet seals", .noKeySeals) {
                try TestKeysets.keyset([.at(0), .at(1)]).recipient(at: UnixTime(-1))
            },
            Refusal("a key that isn't active yet signs", .noKeySeals) { try senders().senderKey(at: UnixTime(-1)) },
            Refusal("two keys without a time seal", .malformed) {
                try Recipient(jwk: TestKeysets.keyset([.at(0), .at(1)]).jwkSet(withHistory: false))
            },
            Refusal("two keys without a time sign", .malformed) {
                try SenderKey(jwk: senders().jwkSet(withHistory: false))
            },
        ])
    func refused(refusal: Refusal) { expectKeyError(refusal.code) { try refusal.use() } }

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

    @Test(
        "a device id names a public key without changing it", arguments: ["p256", "p256 psk", "x25519", "x25519 psk"])
    func deviceNamesAPublicKey(name: String) throws {
        let jwk = TestJWK.named(name).withoutPrivateKey
        let entry = try jwk.keyset().entries[0]
        let recipient = try Recipient(entry, device: DeviceID("a"))
        #expect(try recipient.device == DeviceID("a") && Recipient(entry).device == nil)
        #expect(recipient.kid.description == jwk.text("kid"))
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
    }

    private static func senders() throws -> Keyset {
        try Keyset(
            [("sender", 0), ("other sender", 10)].map { name, activation in
                Keyset.Entry(try TestJWK.named(name).record(), .at(activation))
            })
    }

    @Test("a set of several keys seals and signs with the primary of the time")
    func severalKeys() throws {
        let recipients = try TestKeysets.keyset([.at(0), .at(1)])
        #expect(try recipients.recipient(at: UnixTime(0)).kid == recipients.keyIDs[0])
        #expect(try recipients.recipient(at: UnixTime(5)).kid == recipients.keyIDs[1])
        let senders = try Self.senders()
        #expect(try senders.senderKey(at: UnixTime(9)).kid == senders.keyIDs[0])
        #expect(try senders.senderKey(at: UnixTime(10)).kid == senders.keyIDs[1])
    }

    /// `Recipient(jwk:)` and `SenderKey(jwk:)` have no time.
    @Test(
        "a single key with an end is refused as a recipient or sender key, and one without an end is accepted",
        arguments: [.at(0), .at(0, retires: 9), .at(0, expires: 9), .at(0, revoked: 9)] as [KeyLifecycle])
    func endingKey(_ lifecycle: KeyLifecycle) throws {
        func json(_ kind: KeyKind) throws -> [UInt8] {
            let record = try KeyRecord.generate(kind, backend: DefaultBackend.shared)
            let keyset = try Keyset([Keyset.Entry(record, lifecycle)], sequence: 1)
            return try (kind == .sender ? keyset : keyset.publicKeyset(keepingPSK: true)).jwkSet(withHistory: false)
        }
        let (recipient, sender) = (try json(.recipient), try json(.sender))
        if lifecycle == .at(0) {
            #expect(throws: Never.self) { try Recipient(jwk: recipient) }
            #expect(throws: Never.self) { try SenderKey(jwk: sender) }
        } else {
            #expect(throws: KeyError.self) { try Recipient(jwk: recipient) }
            #expect(throws: KeyError.self) { try SenderKey(jwk: sender) }
        }
    }
}
