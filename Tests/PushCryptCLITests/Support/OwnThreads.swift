import Foundation
import Testing

/// Runs tests that wait for child processes on separate threads. On the cooperative pool, which has one thread per
/// processor, they would block all other tests.
struct OwnThreads: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            try await withTaskExecutorPreference(ThreadPool.shared) { try await function() }
        } else {
            try await function()
        }
    }
}

extension Trait where Self == OwnThreads {
    static var ownThreads: OwnThreads { OwnThreads() }
}

/// One thread per processor, which limits the number of children at a time. It isn't a Dispatch queue,
/// because on Linux those share their threads with the cooperative pool.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class ThreadPool: TaskExecutor, @unchecked Sendable {
    static let shared = ThreadPool()

    /// Guards `jobs`.
    private let condition = NSCondition()
    private var jobs = [UnownedJob]()

    private init() {
        for _ in 0..<ProcessInfo.processInfo.activeProcessorCount {
            Thread.detachNewThread {
                while true { unsafe self.next().runSynchronously(on: self.asUnownedTaskExecutor()) }
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.withLock {
            jobs.append(job)
            condition.signal()
        }
    }

    private func next() -> UnownedJob {
        condition.withLock {
            while jobs.isEmpty { condition.wait() }
            return jobs.removeFirst()
        }
    }
}
