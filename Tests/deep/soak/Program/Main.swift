import Foundation
import PushCryptCore

/// Runs the workers and prints a line each minute. See Tests/deep/soak/run.
@main struct Soak {
    static func main() throws {
        let options = try Options(CommandLine.arguments.dropFirst())
        let place = try SoakPlace(folder: options.folder, tool: options.tool)
        let tally = Tally()
        let memory = MemoryCheck(growthLimitInMiB: options.growthInMiB)
        let isDone = Flag()
        let workers = (0..<max(2, ProcessInfo.processInfo.activeProcessorCount)).map { number in
            Thread.started {
                var worker = SealAndOpen(place, tally, seed: UInt64(number))
                switch options.length {
                case .minutes: worker.run(until: isDone)
                case .messages(let count): worker.run(count: count, until: isDone)
                }
            }
        }
        let operations =
            options.length.isInMinutes
            ? [Thread.started { place.rotateAndRunBatches(until: isDone, tally) }] : []
        let start = ContinuousClock.now
        while workers.contains(where: { !$0.hasEnded.isSet }) {
            if case .minutes(let minutes) = options.length, start.duration(to: .now) >= .seconds(60 * minutes) {
                isDone.set()
            }
            if tally.hasFailedTooOften { isDone.set() }
            Thread.sleep(forTimeInterval: 1)
            memory.check(after: start.duration(to: .now), length: options.length, tally)
        }
        isDone.set()
        while operations.contains(where: { !$0.hasEnded.isSet }) { Thread.sleep(forTimeInterval: 0.1) }
        memory.report(after: start.duration(to: .now), tally)
        let ways = Channel.all.map { "\($0): \(tally.count("\($0)"))" }
        say("channels: " + ways.joined(separator: ", "))
        // A run without them tests nothing, whatever the reason.
        let isMixed = options.length.isInMinutes
        let required = Channel.all.map { "\($0)" } + (isMixed ? ["rotations", "reloads", "batch lines"] : [])
        for name in required where tally.count(name) == 0 { tally.fail("the run has no \(name)") }
        for failure in tally.failures { say("FAILED: \(failure)") }
        let isFlat = memory.isWithinLimit
        say(tally.failures.isEmpty && isFlat ? "passed" : "failed: \(tally.failureCount) wrong results, \(memory)")
        exit(tally.failures.isEmpty && isFlat ? 0 : 1)
    }
}

/// Writes a line to stdout at once, also into a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

struct Options {
    enum Length {
        case minutes(Double)
        case messages(Int)

        var isInMinutes: Bool { if case .minutes = self { true } else { false } }
    }

    struct Usage: Error, CustomStringConvertible {
        let description = "usage: run [--minutes N | --messages N] [--growth MIB]"
    }

    private(set) var folder = "", tool = ""
    private(set) var length = Length.minutes(30)
    private(set) var growthInMiB = 16

    init(_ arguments: ArraySlice<String>) throws {
        var rest = arguments
        while let name = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Usage() }
            switch (name, Double(value)) {
            case ("--folder", _): folder = value
            case ("--tool", _): tool = value
            case ("--minutes", let minutes?) where minutes > 0: length = .minutes(minutes)
            case ("--messages", let count?) where count >= 1: length = .messages(Int(count))
            case ("--growth", let mebibytes?) where mebibytes > 0: growthInMiB = Int(mebibytes)
            default: throw Usage()
            }
        }
    }
}

/// The resident memory, which must stay within a bound of its highest value in the warm-up: the first tenth of the run, and
/// at least 20 seconds of a long one.
final class MemoryCheck: CustomStringConvertible {
    private let growthLimit: Int
    private var warmPeak = 0
    private var peak = 0
    private var nextReport = Duration.seconds(60)

    init(growthLimitInMiB: Int) { growthLimit = growthLimitInMiB << 20 }

    var isWithinLimit: Bool { peak <= warmPeak + growthLimit }
    var description: String {
        "peak \(peak >> 20) MiB, \(warmPeak >> 20) MiB in the warm-up, bound \(growthLimit >> 20) MiB above"
    }

    func check(after time: Duration, length: Options.Length, _ tally: Tally) {
        let resident = Self.residentByteCount
        peak = max(peak, resident)
        let isWarmingUp: Bool
        switch length {
        case .minutes(let minutes): isWarmingUp = time < .seconds(max(6 * minutes, min(20, 15 * minutes)))
        case .messages(let count): isWarmingUp = tally.operations < max(count / 10, 1)
        }
        if isWarmingUp { warmPeak = peak }
        guard time >= nextReport else { return }
        nextReport += .seconds(60)
        report(after: time, tally)
    }

    func report(after time: Duration, _ tally: Tally) {
        say("\(time.components.seconds) s: \(tally), resident \(Self.residentByteCount >> 10) KiB, \(self)")
    }

    /// In bytes, from `/proc/self/statm`.
    private static var residentByteCount: Int {
        let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii)
        let pages = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// What the workers did, and each result that was not the intended one.
final class Tally: @unchecked Sendable, CustomStringConvertible {
    // Unchecked: all state is under the lock.
    private let lock = NSLock()
    private var counts: [String: Int] = [:]
    private var wrong: [String] = []
    private var wrongCount = 0

    func add(_ names: String...) {
        lock.withLock { for name in names { counts[name, default: 0] += 1 } }
    }

    func add(_ count: Int, _ name: String) { lock.withLock { counts[name, default: 0] += count } }

    func fail(_ what: String) {
        lock.withLock {
            wrongCount += 1
            if wrong.count < 20 { wrong.append(what) }
        }
    }

    func count(_ name: String) -> Int { lock.withLock { counts[name] ?? 0 } }

    var operations: Int { count("sealed") }
    var failures: [String] { lock.withLock { wrong } }
    var failureCount: Int { lock.withLock { wrongCount } }
    /// The run stops then: a soak that can't seal would never reach its count of messages.
    var hasFailedTooOften: Bool { failureCount >= 100 }

    var description: String {
        let names = ["sealed", "opened", "refused", "rotations", "reloads", "batch lines"]
        return names.filter { count($0) > 0 }.map { "\(count($0)) \($0)" }.joined(separator: ", ")
            + ", \(failureCount) wrong"
    }
}

final class Flag: @unchecked Sendable {
    // Unchecked: the state is under the lock.
    private let lock = NSLock()
    private var value = false

    var isSet: Bool { lock.withLock { value } }
    func set() { lock.withLock { value = true } }
}

struct StartedThread {
    let hasEnded: Flag
}

extension Thread {
    static func started(_ body: @escaping @Sendable () -> Void) -> StartedThread {
        let ended = Flag()
        let thread = Thread {
            body()
            ended.set()
        }
        thread.start()
        return StartedThread(hasEnded: ended)
    }
}
