import PushCryptPrimitives
import PushCryptSimulator
import Testing

@testable import PushCryptExtension

@Suite struct TimeLimitTests {
    @Test("a time limit is set before the limited work starts")
    func order() async throws {
        for _ in 1...2_000 {
            let timer = ManualTimer()
            let durations = try await timer.limit(.seconds(10)) { timer.durations }
            #expect(durations == [.seconds(10)])
            #expect(!timer.isPending)
        }
    }

    @Test("work is cancelled at its time limit, also if that passes before the work starts")
    func reached() async throws {
        await #expect(throws: CancellationError.self) {
            try await OverTimer().limit(.zero) { try Task.checkCancellation() }
        }
        let timer = ManualTimer()
        await #expect(throws: CancellationError.self) {
            try await timer.limit(.seconds(10)) {
                timer.fire(.seconds(10))
                try Task.checkCancellation()
            }
        }
    }

    @Test("work whose caller is cancelled right after it has begun is cancelled at that moment")
    func callerCancelled() async throws {
        for _ in 0..<100 {
            let caller = Locked(Task<Bool, any Error>?.none)
            let task = caller.withLock { state in
                let task = Task {
                    try await ManualTimer().limit(.seconds(10)) {
                        caller.withLock { $0 }?.cancel()
                        return Task.isCancelled
                    }
                }
                state = task
                return task
            }
            #expect(try await task.value)
        }
    }

    @Test("work whose caller is cancelled is cancelled, and its time limit no longer waits")
    func cancelled() async throws {
        let timer = ManualTimer()
        let caller = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await timer.limit(.seconds(10)) { try Task.checkCancellation() }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(timer.cancelCount == 1 && !timer.isPending)
    }

    /// A timer whose time has passed when it is set.
    private struct OverTimer: DeadlineTimer {
        func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            body()
            return {}
        }
    }
}
