import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Signed sets of sender keys. App and extension are processes that share the pins, and the system kills either at any time.
@Suite("SenderPins") struct SenderPinsTests {
    private let folder: TemporaryFolder
    private let pins: SenderPins

    init() throws {
        folder = try TemporaryFolder()
        pins = try Self.pins(folder)
    }

    private static func pins(_ folder: TemporaryFolder, epoch: Int64 = 1) throws -> SenderPins {
        try SenderPins(folder: folder.path + "/keys", publishers: .test(epoch: epoch), topic: TestPush.topic)
    }

    /// Why a push of the sender isn't opened; nil if it is.
    private func failure(of signer: String?) throws -> FailureClass? {
        try TestPush(signer: signer).opened(trusting: .pinned(pins)).failure
    }

    private func edit(_ change: (String) throws -> String) throws {
        let file = folder.file("keys/\(TestSenderSet.file)")
        try Data(change(String(contentsOf: file, encoding: .utf8)).utf8).write(to: file)
    }

    @Test("a set that either pinned publisher signed is accepted once, and pushes of its senders open")
    func accepted() throws {
        #expect(try pins.version() == nil && !pins.discardDamaged())
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        #expect(try pins.accept(TestSenderSet().document(), at: TestPush.now))
        #expect(try !pins.accept(TestSenderSet().document(), at: TestPush.now))
        #expect(try failure(of: "sender") == nil)
        #expect(try failure(of: "other sender") == .unknownKey)
        #expect(try failure(of: nil) == .undecryptable)
        let second = TestSenderSet(keys: TestSenderSet.other, sequence: 2)
        #expect(try pins.accept(second.document(by: .next), at: TestPush.now))
        #expect(try failure(of: "other sender") == nil)
        #expect(try folder.names(in: "keys") == [TestSenderSet.file])
        #expect(try folder.mode(of: "keys/\(TestSenderSet.file)") == 0o600)
    }

    @Test("an app update with a higher epoch accepts its set although the stored one of the earlier epoch was damaged")
    func damagedBeforeTheUpdate() throws {
        try pins.accept(TestSenderSet().document(), at: TestPush.now)
        try edit { $0.replacing(/"document": "[^"]*"/, with: #""document": "AAAA""#) }
        #expect(throws: DeviceKeyError.self) { try pins.version() }
        let updated = try Self.pins(folder, epoch: 2)
        #expect(try updated.version() == nil)
        #expect(try updated.accept(TestSenderSet(epoch: 2).document(), at: TestPush.now))
    }

    @Test("a state whose epoch was raised without its document is damaged", arguments: [1, 2, 3] as [Int64])
    func raisedEpoch(pinned: Int64) throws {
        try Self.pins(folder, epoch: 2).accept(TestSenderSet(epoch: 2).document(), at: TestPush.now)
        try edit { $0.replacing("\"epoch\": 2", with: "\"epoch\": 9") }
        let pins = try Self.pins(folder, epoch: pinned)
        let document = try TestSenderSet(epoch: pinned).document()
        expectDeviceKeyError(.damaged) { try pins.version() }
        expectDeviceKeyError(.damaged) { try pins.accept(document, at: TestPush.now) }
        #expect(try pins.discardDamaged())
        #expect(try pins.accept(document, at: TestPush.now))
    }

    @Test("a version of the app with a lower epoch accepts no set and trusts no sender: rolledBack, unknownKey")
    func lowerEpoch() throws {
        let second = try Self.pins(folder, epoch: 2)
        try second.accept(TestSenderSet(epoch: 2).document(), at: TestPush.now)
        #expect(try pins.version() == nil)
        #expect(throws: FailureClass.unknownKey) { try pins.trustedSenders() }
        expectDeviceKeyError(.rolledBack) { try pins.accept(TestSenderSet(sequence: 9).document(), at: TestPush.now) }
        #expect(try !pins.discardDamaged())
        #expect(try second.version()?.sequence == 1)
    }

    @Test("version has the epoch, the seq and the SHA-256 of the payload of the accepted set")
    func version() throws {
        let document = try TestSenderSet(sequence: 7).document()
        try pins.accept(document, at: TestPush.now)
        let payload = try #require(Base64URL.decode(Array(document.member("payload").utf8)[...]))
        let digest = try Backends.openSSL.backend.sha256(payload.bytes)
        let version = try #require(try pins.version())
        #expect(version.epoch == 1 && version.sequence == 7 && version.digest == digest)
        #expect(version.json.text == #"{"epoch":1,"seq":7,"digest":"\#(Base64URL.encode(digest))"}"#)
    }

    @Test("the pins of a bundle are read from JSON, and a sender's key or another topic form is refused")
    func bundle() throws {
        let json = try SenderSetPins.test().json
        let read = try SenderPins(
            folder: folder.path + "/keys", publishers: SenderSetPins(json: json), topic: TestPush.topic)
        #expect(try read.accept(TestSenderSet().document(), at: TestPush.now))
        let sender = ReferenceVectors.shared.publicJWK("sender").text
        let text = #"{"publishers":[\#(sender)],"set":"BwcHBwcHBwcHBwcHBwcHBw","epoch":1}"#
        expectKeyError(.wrongKind) { try SenderSetPins(json: Array(text.utf8)) }
        expectKeyError(.invalidTopic) { try SenderPins(folder: folder.path, publishers: .test(), topic: "com example") }
    }

    @Test("the largest state that can be accepted fits into its file: 4,096 revoked keys and a document of 256 KiB")
    func largestState() throws {
        try pins.accept(TestSenderSet().document(), at: TestPush.now)
        var random = SplitMix64(seed: 3)
        let thumbprints = (0..<4_096).map { _ in "\"\(Base64URL.encode(random.bytes(32)))\"" }
        try edit { $0.replacing("[]", with: "[\(thumbprints.joined(separator: ", "))]") }
        let next = try TestSenderSet(sequence: 2).document()
        let padded = next + [UInt8](repeating: UInt8(ascii: " "), count: 262_144 - next.count)
        #expect(try pins.accept(padded, at: TestPush.now))
        #expect(try pins.version()?.sequence == 2)
        #expect(try failure(of: "sender") == nil)
        let third = TestSenderSet(keys: [("sender", .revoked(at: UnixTime(1)))], sequence: 3)
        expectDeviceKeyError(.unsuitable) { try pins.accept(third.document(), at: TestPush.now) }
        #expect(try pins.version()?.sequence == 2)
    }

    @Test("a state that is too long for its file is refused, and the file is kept: unsuitable")
    func tooLong() throws {
        try pins.accept(TestSenderSet().document(), at: TestPush.now)
        let bytes = [UInt8](repeating: UInt8(ascii: " "), count: KeyFolder.maximumByteCount + 1)
        expectDeviceKeyError(.unsuitable) {
            try KeyFolder(folder.path + "/keys").replace(TestSenderSet.file, with: bytes)
        }
        #expect(try pins.version()?.sequence == 1)
    }

    @Test("pins in the folder of the keys are none of the keys, and stay when these are erased")
    func besideKeys() throws {
        try pins.accept(TestSenderSet().document(), at: TestPush.now)
        let keyring = FileKeyring(folder: folder.path + "/keys")
        #expect(try keyring.keyIDs() == [])
        let record = try DeviceIdentity(storage: keyring).makeIfNeeded()
        #expect(try keyring.keyIDs() == [record.kid])
        try DeviceIdentity(storage: keyring).eraseAll()
        #expect(try keyring.keyIDs() == [])
        #expect(try pins.version()?.sequence == 1)
    }

    private static let setCount: Int64 = 40

    /// Writes the pins, and sets of which every second one revokes the other sender's key, for processes.
    private func writeSets() throws {
        try Data(SenderSetPins.test().json).write(to: folder.file("pins.json"))
        for sequence in 1...Self.setCount {
            let other = sequence % 2 == 0 ? KeyLifecycle.revoked(at: TestPush.now) : .always
            let set = TestSenderSet(keys: [("sender", .always), ("other sender", other)], sequence: sequence)
            try Data(set.document()).write(to: folder.file("\(sequence).json"))
        }
    }

    @Test("after any kill the state is the old or the new one, and the next set is accepted")
    func killed() throws {
        try writeSets()
        let killCount = LongTests.value(60, short: 20)
        var random = SplitMix64(seed: 11)
        var (highest, midway): (Int64, Int) = (0, 0)
        for run in 1...killCount {
            let command = try ExtensionCommand(["senders", folder.path, "forever", "", "\(TestPush.now.seconds)"])
            let lines = Int.random(in: 1...9, using: &random)
            while try command.lines().count < lines, try !command.hasComplained() { sched_yield() }
            command.process.kill()
            #expect(try command.process.wait() == .signal(SIGKILL))
            let complaint = try command.complaint()
            try #require(complaint.isEmpty)
            let reported = try command.lines().compactMap { Int64($0) }.max() ?? 0
            midway += try folder.names(in: "keys").filter { $0.contains(".new-") }.count
            let version = try #require(try pins.version(), "run \(run)")
            #expect((reported...reported + 1).contains(version.sequence), "run \(run)")
            #expect(version.sequence > highest, "run \(run)")
            highest = version.sequence
            _ = try pins.trustedSenders()
        }
        #expect(try pins.accept(TestSenderSet(sequence: highest + 1).document(), at: TestPush.now))
        #expect(try folder.names(in: "keys") == [TestSenderSet.file])
        print("\(killCount) kills, \(midway) of them while the state was written, \(highest) sets")
    }

    @Test("two processes accept the same sets at once: each set is accepted once, and the last one stays")
    func race() throws {
        try writeSets()
        let arguments = ["senders", folder.path, "\(Self.setCount)", "2", "\(TestPush.now.seconds)"]
        let commands = try (0..<2).map { _ in try ExtensionCommand(arguments) }
        var accepted: [String] = []
        for command in commands {
            #expect(try command.process.wait() == .exit(0))
            accepted += try command.lines()
        }
        #expect(Set(accepted).count == accepted.count)
        #expect(accepted.contains("\(Self.setCount)"))
        for command in commands {
            let own = try command.lines().compactMap { Int64($0) }
            #expect(own == own.sorted())
        }
        #expect(try pins.version()?.sequence == Self.setCount)
        let other = try TestKeys.id("other sender")
        let senders = try pins.trustedSenders()
        #expect(throws: FailureClass.keyRevoked) { _ = try senders.verificationKey(other, at: TestPush.now) }
    }
}
