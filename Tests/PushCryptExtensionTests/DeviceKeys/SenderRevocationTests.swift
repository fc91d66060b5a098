import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// A sender key that any pinned set listed as revoked never verifies again.
@Suite("revocation of pinned sender keys") struct SenderRevocationTests {
    private static let always = KeyLifecycle(activatesAt: UnixTime(0))

    /// A published set of keys by their names.
    private static func published(_ sequence: Int64, _ keys: [String: KeyLifecycle]) throws -> [UInt8] {
        let entries = try keys.sorted { $0.key < $1.key }.map { name, lifecycle in
            Keyset.Entry(try TestKeys.keyset(name).entries[0].record, lifecycle)
        }
        return try Keyset(entries, sequence: sequence).publicKeyset(keepingPSK: false).jwkSet(withHistory: false)
    }

    private static func revoked(at time: UnixTime) -> KeyLifecycle {
        KeyLifecycle(activatesAt: UnixTime(0), revokedAt: time)
    }

    private let folder: TemporaryFolder
    private let pins: UnsignedSenderPins

    init() throws {
        folder = try TemporaryFolder()
        pins = UnsignedSenderPins(folder: folder.path + "/keys")
    }

    private func result(
        signedBy sender: String, at time: UnixTime = TestPush.now
    ) throws -> Result<OpenedPush, FailureClass> {
        let keyring = KeysetKeyring(try TestKeys.keyset("p256"))
        let payload = try TestPush(signer: sender).sealed()
        return try Opener(topic: TestPush.topic, keyring: keyring, senders: .pinned(pins)).open(payload, at: time)
    }

    /// Pins both keys, and then the first as revoked.
    private func revokeSender(at time: UnixTime = TestPush.now) throws {
        try pins.pinFirst(json: Self.published(1, ["sender": Self.always, "other sender": Self.always]))
        _ = try result(signedBy: "sender").get()
        try pins.update(json: Self.published(2, ["sender": Self.revoked(at: time), "other sender": Self.always]))
        try expectFailure(.keyRevoked) { try result(signedBy: "sender") }
    }

    @Test("a newer set that lists a revoked key as valid is pinned, and the key stays revoked")
    func listedAgain() throws {
        try revokeSender()
        #expect(try pins.update(json: Self.published(3, ["sender": Self.always, "other sender": Self.always])))
        try expectFailure(.keyRevoked) { try result(signedBy: "sender") }
        _ = try result(signedBy: "other sender").get()
        #expect(try pins.sequence() == 3)
    }

    @Test("a key that is revoked, then missing, then listed as valid stays revoked")
    func droppedBetween() throws {
        try revokeSender()
        #expect(try pins.update(json: Self.published(3, ["other sender": Self.always])))
        try expectFailure(.unknownKey) { try result(signedBy: "sender") }
        #expect(try pins.update(json: Self.published(4, ["sender": Self.always, "other sender": Self.always])))
        try expectFailure(.keyRevoked) { try result(signedBy: "sender") }
    }

    @Test("a newer set can't move a revocation into the future")
    func movedLater() throws {
        try revokeSender()
        let later = Self.revoked(at: TestPush.now + 365 * 86_400)
        #expect(try pins.update(json: Self.published(3, ["sender": later, "other sender": Self.always])))
        try expectFailure(.keyRevoked) { try result(signedBy: "sender") }
    }

    @Test("a revocation counts as soon as its set is pinned, even if the clock is behind its time")
    func clockBehind() throws {
        try revokeSender(at: TestPush.now + 60)
        try expectFailure(.keyRevoked) { try result(signedBy: "sender", at: TestPush.now) }
    }

    @Test("after forget a first set that lists a revoked key as valid leaves it revoked")
    func forgotten() throws {
        try revokeSender()
        try pins.forget()
        #expect(try pins.sequence() == nil)
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        expectDeviceKeyError(.notFound) { try pins.update(json: Self.published(9, ["sender": Self.always])) }
        #expect(try pins.pinFirst(json: Self.published(1, ["sender": Self.always, "other sender": Self.always])))
        try expectFailure(.keyRevoked) { try result(signedBy: "sender") }
        _ = try result(signedBy: "other sender").get()
    }

    @Test("revocations of the first set are remembered")
    func revokedFromTheStart() throws {
        try pins.pinFirst(json: Self.published(1, ["sender": Self.revoked(at: TestPush.now)]))
        try pins.update(json: Self.published(2, ["sender": Self.always]))
        try expectFailure(.keyRevoked) { try result(signedBy: "sender") }
    }

    @Test("forget keeps the readable revocations of a damaged set")
    func damagedSet() throws {
        try revokeSender()
        let stored = try String(contentsOf: folder.file("keys/senders.json"), encoding: .utf8)
        try write(stored.replacingOccurrences(of: #""seq": 2"#, with: #""seq": "2""#))
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        try pins.forget()
        #expect(try pins.pinFirst(json: Self.published(1, ["sender": Self.always])))
        try expectFailure(.keyRevoked) { try result(signedBy: "sender") }
    }

    @Test(
        "a file with unreadable revocations is damaged and no sender is trusted",
        arguments: [
            #""revoked": 0"#, #""revoked": [""]"#, #""revoked": ["AAAA"]"#, #""revoked": [1]"#, #""others": []"#,
        ])
    func damagedRevocations(_ member: String) throws {
        try pins.pinFirst(json: Self.published(1, ["sender": Self.always]))
        let stored = try String(contentsOf: folder.file("keys/senders.json"), encoding: .utf8)
        try write(stored.replacingOccurrences(of: #""revoked": []"#, with: member))
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        expectDeviceKeyError(.damaged) { try pins.update(json: Self.published(2, ["sender": Self.always])) }
    }

    @Test("another key with the id of a revoked key is refused")
    func sameName() throws {
        try revokeSender()
        try pins.update(json: Self.published(3, ["other sender": Self.always]))
        let thumbprint = Base64URL.encode(try TestKeys.keyset("sender").entries[0].record.thumbprint())
        // The first 8 bytes, which are the id, stay the same.
        let another =
            thumbprint.prefix(20) + (thumbprint.dropFirst(20).hasPrefix("A") ? "B" : "A") + thumbprint.dropFirst(21)
        let stored = try String(contentsOf: folder.file("keys/senders.json"), encoding: .utf8)
        try write(stored.replacingOccurrences(of: thumbprint, with: another))
        let again = try Self.published(4, ["sender": Self.always, "other sender": Self.always])
        expectDeviceKeyError(.conflict) { try pins.update(json: again) }
        #expect(try pins.sequence() == 3)
    }

    @Test("a set that is too long for the file is refused and the file is kept")
    func tooLong() throws {
        try pins.pinFirst(json: Self.published(1, ["sender": Self.always]))
        let bytes = [UInt8](repeating: UInt8(ascii: " "), count: (1 << 20) + 1)
        expectDeviceKeyError(.unsuitable) {
            try KeyFolder(folder.path + "/keys").replace("senders.json", with: bytes)
        }
        #expect(try pins.sequence() == 1)
    }

    @Test("set and revocations are in one file with mode 0600")
    func oneFile() throws {
        try revokeSender()
        #expect(try folder.names(in: "keys") == ["senders.json"])
        #expect(try folder.mode(of: "keys/senders.json") == 0o600)
    }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: folder.file("keys/senders.json"))
        try folder.setMode(0o600, of: "keys/senders.json")
    }
}
