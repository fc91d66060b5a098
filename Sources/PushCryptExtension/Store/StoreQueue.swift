import Dispatch
import PushCryptPrimitives

/// Lets one thread of the process use the store's file at a time, and limits the total wait of a call.
///
/// ```
/// call          waits at most `timeout` in total: for other threads, the folder's lock and SQLite's
/// after busy    for 5 s, or until a call succeeds, calls wait at most 10 ms in total
/// ```
/// So a lock that another process keeps delays only one push, and a store that becomes free is used at once.
final class StoreQueue: Sendable {
    static let pause: Duration = .seconds(5)
    static let timeoutInPause: Duration = .milliseconds(10)

    private let timeout: Duration
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let pauseEnd = Locked<ContinuousClock.Instant?>(nil)
    /// A semaphore, because waiting for a mutex has no time limit.
    private let turn = DispatchSemaphore(value: 1)
    private let file: Locked<StoreFile>

    /// - Parameter clock: measures the pause. The waits use real time.
    init(_ file: StoreFile, timeout: Duration, clock: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.file = Locked(file)
        self.timeout = min(max(timeout, .zero), .seconds(60))
        self.clock = clock
    }

    /// - Parameter body: receives the file and the time at which it must stop waiting.
    /// - Throws: `StoreError` of the body, or `busy` if the wait ended before its turn.
    func use<Value: Sendable>(
        _ body: @Sendable (inout StoreFile, ContinuousClock.Instant) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let end = pauseEnd.withLock { $0 }
        let isInPause = end.map { clock() < $0 } ?? false
        let limit = isInPause ? min(timeout, Self.timeoutInPause) : timeout
        do throws(StoreError) {
            let value = try useInTurn(within: limit, body)
            pauseEnd.withLock { $0 = nil }
            return value
        } catch {
            if error.code == .busy, !isInPause { pauseEnd.withLock { [clock] in $0 = clock() + Self.pause } }
            throw error
        }
    }

    private func useInTurn<Value: Sendable>(
        within limit: Duration, _ body: @Sendable (inout StoreFile, ContinuousClock.Instant) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let end = ContinuousClock.now + limit
        guard turn.wait(timeout: .now() + limit.dispatchInterval) == .success else {
            throw StoreError(.busy, "other pushes are using the store")
        }
        defer { turn.signal() }
        // This lock is always free here: only the compiler and the thread sanitizer need it.
        return try file.withLock { file in Result { () throws(StoreError) in try body(&file, end) } }.get()
    }
}
