import Foundation
import PushCryptExtension
import PushCryptTestSupport
import Testing

/// The attacker answers for the server that publishes the set of sender keys, and has a sender's key, or even a publisher's.
/// The app pins two publishers in its bundle.
@Suite("Attacks with signed sets of sender keys") struct SenderSetAttackTests {
    private typealias Set = TestSenderSet
    private let folder = TemporaryFolder.make()
    private let phone = AttackedPhone(.init(key: "p256", isSigned: true))
    private var path: String { folder.path + "/pins" }

    private func pins(_ bundle: SenderSetPins? = nil, graceInSeconds: Int64 = 0) throws -> SenderPins {
        try SenderPins(
            folder: path, publishers: bundle ?? .test(), topic: TestPush.topic, graceInSeconds: graceInSeconds)
    }

    private func accept(_ set: TestSenderSet, at time: UnixTime = TestPush.now) throws {
        #expect(try pins().accept(set.document(), at: time))
    }

    /// Expects that the device keeps the set that it has accepted.
    private func expectRefused(
        _ code: DeviceKeyError.Code, _ document: [UInt8], at time: UnixTime = TestPush.now,
        location: SourceLocation = #_sourceLocation
    ) throws {
        let before = try pins().version()
        expectDeviceKeyError(code, location: location) { try pins().accept(document, at: time) }
        #expect(try pins().version() == before, sourceLocation: location)
    }

    /// A push that the named sender key signed, shown by an app with these pins.
    private func show(
        signedBy sender: String, at time: UnixTime = TestPush.now, _ pins: SenderPins? = nil
    ) async throws -> DeliverySession.Delivery {
        let payload = try TestPush(signer: sender, json: AttackedPhone.secret).sealed()
        return try await phone.show(payload, at: time, senders: .pinned(try pins ?? self.pins()))
    }

    private static let twoSets = [Set(keys: Set.both, sequence: 4), Set(sequence: 5)]

    /// What a server offers to a phone that has accepted other sets before.
    private static let offers:
        [(String, after: [TestSenderSet], DeviceKeyError.Code, document: @Sendable () throws -> [UInt8])] = [
            (
                "a set that a thief signed with the listed sender's key", [Set()], .notSigned,
                { try Set(keys: Set.other, sequence: 2).document(by: TestPublisher(sender: "sender")) }
            ),
            ("an unsigned set", [Set()], .unsuitable, { try Set(sequence: 9).unsigned() }),
            ("an unsigned set, to a new phone", [], .unsuitable, { try Set(sequence: 9).unsigned() }),
            ("an old set, to a new phone", [], .expired, { try Set(issuedAt: TestPush.now - 60 * Set.day).document() }),
            ("an earlier set", twoSets, .rolledBack, { try twoSets[0].document() }),
            ("an earlier set, signed again", twoSets, .rolledBack, { try twoSets[0].document(by: .next) }),
            ("other keys with the same seq", [Set()], .conflict, { try Set(keys: Set.other).document() }),
            ("another validity with the same seq", [Set()], .conflict, { try Set(validForDays: 61).document() }),
            (
                "a set for another keyset", [Set()], .otherSet,
                { try Set(sequence: 2, id: [UInt8](repeating: 8, count: 16)).document() }
            ),
            ("a set for another app", [Set()], .otherSet, { try Set(sequence: 2, topics: ["com.other"]).document() }),
            ("a set of an earlier epoch", [Set()], .otherSet, { try Set(sequence: 2, epoch: 0).document() }),
            ("a set of a later epoch", [Set()], .otherSet, { try Set(sequence: 2, epoch: 2).document() }),
            ("a set that lists a publisher's key as a sender", [Set()], .unsuitable, publisherAsSender),
        ]

    /// The next publisher's tool can't see that the first one's key, under another role, is pinned by the app.
    @Sendable private static func publisherAsSender() throws -> [UInt8] {
        let publication = try SenderSetPublication(
            set: Set.id, topics: [Topic(TestPush.topic)], epoch: 1, sequence: 2, issuedAt: TestPush.now,
            validUntil: TestPush.now + Set.day)
        guard case .publisher(let key, _) = TestPublisher.first.record.material else { return [] }
        let asSender = try KeyRecord(.sender(publicKey: key, privateKey: nil), backend: DefaultBackend.shared)
        return try SignedSenderSet.sign(
            Keyset([Keyset.Entry(asSender, .always)]), publication, by: [TestPublisher.next.record])
    }

    @Test("a server offers a set that the phone refuses: the accepted set stays", arguments: offers)
    func refused(
        _ offer: String, after accepted: [TestSenderSet], _ code: DeviceKeyError.Code,
        _ document: @Sendable () throws -> [UInt8]
    ) async throws {
        for set in accepted { try accept(set) }
        try expectRefused(code, document())
        expectOwnTextShown(try await show(signedBy: "other sender"), .unknownKey)
        let delivery = try await show(signedBy: "sender")
        if accepted.isEmpty { expectOwnTextShown(delivery, .unknownKey) } else { expectSecretShown(delivery) }
    }

    @Test("a thief of a push-signing key can't sign a set that lists it: wrongKind")
    func thiefOfASenderKey() throws {
        let thief = try TestPublisher(sender: "sender")
        expectKeyError(.wrongKind) { try Set(keys: Set.both, sequence: 2).document(by: thief) }
    }

    @Test("an attacker stores a set without a signature in place of the signed one: every push is refused")
    func storedUnsignedSet() async throws {
        try accept(Set(sequence: 9))
        let file = folder.file("pins/\(TestSenderSet.file)")
        let stored = try String(contentsOf: file, encoding: .utf8)
        let unsigned = try Set(sequence: 9).unsigned()
        let member = #""document": "\#(Base64URL.encode(unsigned))""#
        let replaced = stored.replacing(/"document": "[^"]*"/, with: member)
        try #require(replaced != stored)
        for content in [Data(replaced.utf8), Data(unsigned)] {
            try content.write(to: file)
            expectOwnTextShown(try await show(signedBy: "sender"), .unknownKey)
            expectDeviceKeyError(.damaged) { try pins().version() }
        }
        #expect(try pins().discardDamaged())
        try accept(Set())
        expectSecretShown(try await show(signedBy: "sender"))
    }

    @Test("a set that another publisher signed, too, is the same one, and a set for several apps is accepted")
    func equalSets() throws {
        try accept(Set())
        #expect(try !pins().accept(Set().document(by: .next), at: TestPush.now))
        #expect(try pins().accept(Set(sequence: 2, topics: ["com.example.other", TestPush.topic]).document()))
    }

    @Test("a server serves an old set for ever: keyExpired from its validUntil on, and expired if it is offered again")
    func oldSetForEver() async throws {
        let old = Set()
        try accept(old)
        #expect(try !pins().accept(old.document(), at: old.validUntil - 1))
        try expectRefused(.expired, old.document(), at: old.validUntil)
        // A clock that is set back doesn't help: the accepted set has a time, too.
        let older = Set(sequence: 2, issuedAt: TestPush.now - 61 * Set.day)
        try expectRefused(.expired, older.document(), at: TestPush.now - 30 * Set.day)
        expectOwnTextShown(try await show(signedBy: "sender", at: old.validUntil), .keyExpired)
        expectOwnTextShown(try await show(signedBy: "sender", at: old.validUntil + 999 * Set.day), .keyExpired)
        let (json, clock) = (TestPush(signer: "sender", json: AttackedPhone.secret), old.validUntil + Set.day - 1)
        let result = try Opener(
            topic: TestPush.topic, keyring: KeysetKeyring(TestKeys.keyset("p256")),
            senders: .pinned(pins(graceInSeconds: Set.day)))
        // With a grace the sender's key is still good: only the push is too old.
        #expect(try result.open(json.sealed(), at: clock).failure == .expired)
        #expect(try result.open(json.sealed(), at: clock + 1).failure == .keyExpired)
    }

    @Test("an app update with a higher epoch outlives a stolen publisher key, even after a set with seq 2^53 - 1")
    func stolenPublisher() async throws {
        let last = UnixTime.protocolRange.upperBound
        try accept(Set(keys: [("sender", .revoked(at: UnixTime(1))), ("other sender", .always)], sequence: last))
        try expectRefused(.rolledBack, Set(sequence: 7).document(by: .next))
        expectOwnTextShown(try await show(signedBy: "sender"), .keyRevoked)
        let updated = try pins(.test([.next], epoch: 2))
        expectOwnTextShown(try await show(signedBy: "other sender", updated), .unknownKey)
        #expect(try updated.version() == nil)
        expectDeviceKeyError(.notSigned) {
            try updated.accept(Set(sequence: last, epoch: 2).document(by: .first), at: TestPush.now)
        }
        #expect(try updated.accept(Set(sequence: 0, epoch: 2).document(by: .next), at: TestPush.now))
        expectSecretShown(try await show(signedBy: "sender", updated))
        // The thief's set doesn't come back with an older version of the app.
        expectDeviceKeyError(.rolledBack) { try pins().accept(Set(sequence: last).document(), at: TestPush.now) }
    }

    @Test("an app update that only removes a stolen publisher: its set opens nothing, and the next publisher's does")
    func removedPublisher() async throws {
        try accept(Set(keys: Set.other, sequence: 3))
        let updated = try pins(.test([.next]))
        expectOwnTextShown(try await show(signedBy: "other sender", updated), .unknownKey)
        // The next publisher may sign the same set, or a later one.
        let same = Set(keys: Set.other, sequence: 3)
        #expect(try updated.accept(same.document(by: .next), at: TestPush.now))
        expectSecretShown(try await show(signedBy: "other sender", updated))
        expectDeviceKeyError(.rolledBack) { try updated.accept(Set(sequence: 2).document(by: .next), at: TestPush.now) }
        #expect(try updated.accept(Set(sequence: 4).document(by: .next), at: TestPush.now))
    }

    @Test(
        "a revoked key is dropped and listed again, with no revokedAt or a later one: keyRevoked at any clock",
        arguments: [KeyLifecycle.always, .revoked(at: TestPush.now + 365 * 86_400)])
    func relisted(_ lifecycle: KeyLifecycle) async throws {
        try accept(Set(keys: [("sender", .revoked(at: TestPush.now)), ("other sender", .always)], sequence: 2))
        try accept(Set(keys: Set.other, sequence: 3))
        expectOwnTextShown(try await show(signedBy: "sender"), .unknownKey)
        try accept(Set(keys: [("sender", lifecycle), ("other sender", .always)], sequence: 4))
        for delay in [-3_650 * Set.day, -1, 0, 59 * Set.day] {
            expectOwnTextShown(try await show(signedBy: "sender", at: TestPush.now + delay), .keyRevoked)
        }
        expectSecretShown(try await show(signedBy: "other sender"))
    }

    @Test("the clock is before a revokedAt: keyRevoked from the moment that the set was accepted")
    func revokedLater() async throws {
        try accept(Set(keys: Set.both))
        expectSecretShown(try await show(signedBy: "sender"))
        let revoking = Set(
            keys: [("sender", .revoked(at: TestPush.now + 1_000)), ("other sender", .always)], sequence: 2)
        try accept(revoking, at: TestPush.now - 3_650 * Set.day)
        for delay in [-3_650 * Set.day, 0, 999, 1_000] {
            expectOwnTextShown(try await show(signedBy: "sender", at: TestPush.now + delay), .keyRevoked)
        }
    }

    @Test("the user signs out and in again: the app can't forget the set, so an old one is rolledBack")
    func signedOutAndIn() async throws {
        try accept(Set(keys: [("sender", .revoked(at: TestPush.now))], sequence: 5))
        try DeviceIdentity(storage: FileKeyring(folder: path)).eraseAll()
        #expect(try !pins().discardDamaged())
        try expectRefused(.rolledBack, Set(sequence: 4).document())
        try accept(Set(sequence: 6))
        expectOwnTextShown(try await show(signedBy: "sender"), .keyRevoked)
    }

    @Test("the clock is set back before an expiresAt: keyExpired, by the accepted set's issuedAt and by shown messages")
    func clockSetBack() async throws {
        let ended = { (time: UnixTime) in KeyLifecycle(activatesAt: UnixTime(0), expiresAt: time) }
        let early = TestPush.now - 5 * Set.day
        let keys = [("sender", KeyLifecycle.always), ("other sender", ended(TestPush.now - 700))]
        try accept(Set(keys: keys, issuedAt: TestPush.now - 6 * Set.day), at: early)
        // A new phone has no other clock: the key is good, only the push is from its future.
        expectOwnTextShown(try await show(signedBy: "other sender", at: early), .notYetValid)
        // Two messages, a day of the clock apart, confirm the time of the first.
        expectSecretShown(try await show(signedBy: "sender"))
        expectSecretShown(try await show(signedBy: "sender", at: TestPush.now + Set.day))
        expectOwnTextShown(try await show(signedBy: "other sender", at: early), .keyExpired)
        // The set's own time needs no message.
        try accept(Set(keys: [("sender", ended(TestPush.now))], sequence: 2), at: early)
        let newPhone = AttackedPhone(.init(key: "p256", isSigned: true))
        let payload = try TestPush(signer: "sender", json: AttackedPhone.secret).sealed()
        expectOwnTextShown(try await newPhone.show(payload, at: early, senders: .pinned(pins())), .keyExpired)
    }

    @Test(
        "an attacker changes a member of the stored state: every push is refused, and no set is accepted until it is discarded",
        arguments: [
            (#""seq": 5"#, #""seq": 4"#), (#""seq": 5"#, #""seq": "5""#), (#""epoch": 1"#, #""epoch": 1.0"#),
            (#""digest": "[A-Za-z0-9_-]{6}"#, #""digest": "AAAAAA"#), (#""revoked": \["#, #""revoked": [], "more": ["#),
            (#""revoked": \["[A-Za-z0-9_-]{6}"#, #""revoked": ["AAAAAA"#),
            (#""revoked": \["#, #""revoked": ["AAAA", "#), (#""revoked": \["#, #""revoked": [1, "#),
            (#""revoked": \[[^\]]*\]"#, #""revoked": 0"#), (#""revoked": "#, #""others": "#),
            (#""document": ""#, #""document": "A"#), ("}", ""),
        ])
    func changedState(_ old: String, _ new: String) async throws {
        try accept(Set(keys: [("sender", .always), ("other sender", .revoked(at: UnixTime(1)))], sequence: 5))
        expectSecretShown(try await show(signedBy: "sender"))
        let file = folder.file("pins/\(TestSenderSet.file)")
        let stored = try String(contentsOf: file, encoding: .utf8)
        let changed = stored.replacing(try Regex(old), with: new)
        try #require(changed != stored)
        try Data(changed.utf8).write(to: file)
        expectOwnTextShown(try await show(signedBy: "sender"), .unknownKey)
        for sequence: Int64 in [5, 6] {
            expectDeviceKeyError(.damaged) { try pins().accept(Set(sequence: sequence).document(), at: TestPush.now) }
        }
        expectDeviceKeyError(.damaged) { try pins().version() }
        #expect(try pins().discardDamaged())
        #expect(try pins().version() == nil)
        try accept(Set(sequence: 5))
        expectSecretShown(try await show(signedBy: "sender"))
    }

    @Test("an attacker deletes the stored set: every push is refused, and none counts as unsigned")
    func deletedState() async throws {
        try accept(Set())
        try FileManager.default.removeItem(at: folder.file("pins/\(TestSenderSet.file)"))
        let unsigned = try TestPush(json: AttackedPhone.secret).sealed()
        expectOwnTextShown(try await show(signedBy: "sender"), .unknownKey)
        expectOwnTextShown(try await phone.show(unsigned, senders: .pinned(pins())), .unknownKey)
        try accept(Set())
        expectOwnTextShown(try await phone.show(unsigned, senders: .pinned(pins())), .undecryptable)
    }
}
