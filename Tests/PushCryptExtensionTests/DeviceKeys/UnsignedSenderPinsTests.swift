import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptTestSupport
import Testing

@Suite("UnsignedSenderPins") struct UnsignedSenderPinsTests {
    private static let always = KeyLifecycle(activatesAt: UnixTime(0))

    /// A published set with the named keys.
    private static func published(
        _ names: [String], _ sequence: Int64, _ lifecycle: KeyLifecycle = always, isPublic: Bool = true
    ) throws -> [UInt8] {
        let entries = try names.map { name in
            Keyset.Entry(try TestKeys.keyset(name).entries[0].record, lifecycle)
        }
        let keyset = try Keyset(entries, sequence: sequence)
        return try (isPublic ? keyset.publicKeyset(keepingPSK: false) : keyset).jwkSet(withHistory: false)
    }

    private let folder: TemporaryFolder
    private let pins: UnsignedSenderPins

    init() throws {
        folder = try TemporaryFolder()
        pins = UnsignedSenderPins(folder: folder.path + "/keys")
    }

    private func result(of payload: [UInt8]) throws -> Result<OpenedPush, FailureClass> {
        let keyring = KeysetKeyring(try TestKeys.keyset("p256"))
        return try Opener(topic: TestPush.topic, keyring: keyring, senders: .pinned(pins))
            .open(payload, at: TestPush.now)
    }

    private func expectPinned(_ sequence: Int64?, location: SourceLocation = #_sourceLocation) throws {
        #expect(try pins.sequence() == sequence, sourceLocation: location)
    }

    @Test("before the first set no sender is trusted and update throws notFound") func none() throws {
        try expectPinned(nil)
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        expectDeviceKeyError(.notFound) { try pins.update(json: Self.published(["sender"], 9)) }
        try expectPinned(nil)
    }

    @Test("pinFirst pins the first set only") func first() throws {
        #expect(try pins.pinFirst(json: Self.published(["sender"], 3)))
        #expect(try !pins.pinFirst(json: Self.published(["other sender"], 9)))
        try expectPinned(3)
        _ = try result(of: TestPush(signer: "sender").sealed()).get()
        try expectFailure(.unknownKey) { try result(of: TestPush(signer: "other sender").sealed()) }
        try expectFailure(.undecryptable) { try result(of: TestPush().sealed()) }
        #expect(try folder.mode(of: "keys/senders.json") == 0o600)
    }

    @Test("update replaces the set by a newer one with its revocations") func newer() throws {
        try pins.pinFirst(json: Self.published(["sender"], 3))
        #expect(try pins.update(json: Self.published(["sender", "other sender"], 4)))
        _ = try result(of: TestPush(signer: "other sender").sealed()).get()
        let revoked = KeyLifecycle(activatesAt: UnixTime(0), revokedAt: UnixTime(1))
        #expect(try pins.update(json: Self.published(["sender"], 100, revoked)))
        try expectFailure(.keyRevoked) { try result(of: TestPush(signer: "sender").sealed()) }
        try expectPinned(100)
    }

    @Test("update refuses a set with a lower number", arguments: [0, 1, 2]) func rollback(_ sequence: Int64) throws {
        try pins.pinFirst(json: Self.published(["other sender"], 3))
        expectDeviceKeyError(.rolledBack) { try pins.update(json: Self.published(["sender"], sequence)) }
        expectDeviceKeyError(.rolledBack) { try pins.update(json: Self.published(["other sender"], sequence)) }
        try expectPinned(3)
        try expectFailure(.unknownKey) { try result(of: TestPush(signer: "sender").sealed()) }
    }

    /// A set without a number contains one key and counts as number 0.
    @Test("update refuses a single key in place of a set") func single() throws {
        try pins.pinFirst(json: Self.published(["sender"], 1))
        expectDeviceKeyError(.rolledBack) { try pins.update(json: ReferenceVectors.shared.publicJWK("sender")) }
    }

    @Test("a set with the number of the pinned set is accepted only if it has the same keys, in any order") func same()
        throws
    {
        try pins.pinFirst(json: Self.published(["sender", "other sender"], 3))
        #expect(try !pins.update(json: Self.published(["sender", "other sender"], 3)))
        #expect(try !pins.update(json: Self.published(["other sender", "sender"], 3)))
        expectDeviceKeyError(.conflict) { try pins.update(json: Self.published(["sender"], 3)) }
        let ended = KeyLifecycle(activatesAt: UnixTime(0), expiresAt: TestPush.now + 1)
        expectDeviceKeyError(.conflict) { try pins.update(json: Self.published(["sender", "other sender"], 3, ended)) }
    }

    @Test("keys other than public sender keys are refused", arguments: ["p256", "shared", "device"])
    func kinds(_ name: String) throws {
        expectDeviceKeyError(.unsuitable) { try pins.pinFirst(json: Self.published([name], 1)) }
        try pins.pinFirst(json: Self.published(["sender"], 1))
        expectDeviceKeyError(.unsuitable) { try pins.update(json: Self.published([name], 2)) }
        expectDeviceKeyError(.unsuitable) { try pins.update(json: Self.published(["sender"], 2, isPublic: false)) }
        expectDeviceKeyError(.unsuitable) { try pins.update(json: Array("{".utf8)) }
        try expectPinned(1)
    }

    @Test("update and pinFirst don't replace a damaged file, and after forget pinFirst pins a set") func damaged()
        throws
    {
        try pins.pinFirst(json: Self.published(["sender"], 3))
        try Data("{".utf8).write(to: folder.file("keys/senders.json"))
        try folder.setMode(0o600, of: "keys/senders.json")
        expectDeviceKeyError(.damaged) { try pins.update(json: Self.published(["sender"], 4)) }
        #expect(try !pins.pinFirst(json: Self.published(["sender"], 4)))
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        try pins.forget()
        try expectPinned(nil)
        #expect(try pins.pinFirst(json: Self.published(["sender"], 2)))
        try expectPinned(2)
    }

    @Test("after forget no sender is trusted, and without a pinned set forget does nothing") func forgotten() throws {
        try pins.forget()
        try pins.pinFirst(json: Self.published(["sender"], 3))
        try pins.forget()
        try pins.forget()
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
    }

    @Test("the pins may be in the same folder as the keys") func besideKeys() throws {
        try pins.pinFirst(json: Self.published(["sender"], 3))
        let keyring = FileKeyring(folder: folder.path + "/keys")
        #expect(try keyring.keyIDs() == [])
        let record = try DeviceIdentity(storage: keyring).makeIfNeeded()
        #expect(try keyring.keyIDs() == [record.kid])
        try DeviceIdentity(storage: keyring).eraseAll()
        try expectPinned(3)
    }
}
