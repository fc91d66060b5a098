import Foundation
import PushCryptExtension
import PushCryptTestSupport
import Testing

/// The attacker has a key that was good once: a former employee with a sender key that was rotated out, a thief with a
/// revoked key, a server that serves an old list of trusted senders. The phone's pins are files, as in an app.
@Suite("Attacks with keys that were good once") struct SenderAttackTests {
    private typealias Set = TestSenderSet

    private let folder = TemporaryFolder.make()
    private let phone = AttackedPhone(.init(key: "p256", isSigned: true))
    private var pins: UnsignedSenderPins { UnsignedSenderPins(folder: folder.path + "/pins") }

    /// A push that the named sender key signed, shown by an app that uses the pins.
    private func show(
        signedBy sender: String, at time: UnixTime = TestPush.now
    ) async throws -> DeliverySession.Delivery {
        let payload = try TestPush(signer: sender, json: AttackedPhone.secret).sealed()
        return try await phone.show(payload, at: time, senders: .pinned(pins))
    }

    @Test("a stranger signs a push: unknownKey, the app's own text")
    func stranger() async throws {
        try pins.pinFirst(json: Set().unsigned())
        expectOwnTextShown(try await show(signedBy: "other sender"), .unknownKey)
        expectSecretShown(try await show(signedBy: "sender"))
    }

    @Test("a rotated-out sender signs a push: keyExpired after its overlap, unknownKey when the set no longer lists it")
    func rotatedOut() async throws {
        let rotated = KeyLifecycle(activatesAt: UnixTime(0), retiresAt: TestPush.now - 100, expiresAt: TestPush.now)
        try pins.pinFirst(json: Set(keys: [("other sender", rotated), ("sender", .always)], sequence: 2).unsigned())
        expectOwnTextShown(try await show(signedBy: "other sender"), .keyExpired)
        expectSecretShown(try await show(signedBy: "sender"))
        try pins.update(json: Set(sequence: 3).unsigned())
        expectOwnTextShown(try await show(signedBy: "other sender"), .unknownKey)
    }

    @Test("a revoked sender signs a push: keyRevoked at any time of the phone's clock")
    func revokedSender() async throws {
        let revoked = Set(keys: [("other sender", .revoked(at: TestPush.now + 1_000)), ("sender", .always)])
        try pins.pinFirst(json: revoked.unsigned())
        for delay: Int64 in [-86_400 * 365 * 20, -1, 0, 999, 1_000, 86_400 * 365 * 20] {
            expectOwnTextShown(try await show(signedBy: "other sender", at: TestPush.now + delay), .keyRevoked)
        }
        expectSecretShown(try await show(signedBy: "sender"))
    }

    @Test("a later set lists a revoked sender as valid again: keyRevoked, also after forget and a new first set")
    func revokedSenderIsListedAgain() async throws {
        let revoked = Set(keys: [("other sender", .revoked(at: TestPush.now)), ("sender", .always)], sequence: 2)
        try pins.pinFirst(json: revoked.unsigned())
        try pins.update(json: Set(keys: Set.both, sequence: 3).unsigned())
        expectOwnTextShown(try await show(signedBy: "other sender"), .keyRevoked)
        try pins.forget()
        try pins.pinFirst(json: Set(keys: Set.other, sequence: 9).unsigned())
        expectOwnTextShown(try await show(signedBy: "other sender"), .keyRevoked)
    }

    @Test("a server rolls the list of trusted senders back: rolledBack, and the removed sender stays unknown")
    func rolledBackList() async throws {
        let old = try Set(keys: Set.both, sequence: 4).unsigned()
        try pins.pinFirst(json: old)
        try pins.update(json: Set(sequence: 5).unsigned())
        expectDeviceKeyError(.rolledBack) { try pins.update(json: old) }
        #expect(try !pins.pinFirst(json: old))
        expectDeviceKeyError(.conflict) { try pins.update(json: Set(keys: Set.both, sequence: 5).unsigned()) }
        #expect(try pins.sequence() == 5)
        expectOwnTextShown(try await show(signedBy: "other sender"), .unknownKey)
    }

    @Test("an attacker deletes or damages the pins: every push is refused, and none counts as unsigned")
    func damagedPins() async throws {
        try pins.pinFirst(json: Set().unsigned())
        let file = folder.file("pins/senders.json")
        let good = try Data(contentsOf: file)
        let unsigned = try TestPush(json: AttackedPhone.secret).sealed()
        for content in [Data("{}".utf8), good.dropLast(9), nil] {
            try FileManager.default.removeItem(at: file)
            if let content {
                try content.write(to: file)
                try folder.setMode(0o600, of: "pins/senders.json")
            }
            expectOwnTextShown(try await show(signedBy: "sender"), .unknownKey)
            expectOwnTextShown(try await phone.show(unsigned, senders: .pinned(pins)), .unknownKey)
        }
    }

    @Test("a push is sealed to a revoked key of the phone: keyRevoked, and the sender library refuses to seal to it")
    func revokedRecipient() async throws {
        let phone = AttackedPhone(.init(key: "p256", isSigned: false))
        let revoked = try TestKeys.keyset("p256", .revoked(at: TestPush.now - 1))
        expectOwnTextShown(try await phone.show(phone.push(), keys: revoked), .keyRevoked)
        expectKeyError(.noKeySeals) { try revoked.publicKeyset(keepingPSK: true).recipient(at: TestPush.now) }
        let sender = try TestKeys.keyset("sender", .revoked(at: TestPush.now - 1))
        expectKeyError(.noKeySeals) { try sender.senderKey(at: TestPush.now) }
    }
}
