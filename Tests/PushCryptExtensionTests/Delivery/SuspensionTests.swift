import Foundation
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Sessions in up to three processes with one store, on a disk that is full at times. The processes are stopped at any time,
/// and suspended as the system does it, and continued or killed.
@Suite("Sessions in processes that are stopped and killed")
struct SuspensionTests {
    @Test("each session calls its handler once, shows no replay, and leaves no lock when its process is suspended")
    func sessions() throws {
        let count = LongTests.value(10_000, short: 200)
        let run = try SuspensionRun(seed: 1, count: count)
        try run.runAll()
        for violation in run.violations.prefix(20) { Issue.record("\(violation) (seed 1, \(count) sessions)") }
        #expect(run.violations.isEmpty)
        let store = try run.copyOfStore()
        let badge = try store.store().badge()
        #expect(badge == SuspensionRun.firstBadge + run.plan.badge)
        #expect(try store.integrity() == ["ok"])
        #expect(try store.store().statistics().rebuildCount == 0)
        print(run.summary)
    }
}

private final class SuspensionRun {
    static let firstBadge = 5_000
    let plan: SuspensionPlan
    private let folder = TemporaryFolder.make()
    /// nil where no file system can be mounted: then the disk is never full.
    private let disk: SmallDisk?
    private let memory = StoreFolder()
    private var random: SplitMix64
    private var history: SuspensionHistory
    private var processes: [SessionProcess] = []
    private var processCount = 0
    private var clock = TestPush.now
    private var (stopCount, suspensionCount, killCount) = (0, 0, 0)
    private var roundCounts: [SuspensionHistory.Round: Int] = [:]

    init(seed: UInt64, count: Int) throws {
        plan = try SuspensionPlan(seed: seed, count: count)
        random = SplitMix64(seed: ~seed)
        history = SuspensionHistory(plan)
        disk = FullDisk.isAvailable ? try SmallDisk(size: 8_192) : nil
        try plan.write(to: folder)
        try memory.store(.app).setBadge(Self.firstBadge)
        if let disk { try FileManager.default.copyItem(atPath: memory.path, toPath: disk.outerPath + "/store") }
    }

    private var store: String { disk.map { $0.path + "/store" } ?? memory.path }
    private var log: URL { folder.file("log") }
    var violations: [String] { history.violations }

    func copyOfStore() throws -> StoreFolder {
        guard let disk else { return memory }
        let copy = StoreFolder()
        try FileManager.default.copyItem(atPath: disk.outerPath + "/store", toPath: copy.path)
        return copy
    }

    var summary: String {
        """
        \(plan.sessions.count) sessions of \(plan.messages.count) messages: \
        \(history.handlerCounts.values.reduce(0, +)) handler calls \(history.outcomes.sorted { $0.key < $1.key }), \
        \(stopCount) stops, of which \(suspensionCount) as the system suspends, with a look for locks, \
        \(killCount) kills with \(history.killedSessionCount) sessions, \(processCount) processes, rounds \
        \(roundCounts.map { "\($0.key): \($0.value)" }.sorted()), shown again by the exceptions: \
        \(history.exceptionCount)
        """
    }

    func runAll() throws {
        var next = 0
        var number = 0
        while next < plan.count || !history.unfinished.isEmpty {
            let kinds: [SuspensionHistory.Round] = [.ordinary, .hasty, .ordinary, .full, .ordinary, .locked]
            var kind = kinds[number % kinds.count]
            if kind == .full, disk == nil { kind = .ordinary }
            let wanted = Int.random(in: 6...24, using: &random)
            var sessions = history.takeUnfinished()
            while sessions.count < wanted, next < plan.count {
                sessions.append(next)
                next += 1
            }
            try round(kind, sessions, isLast: false)
            number += 1
        }
        // A relay repeats every message.
        while next < plan.sessions.count {
            let sessions = Array(next..<min(next + 30, plan.sessions.count))
            try round(.ordinary, sessions, isLast: true)
            next += sessions.count
        }
        for process in processes { try process.kill() }
        history.finish()
    }

    /// The claims of earlier rounds have lapsed.
    private func round(_ kind: SuspensionHistory.Round, _ sessions: [Int], isLast: Bool) throws {
        clock = clock + 61
        roundCounts[kind, default: 0] += 1
        try append("test round \(kind.rawValue)")
        let count = Int.random(in: 1...3, using: &random)
        while processes.count < count {
            processCount += 1
            processes.append(
                try SessionProcess(
                    "p\(processCount)", folder: folder.path, store: store, prefix: disk?.entrance ?? []))
        }
        processes.shuffle(using: &random)
        let batches = batches(of: sessions, for: count, kind, isLast: isLast)
        let drivers = zip(processes, batches).map { process, batch in
            SuspensionDriver(process, batch, mayKill: !isLast, random: SplitMix64(seed: random.next()))
        }
        let probe = count == 1 && kind == .ordinary ? command("store-try '\(store)' probe") : nil
        if kind == .full { try disk?.fill(exceptPages: Int.random(in: 0...12, using: &random)) }
        let holder = kind == .locked ? try hold() : nil
        let isLocked = holder != nil
        if let holder {
            DispatchQueue.concurrentPerform(iterations: drivers.count) { drivers[$0].runToHandlers() }
            holder.process.kill()
            _ = try holder.process.wait()
        }
        DispatchQueue.concurrentPerform(iterations: drivers.count) { index in
            drivers[index].run(isStarted: isLocked, probe: probe)
        }
        for driver in drivers {
            try append("\(driver.process.name) \(driver.isKilled ? "killed" : "idle")")
            for violation in driver.violations { history.require(false, violation) }
            stopCount += driver.stopCount
            suspensionCount += driver.suspensionCount
            killCount += driver.isKilled ? 1 : 0
        }
        processes.removeAll { process in drivers.contains { $0.process === process && $0.isKilled } }
        if kind == .full { try disk?.makeRoom() }
        try history.read(log)
    }

    private func batches(
        of sessions: [Int], for count: Int, _ kind: SuspensionHistory.Round, isLast: Bool
    ) -> [String] {
        var words = [[String]](repeating: [], count: count)
        for (index, session) in sessions.enumerated() {
            let stage = (isLast ? ["none", "slow"] : SuspensionChoice.stages).randomElement(using: &random)!
            let moment = SuspensionChoice.moments.randomElement(using: &random)!
            history.expect(session, in: processes[index % count].name, stage: stage)
            words[index % count].append("\(session)/\(plan.sessions[session])/\(stage)/\(moment)")
        }
        let limit =
            switch kind {
            case .ordinary, .full: "none"
            case .hasty: "1"
            case .locked: "20"
            }
        return words.map { words in
            let width = kind == .locked ? max(words.count, 1) : Int.random(in: 1...4, using: &random)
            return "\(clock.seconds) \(width) \(limit) \(words.joined(separator: " "))"
        }
    }

    private func hold() throws -> RunningExtension {
        let lock = Bool.random(using: &random) ? "folder" : "database"
        let holder = try ExtensionProcess.start(script: command("store-hold '\(store)' \(lock)"))
        _ = holder.line()
        return holder
    }

    /// The shell's command line for a command of the tests' extension.
    private func command(_ words: String) -> String {
        "exec \((disk?.entrance ?? []).joined(separator: " ")) \"$EXTENSION\" \(words)"
    }

    /// Appends a line to the log, while no process writes to it.
    private func append(_ line: String) throws {
        let file = try FileHandle(forWritingTo: log)
        try file.seekToEnd()
        try file.write(contentsOf: Data("\(line)\n".utf8))
        try file.close()
    }
}

/// Runs the batch of one process in one round.
private final class SuspensionDriver: @unchecked Sendable {
    // Unchecked because of the variables, which one thread after the other uses.
    let process: SessionProcess
    private let batch: String
    private let mayKill: Bool
    private var random: SplitMix64
    private(set) var isKilled = false
    private(set) var (stopCount, suspensionCount) = (0, 0)
    private(set) var violations: [String] = []

    init(_ process: SessionProcess, _ batch: String, mayKill: Bool, random: SplitMix64) {
        (self.process, self.batch, self.mayKill, self.random) = (process, batch, mayKill, random)
    }

    /// Starts the batch and waits until each handler was called, while another process has the store locked.
    func runToHandlers() {
        catching {
            try process.begin(batch)
            // Before the first session an activity of the last round may end, after which the process is suspended again.
            while try process.line() != "handed" {}
        }
    }

    /// Runs the batch until the process is suspended after its last session, or killed.
    ///
    /// - Parameters:
    ///   - isStarted: whether the batch was started before.
    ///   - probe: a script that uses the store while the process is suspended, and prints `true` or `false`; nil if other
    ///     processes may have it locked.
    func run(isStarted: Bool, probe: String?) {
        catching {
            if !isStarted { try process.begin(batch) }
            while true {
                if Bool.random(using: &random) {
                    pause(nanoseconds: Int.random(in: 0...8_000_000, using: &random))
                    process.stop()
                }
                guard let lines = try process.linesAtStop() else {
                    isKilled = true
                    return violations.append("\(process.name) has ended")
                }
                let isIdle = lines.contains("idle")
                let isSuspended = isIdle || lines.contains("suspended")
                stopCount += 1
                suspensionCount += isSuspended ? 1 : 0
                if isSuspended { try checkLocks(probe) }
                if mayKill, Int.random(in: 0..<6, using: &random) == 0 {
                    isKilled = true
                    return try process.kill()
                }
                if isIdle { return }
                process.resume()
            }
        }
    }

    private func checkLocks(_ probe: String?) throws {
        let locks = try process.locks()
        if !locks.isEmpty { violations.append("\(process.name) has locks while it is suspended: \(locks)") }
        guard let probe else { return }
        let lines = try ExtensionProcess.shell(probe).lines
        if !lines.allSatisfy(["true", "false"].contains) || lines.isEmpty {
            violations.append("another process can't use the store while \(process.name) is suspended: \(lines)")
        }
    }

    private func catching(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            violations.append("\(process.name): \(error)")
        }
    }
}
