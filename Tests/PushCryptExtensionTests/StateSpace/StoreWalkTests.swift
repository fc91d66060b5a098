import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Two processes that use one store, in every order of their locks and system calls. One of them may be killed at each step.
@Suite("The replay store in every order", .enabled(if: StoreWalk.isPossible, "only Linux can replace system calls"))
struct StoreWalkTests {
    private static let walks: [(StoreWalk, long: Int, short: Int)] = [
        (.init(testDescription: "the same message", left: ["x"], right: ["x"]), 2, 1),
        (.init(testDescription: "the same message, one killed", left: ["x"], right: ["x"], isKilled: true), 1, 0),
        (.init(testDescription: "two messages, one killed", left: ["x"], right: ["y"], isKilled: true), 1, 0),
        (.init(testDescription: "the first use", left: ["x"], right: ["x"], hasFile: false), 1, 0),
        (
            .init(
                testDescription: "the first use, one killed", left: ["x"], right: ["x"], isKilled: true, hasFile: false),
            1, 0
        ),
    ]

    @Test("no message is shown twice or lost, and the latest iat is kept", arguments: walks)
    func store(_ walk: StoreWalk, long: Int, short: Int) throws {
        let extent = Interleavings.Extent.preemptions(LongTests.value(long, short: short))
        let processes = SteppedProcesses()
        let before = try StoreFolder()
        _ = try before.store().rememberedIDs()
        let count = try Interleavings(extent).walk { try walk.run($0, processes, before) }
        print("replay store, \(walk.testDescription): \(count); \(extent)")
    }

    @Test("a push makes no call that waits for the disk, and uses no file after it is shown", arguments: [false, true])
    func systemCalls(hasFile: Bool) throws {
        let folder = try StoreFolder()
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
            try BrokenInvariant.require(Set(endings.values).count == 2, "the message was shown twice")
        }
        let found = try #require(violation)
        #expect(found.steps.filter { $0.label == "shows x" }.map(\.actor) == ["left", "right"], "\(found)")
    }
}

/// The processes `left` and `right`, which receive messages at the same time.
struct StoreWalk: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let left: [String]
    let right: [String]
    /// Whether `left` is killed at each step.
    var isKilled = false
    /// Whether the store exists before.
    var hasFile = true

    #if os(Linux)
    static let isPossible = true
    #else
    static let isPossible = false
    #endif

    private static let issuedAt = ["x": StoreFolder.now, "y": StoreFolder.now + 5]

    /// - Parameter before: the store before the processes start.
    func run(_ run: Interleavings.Run, _ processes: SteppedProcesses, _ before: StoreFolder) throws {
        let folder = hasFile ? try before.copy() : try StoreFolder()
        func job(_ name: String, _ ids: [String], mayBeKilled: Bool = false) -> SteppedProcesses.Job {
            let messages = ids.map { "\($0)@\(Self.issuedAt[$0]!.seconds)" }.joined(separator: " ")
            return .init(
                name, "claim \(folder.path) \(StoreFolder.now.seconds) \(messages)", mayBeKilled: mayBeKilled)
        }
        var shown: [String] = []
        let jobs = [job("left", left, mayBeKilled: isKilled), job("right", right)]
        let endings = try processes.run(jobs, run) { step in
            if step.label.hasPrefix("shows ") { shown.append(String(step.label.dropFirst(6))) }
        }
        try BrokenInvariant.require(
            Set(shown).count == shown.count, "messages were shown twice: \(shown), \(endings)")
        try check(folder, shown, endings)
    }

    private func check(_ folder: StoreFolder, _ shown: [String], _ endings: [String: SteppedProcesses.Ending]) throws {
        let results = endings.values.flatMap { ending -> [Substring] in
            guard case .done(let result) = ending else { return [] }
            return result.split(separator: " ")
        }
        try BrokenInvariant.require(
            results.allSatisfy { $0.hasSuffix("=shown") || $0.hasSuffix("=replayed") }, "a process failed: \(endings)")
        let next = folder.store()
        if !shown.isEmpty {
            let latest = try next.replayState().latest ?? 0
            let wanted = shown.compactMap { Self.issuedAt[$0]?.seconds }.max()!
            try BrokenInvariant.require(latest >= wanted, "the latest iat is \(latest) and not \(wanted)")
        }
        for id in Set(left + right).sorted() {
            // A process that was killed after it marked a message as seen and before it showed it has lost the message.
            let isSeen = try next.isSeen(id)
            try BrokenInvariant.require(isSeen || endings["left"] == .killed, "\(id) was lost: \(endings)")
            try BrokenInvariant.require(isSeen || !shown.contains(id), "\(id) was shown and isn't seen")
            let time = StoreFolder.now + ReplayMemory.claimLifetimeInSeconds
            try BrokenInvariant.require(
                try next.claim(id, issuedAt: Self.issuedAt[id]!, at: time) == !isSeen,
                isSeen ? "\(id) is shown again" : "\(id) is lost after the kill")
        }
        if !isKilled { return }
        try BrokenInvariant.require(try folder.integrity() == ["ok"], "the file is damaged")
    }
}
