import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Unsigned sets of sender keys. A key that any pinned set listed as revoked never verifies again. `SenderAttackTests` have
/// more of them.
@Suite("UnsignedSenderPins") struct UnsignedSenderPinsTests {
    private typealias Set = TestSenderSet
    private let folder = TemporaryFolder.make()
    private var pins: UnsignedSenderPins { UnsignedSenderPins(folder: folder.path + "/keys") }

    private static func set(
        _ sequence: Int64, _ keys: [(String, KeyLifecycle)] = [("sender", .always)]
    ) throws -> [UInt8] {
        try Set(keys: keys, sequence: sequence).unsigned()
    }

    /// Why a push of the sender isn't opened; nil if it is.
    private func failure(of signer: String?) throws -> FailureClass? {
        try TestPush(signer: signer).opened(trusting: .pinned(pins)).failure
    }

    private func stored() throws -> String {
        try String(contentsOf: folder.file("keys/senders.json"), encoding: .utf8)
    }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: folder.file("keys/senders.json"))
        try folder.setMode(0o600, of: "keys/senders.json")
    }

    @Test("before the first set and after forget no sender is trusted and update throws notFound")
    func none() throws {
        try pins.forget()
        for _ in 1...2 {
            #expect(try pins.sequence() == nil)
            #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
            expectDeviceKeyError(.notFound) { try pins.update(json: Self.set(9)) }
            try pins.pinFirst(json: Self.set(3))
            try pins.forget()
        }
    }

    @Test("pinFirst pins the first set only") func first() throws {
        #expect(try pins.pinFirst(json: Self.set(3)))
        #expect(try !pins.pinFirst(json: Self.set(9, Set.other)))
        #expect(try pins.sequence() == 3)
        #expect(try failure(of: "sender") == nil)
        #expect(try failure(of: "other sender") == .unknownKey)
        #expect(try failure(of: nil) == .undecryptable)
    }

    /// A set without a number contains one key and counts as number 0.
    @Test("update refuses a set with a lower number, and a single key in place of a set", arguments: [0, 1, 2, nil])
    func rollback(_ sequence: Int64?) throws {
        try pins.pinFirst(json: Self.set(3, Set.other))
        for keys in [Set().keys, Set.other] {
            let older = try sequence.map { try Self.set($0, keys) } ?? ReferenceVectors.shared.publicJWK("sender")
            expectDeviceKeyError(.rolledBack) { try pins.update(json: older) }
        }
        #expect(try pins.sequence() == 3)
        #expect(try failure(of: "sender") == .unknownKey)
    }

    @Test("a set with the number of the pinned set is accepted only if it has the same keys, in any order")
    func same() throws {
        try pins.pinFirst(json: Self.set(3, Set.both))
        #expect(try !pins.update(json: Self.set(3, Set.both)))
        #expect(try !pins.update(json: Self.set(3, Set.both.reversed())))
        expectDeviceKeyError(.conflict) { try pins.update(json: Self.set(3)) }
        let ended = KeyLifecycle(activatesAt: UnixTime(0), expiresAt: TestPush.now + 1)
        expectDeviceKeyError(.conflict) { try pins.update(json: Self.set(3, Set.both.map { ($0.0, ended) })) }
    }

    @Test("keys other than public sender keys are refused", arguments: ["p256", "shared", "device"])
    func kinds(_ name: String) throws {
        expectDeviceKeyError(.unsuitable) { try pins.pinFirst(json: Self.set(1, [(name, .always)])) }
        try pins.pinFirst(json: Self.set(1))
        expectDeviceKeyError(.unsuitable) { try pins.update(json: Self.set(2, [(name, .always)])) }
        let entries = [Keyset.Entry(try TestKeys.keyset("sender").entries[0].record, .always)]
        let withPrivateKey = try Keyset(entries, sequence: 2).jwkSet(withHistory: false)
        expectDeviceKeyError(.unsuitable) { try pins.update(json: withPrivateKey) }
        expectDeviceKeyError(.unsuitable) { try pins.update(json: Array("{".utf8)) }
        #expect(try pins.sequence() == 1)
    }

    @Test("update and pinFirst don't replace a damaged file, and after forget pinFirst pins a set")
    func damaged() throws {
        try pins.pinFirst(json: Self.set(3))
        try write("{")
        expectDeviceKeyError(.damaged) { try pins.update(json: Self.set(4)) }
        #expect(try !pins.pinFirst(json: Self.set(4)))
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        try pins.forget()
        #expect(try pins.sequence() == nil)
        #expect(try pins.pinFirst(json: Self.set(2)))
        #expect(try pins.sequence() == 2)
    }

    @Test("the pins may be in the same folder as the keys") func besideKeys() throws {
        try pins.pinFirst(json: Self.set(3))
        let keyring = FileKeyring(folder: folder.path + "/keys")
        #expect(try keyring.keyIDs() == [])
        let record = try DeviceIdentity(storage: keyring).makeIfNeeded()
        #expect(try keyring.keyIDs() == [record.kid])
        try DeviceIdentity(storage: keyring).eraseAll()
        #expect(try pins.sequence() == 3)
    }

    /// Pins both keys, and then the first as revoked.
    private func revokeSender() throws {
        #expect(try pins.pinFirst(json: Self.set(1, Set.both)))
        #expect(try failure(of: "sender") == nil)
        #expect(try pins.update(json: Self.set(2, [("sender", .revoked(at: TestPush.now))] + Set.other)))
        #expect(try failure(of: "sender") == .keyRevoked)
    }

    private static let relistings: [(String, [[(String, KeyLifecycle)]])] = [
        ("listed as valid", [Set.both]), ("missing, and then listed as valid", [Set.other, Set.both]),
        ("revoked later", [[("sender", .revoked(at: TestPush.now + 365 * 86_400))] + Set.other]),
    ]

    @Test("newer sets are pinned, and a key that was revoked once stays revoked", arguments: relistings)
    func revoked(_ how: String, _ sets: [[(String, KeyLifecycle)]]) throws {
        try revokeSender()
        for (keys, sequence) in zip(sets, Int64(3)...) {
            #expect(try pins.update(json: Self.set(sequence, keys)))
            #expect(try pins.sequence() == sequence)
            #expect(try failure(of: "sender") == (keys.count == 2 ? .keyRevoked : .unknownKey))
            #expect(try failure(of: "other sender") == nil)
        }
        #expect(try folder.names(in: "keys") == ["senders.json"])
        #expect(try folder.mode(of: "keys/senders.json") == 0o600)
    }

    @Test("forget keeps the readable revocations of a damaged set")
    func damagedSet() throws {
        try revokeSender()
        try write(stored().replacingOccurrences(of: #""seq": 2"#, with: #""seq": "2""#))
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        try pins.forget()
        #expect(try pins.pinFirst(json: Self.set(1)))
        #expect(try failure(of: "sender") == .keyRevoked)
    }

    @Test(
        "a file with unreadable revocations is damaged and no sender is trusted",
        arguments: [
            #""revoked": 0"#, #""revoked": [""]"#, #""revoked": ["AAAA"]"#, #""revoked": [1]"#, #""others": []"#,
        ])
    func damagedRevocations(_ member: String) throws {
        try pins.pinFirst(json: Self.set(1))
        try write(stored().replacingOccurrences(of: #""revoked": []"#, with: member))
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        expectDeviceKeyError(.damaged) { try pins.update(json: Self.set(2)) }
    }

    @Test("another key with the id of a revoked key is refused")
    func sameName() throws {
        try revokeSender()
        try pins.update(json: Self.set(3, Set.other))
        let thumbprint = Base64URL.encode(try TestKeys.keyset("sender").entries[0].record.thumbprint())
        // The first 8 bytes, which are the id, stay the same.
        let another =
            thumbprint.prefix(20) + (thumbprint.dropFirst(20).hasPrefix("A") ? "B" : "A") + thumbprint.dropFirst(21)
        try write(stored().replacingOccurrences(of: thumbprint, with: another))
        expectDeviceKeyError(.conflict) { try pins.update(json: Self.set(4, Set.both)) }
        #expect(try pins.sequence() == 3)
    }

    @Test("a set that is too long for the file is refused and the file is kept")
    func tooLong() throws {
        try pins.pinFirst(json: Self.set(1))
        let bytes = [UInt8](repeating: UInt8(ascii: " "), count: (1 << 20) + 1)
        expectDeviceKeyError(.unsuitable) { try KeyFolder(folder.path + "/keys").replace("senders.json", with: bytes) }
        #expect(try pins.sequence() == 1)
    }
}
