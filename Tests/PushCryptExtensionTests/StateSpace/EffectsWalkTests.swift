import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Processes that deliver messages with effects at the same time. One of them is killed at each of its locks and system calls.
///
/// ```
/// before      `target` is on the screen, and the badge is 10
/// x           adds 3 to the badge and retracts `target`
/// y           adds 5 to the badge
/// afterwards  the messages are received again, twice, when all claims have lapsed
/// ```
@Suite("Effects of messages in every order", .enabled(if: StoreWalk.isPossible, "only Linux can replace system calls"))
struct EffectsWalkTests {
    private static let walks: [(name: String, left: String, right: String?, long: Int, short: Int)] = [
        ("one process", "x y", nil, 1, 1),
        ("two processes, the same messages", "x y", "x y", 1, 0),
        ("two processes, different messages", "x", "y", 1, 0),
    ]
    private static let messages = ["x": "x@1800000000+3@target", "y": "y@1800000005+5"]

    @Test(
        "an increment is counted once, and a retraction acts, although a process is killed at any step",
        arguments: walks)
    func effects(name: String, left: String, right: String?, long: Int, short: Int) throws {
        let before = try StoreFolder()
        var target = MessageStamp(name: "target", issuedAt: StoreFolder.now - 60, expiresAt: StoreFolder.now + 86_400)
        (target.profile, target.requestID) = (2, "TARGET")
        #expect(try before.store().claimInFile(target, at: StoreFolder.now.seconds).refusal == nil)
        _ = try before.store().record(DeliveryRecord(claim: target.claim, isShown: true))
        try before.store(.app).setBadge(10)
        let processes = SteppedProcesses()
        let extent = Interleavings.Extent.preemptions(LongTests.value(long, short: short))
        let killed = Locked(0)
        let count = try Interleavings(extent).walk { run in
            let folder = try before.copy()
            func job(_ name: String, _ ids: String, mayBeKilled: Bool = false) -> SteppedProcesses.Job {
                let messages = ids.split(separator: " ").map { Self.messages["\($0)"]! }.joined(separator: " ")
                return .init(
                    name, "claim \(folder.path) \(StoreFolder.now.seconds) \(messages)", mayBeKilled: mayBeKilled)
            }
            let jobs = [job("left", left, mayBeKilled: true)] + (right.map { [job("right", $0)] } ?? [])
            if try processes.run(jobs, run)["left"] == .killed { killed.withLock { $0 += 1 } }
            try Self.check(folder)
        }
        #expect(killed.withLock { $0 } > 0 || short == 0)
        print("effects, \(name): \(count); \(extent); killed \(killed.withLock { $0 }) times")
    }

    private static func check(_ folder: StoreFolder) throws {
        let store = folder.store()
        var due = Set<String>()
        for repetition in 1...2 {
            for (id, message) in messages {
                let issuedAt = id == "x" ? StoreFolder.now : StoreFolder.now + 5
                var stamp = MessageStamp(
                    name: id, issuedAt: issuedAt, expiresAt: issuedAt + MessageHeader.windowInSeconds)
                stamp.profile = 2
                stamp.effects = MessageEffects(
                    retractedNames: message.contains("@target") ? ["target"] : [], badge: .add(id == "x" ? 3 : 5))
                let clock = StoreFolder.now.seconds + Int64(repetition) * ReplayMemory.claimLifetimeInSeconds
                due.formUnion(try store.claimInFile(stamp, at: clock).dueRequestIDs)
            }
        }
        let badge = try store.badge()
        try BrokenInvariant.require(badge == 18, "the badge is \(badge) and not 18")
        try BrokenInvariant.require(due.contains("TARGET"), "the notification isn't removed: \(due)")
        var target = MessageStamp(
            name: "target", issuedAt: StoreFolder.now - 60, expiresAt: StoreFolder.now + 86_400)
        target.profile = 2
        let refusal = try store.claimInFile(target, at: StoreFolder.now.seconds + 300).refusal
        try BrokenInvariant.require(refusal == .retracted, "the message is \(String(describing: refusal))")
    }
}
