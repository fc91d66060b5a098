import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Two processes that use one store, in every order of their locks and system calls. One of them may be killed at each step.
@Suite("The replay store in every order", .enabled(if: StoreWalk.isPossible, "only Linux can replace system calls"))
struct StoreWalkTests {
    private static let walks: [(StoreWalk, long: Int, short: Int)] = [
        (.init(left: "x", right: "x"), 2, 1), (.init(left: "x", right: "x", isKilled: true), 1, 0),
        (.init(left: "x", right: "y", isKilled: true), 1, 0), (.init(left: "x", right: "x", hasFile: false), 1, 0),
        (.init(left: "x", right: "x", isKilled: true, hasFile: false), 1, 0),
    ]

    @Test("no message is shown twice or lost, and the latest iat is kept", arguments: walks)
    func store(_ walk: StoreWalk, long: Int, short: Int) throws {
        let extent = Interleavings.Extent.preemptions(LongTests.value(long, short: short))
        let processes = SteppedProcesses()
        let before = StoreFolder()
        _ = try before.store().rememberedIDs()
        let count = try Interleavings(extent).walk { try walk.run($0, processes, before) }
        print("replay store, \(walk.testDescription): \(count); \(extent)")
    }

    @Test("a push makes no call that waits for the disk, and uses no file after it is shown", arguments: [false, true])
    func systemCalls(hasFile: Bool) throws {
        let folder = StoreFolder()
        if hasFile { _ = try folder.store().rememberedIDs() }
        let processes = SteppedProcesses()
        let (first, second) = (StoreFolder.now.seconds, StoreFolder.now.seconds + 1)
        _ = try Interleavings(.preemptions(0)).walk { run in
            var steps: [Step] = []
            let job = SteppedProcesses.Job("one", "syncs \(folder.path) \(first) x@\(first) y@\(second)")
            let endings = try processes.run([job], run) { steps.append($0) }
            #expect(endings == ["one": .done("0")])
            #expect(steps.last?.label == "shows y")
            let push = steps.drop { $0.label != "shows x" }
            let locks = push.count { $0.label.hasPrefix("lock") || $0.label.hasPrefix("unlock") }
            print(
                "one push: \(push.count) system calls that change or look for files, of which \(locks) lock or unlock")
            #expect(locks <= 24)
        }
    }

    @Test("a store that reads and writes its file without a lock is found showing a message twice")
    func brokenStore() throws {
        let processes = SteppedProcesses()
        let violation = try Interleavings.simplestViolation { run in
            let folder = try TemporaryFolder()
            let jobs = ["left", "right"].map { SteppedProcesses.Job($0, "claim-unlocked \(folder.path)/seen x") }
            let endings = try processes.run(jobs, run)
            try require(Set(endings.values).count == 2, "the message was shown twice")
        }
        let found = try #require(violation)
        #expect(found.steps.filter { $0.label == "shows x" }.map(\.actor) == ["left", "right"], "\(found)")
    }
}

/// The processes `left` and `right`, which receive messages at the same time.
struct StoreWalk: Sendable, CustomTestStringConvertible {
    let left: String
    let right: String
    /// Whether `left` is killed at each step.
    var isKilled = false
    var hasFile = true

    var testDescription: String {
        "\(left == right ? "the same message" : "two messages")\(isKilled ? ", one killed" : "")"
            + (hasFile ? "" : ", the first use")
    }

    #if os(Linux)
    static let isPossible = true
    #else
    static let isPossible = false
    #endif

    private static let issuedAt = ["x": StoreFolder.now, "y": StoreFolder.now + 5]

    /// - Parameter before: the store before the processes start.
    func run(_ run: Interleavings.Run, _ processes: SteppedProcesses, _ before: StoreFolder) throws {
        let folder = hasFile ? try before.copy() : StoreFolder()
        func message(_ id: String) -> String { "\(id)@\(Self.issuedAt[id]!.seconds)" }
        var shown: [String] = []
        let jobs = [folder.job("left", message(left), mayBeKilled: isKilled), folder.job("right", message(right))]
        let endings = try processes.run(jobs, run) { step in
            if step.label.hasPrefix("shows ") { shown.append(String(step.label.dropFirst(6))) }
        }
        try require(Set(shown).count == shown.count, "messages were shown twice: \(shown), \(endings)")
        try check(folder, shown, endings)
    }

    private func check(_ folder: StoreFolder, _ shown: [String], _ endings: [String: SteppedProcesses.Ending]) throws {
        let results = endings.values.flatMap { ending -> [Substring] in
            guard case .done(let result) = ending else { return [] }
            return result.split(separator: " ")
        }
        try require(
            results.allSatisfy { $0.hasSuffix("=shown") || $0.hasSuffix("=replayed") }, "a process failed: \(endings)")
        let next = folder.store()
        if !shown.isEmpty {
            let latest = try next.replayState().latest ?? 0
            let wanted = shown.compactMap { Self.issuedAt[$0]?.seconds }.max()!
            try require(latest >= wanted, "the latest iat is \(latest) and not \(wanted)")
        }
        for id in Set([left, right]).sorted() {
            // A process that was killed after it marked a message as seen and before it showed it has lost the message.
            let isSeen = try next.isSeen(id)
            try require(isSeen || endings["left"] == .killed, "\(id) was lost: \(endings)")
            try require(isSeen || !shown.contains(id), "\(id) was shown and isn't seen")
            let time = StoreFolder.now + ReplayMemory.claimLifetimeInSeconds
            try require(
                try next.claim(id, issuedAt: Self.issuedAt[id]!, at: time) == !isSeen,
                isSeen ? "\(id) is shown again" : "\(id) is lost after the kill")
        }
        if !isKilled { return }
        try require(try folder.integrity() == ["ok"], "the file is damaged")
    }
}

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

    @Test("an increment is counted once, and a retraction acts, despite any kill", arguments: walks)
    func effects(name: String, left: String, right: String?, long: Int, short: Int) throws {
        let before = StoreFolder()
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
            func messages(_ ids: String) -> String {
                ids.split(separator: " ").map { Self.messages["\($0)"]! }.joined(separator: " ")
            }
            var jobs = [folder.job("left", messages(left), mayBeKilled: true)]
            if let right { jobs.append(folder.job("right", messages(right))) }
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
        try require(badge == 18, "the badge is \(badge) and not 18")
        try require(due.contains("TARGET"), "the notification isn't removed: \(due)")
        var target = MessageStamp(name: "target", issuedAt: StoreFolder.now - 60, expiresAt: StoreFolder.now + 86_400)
        target.profile = 2
        let refusal = try store.claimInFile(target, at: StoreFolder.now.seconds + 300).refusal
        try require(refusal == .retracted, "the message is \(String(describing: refusal))")
    }
}

extension StoreFolder {
    /// A process that claims messages, which are written as `StoreJobs` reads them.
    fileprivate func job(_ name: String, _ messages: String, mayBeKilled: Bool = false) -> SteppedProcesses.Job {
        .init(name, "claim \(path) \(Self.now.seconds) \(messages)", mayBeKilled: mayBeKilled)
    }
}

/// `BrokenInvariant.require`, for short.
func require(_ holds: Bool, _ description: @autoclosure () throws -> String) throws {
    try BrokenInvariant.require(holds, description())
}
