#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// One prepared operation. The measured time doesn't include making its arguments.
public typealias Work = () throws -> Void

/// A process that runs jobs for Benchmarks/compare (Benchmarks/README.md).
///
/// ```
/// runner  NAME VERSIONS
/// driver  JOB COUNT [THREADS]
/// runner  nanoseconds | "unsupported"
/// ```
public struct JobRunner: Sendable {
    private let name: String
    private let operation: @Sendable (_ job: String) throws -> Work?

    /// - Parameter operation: makes the operation of a job, for one thread; nil for an unknown job.
    public init(name: String, operation: @escaping @Sendable (_ job: String) throws -> Work?) {
        self.name = name
        self.operation = operation
    }

    /// Answers until standard input ends.
    public func run() throws {
        answer(name)
        while let line = readLine() {
            let words = line.split(separator: " ")
            guard words.count >= 2, let count = Int(words[1]), count > 0 else {
                answer("unsupported")
                continue
            }
            let threads = words.count > 2 ? Int(words[2]) ?? 1 : 1
            let time = try nanoseconds(job: String(words[0]), count: count, threads: threads)
            answer(time.map(String.init) ?? "unsupported")
        }
    }

    private func answer(_ text: String) {
        print(text)
        fflush(nil)
    }

    private func nanoseconds(job: String, count: Int, threads: Int) throws -> Int64? {
        if threads > 1 {
            return try timeOnThreads(threads) { try prepared(job, count: count) }
        }
        guard let work = try prepared(job, count: count) else { return nil }
        return try time { try work() }
    }

    /// A closure that runs the operation `count` times. The operation has already run, so that values made at first use
    /// exist.
    private func prepared(_ job: String, count: Int) throws -> Work? {
        guard let operation = try operation(job) else { return nil }
        for _ in 0..<16 { try operation() }
        return { for _ in 0..<count { try operation() } }
    }
}

func time(_ work: () throws -> Void) rethrows -> Int64 {
    let clock = SuspendingClock()
    let start = clock.now
    try work()
    let (seconds, attoseconds) = (clock.now - start).components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
}
