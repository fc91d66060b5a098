import Foundation
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// App and extension are processes that share the pins. The system kills either of them at any time.
@Suite("SenderPins in several processes") struct SenderPinsProcessTests {
    private static let killCount = LongTests.value(60, short: 20)
    private static let setCount: Int64 = 40

    private let folder: TemporaryFolder
    private let pins: SenderPins

    init() throws {
        folder = try TemporaryFolder()
        pins = try SenderPins(folder: folder.path + "/keys", publishers: .test(), topic: TestPush.topic)
        try Data(SenderSetPins.test().json).write(to: folder.file("pins.json"))
        // Every second set revokes the other sender's key.
        for sequence in 1...Self.setCount {
            let other = sequence % 2 == 0 ? KeyLifecycle.revoked(at: TestPush.now) : .always
            let set = TestSenderSet(keys: [("sender", .always), ("other sender", other)], sequence: sequence)
            try Data(set.document()).write(to: folder.file("\(sequence).json"))
        }
    }

    private func arguments(_ repetitions: Int) -> [String] {
        ["senders", folder.path, "\(Self.setCount)", "\(repetitions)", "\(TestPush.now.seconds)"]
    }

    @Test("after any kill the state is the old or the new one, and the next set is accepted")
    func killed() throws {
        var random = SplitMix64(seed: 11)
        var (highest, midway): (Int64, Int) = (0, 0)
        for run in 1...Self.killCount {
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
        print("\(Self.killCount) kills, \(midway) of them while the state was written, \(highest) sets")
    }

    @Test(
        "two processes accept the same sets at once: each set is accepted once, and the last one and its revocations stay"
    )
    func race() throws {
        let commands = try (0..<2).map { _ in try ExtensionCommand(arguments(2)) }
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
