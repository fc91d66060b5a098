/// Runs jobs in processes of their own, one step at a time. ``Interleavings`` chooses which process takes its next step, and
/// at which step one of them is killed with SIGKILL.
public final class SteppedProcesses {
    public struct Job {
        let name: String
        let command: String
        let mayBeKilled: Bool

        /// - Parameters:
        ///   - name: the actor in the steps.
        ///   - mayBeKilled: whether the walk also kills the process at each step.
        public init(_ name: String, _ command: String, mayBeKilled: Bool = false) {
            (self.name, self.command, self.mayBeKilled) = (name, command, mayBeKilled)
        }
    }

    public enum Ending: Hashable, Sendable {
        case done(String)
        case killed
    }

    public struct Deadlock: Error, CustomStringConvertible {
        public let description: String
    }

    private var idle: [SteppedProcess] = []

    public init() {}

    /// Runs the jobs to their ends.
    ///
    /// - Parameter observe: called after each step.
    /// - Returns: the endings by the names of the jobs.
    public func run(
        _ jobs: [Job], _ run: Interleavings.Run, observe: (Step) throws -> Void = { _ in }
    ) throws -> [String: Ending] {
        var running: [Running] = []
        for job in jobs {
            let process = try idle.popLast() ?? SteppedProcess()
            try process.begin(job.command)
            running.append(Running(job: job, process: process, report: try process.report()))
        }
        var endings: [String: Ending] = [:]
        var releaseCount = 0
        while !running.isEmpty {
            let enabled = running.flatMap { $0.enabled(releaseCount) }
            guard !enabled.isEmpty else {
                throw Deadlock(description: "each process waits: \(running.map(\.job.name))")
            }
            let step = try run.choose(enabled)
            let index = running.firstIndex { $0.job.name == step.actor || $0.killer == step.actor }!
            if running[index].killer == step.actor {
                try running.remove(at: index).process.kill()
                endings[jobs.first { step.actor == Running.killer($0) }!.name] = .killed
                releaseCount += 1
            } else {
                if try running[index].takeStep(releaseCount) { releaseCount += 1 }
                if let result = running[index].result {
                    endings[running[index].job.name] = .done(result)
                    idle.append(running.remove(at: index).process)
                }
            }
            try observe(step)
        }
        return endings
    }
}

/// A job that hasn't ended.
private struct Running {
    let job: SteppedProcesses.Job
    let process: SteppedProcess
    var report: SteppedProcess.Report
    /// How many locks the processes had released when this one began to try for one, and how many it released itself.
    private var tried = 0
    private var isWaiting = false
    /// The locks that the process may have.
    private var locks: Set<String> = []
    private var lastUses: [Step.Use] = []

    init(job: SteppedProcesses.Job, process: SteppedProcess, report: SteppedProcess.Report) {
        (self.job, self.process, self.report) = (job, process, report)
    }

    static func killer(_ job: SteppedProcesses.Job) -> String { "kill \(job.name)" }

    var killer: String? { job.mayBeKilled ? Self.killer(job) : nil }

    /// The steps that the walk may choose.
    func enabled(_ releaseCount: Int) -> [Step] {
        let own = isWaiting && tried >= releaseCount ? [] : [step]
        return own + (killer.map { [Step($0, "kills \(job.name)", locks.map(Step.Use.changes) + [aliveness])] } ?? [])
    }

    private var step: Step { Step(job.name, label, uses + [aliveness]) }

    private var aliveness: Step.Use { .changes("life of \(job.name)") }

    private var label: String {
        guard case .step(_, let label, _) = report else { return "tries again" }
        return label
    }

    /// SQLite looks for the journal when it locks the file, so both are one resource. A change of a name changes its folder,
    /// which `.` reads. A process that waited for a lock tries to take it again.
    private var uses: [Step.Use] {
        guard case .step(let kind, let label, let resource) = report else { return lastUses }
        let name = resource.hasSuffix("-journal") ? String(resource.dropLast(8)) : resource
        let isLock = ["lock", "lock-shared", "unlock", "close-locked"].contains(label.prefix { $0 != " " })
        if isLock { return [.changes("lock \(name)"), .reads(name)] }
        return kind == "r" ? [.reads(name)] : [.changes(name), .changes(".")]
    }

    var mayRelease: Bool {
        guard case .step("u", _, _) = report else { return false }
        return true
    }

    var result: String? {
        guard case .done(let result) = report else { return nil }
        return result
    }

    /// - Parameter releaseCount: how many locks the processes may have released so far.
    /// - Returns: whether this step may have released one.
    mutating func takeStep(_ releaseCount: Int) throws -> Bool {
        let releases = mayRelease
        if isWaiting { tried = releaseCount }
        if releases { tried += 1 }
        lastUses = uses
        locks.formUnion(uses.map(\.resource).filter { $0.hasPrefix("lock ") })
        try process.takeStep()
        report = try process.report()
        isWaiting = report == .waits
        return releases || result != nil
    }
}
