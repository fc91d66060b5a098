import Dispatch
import PushCryptPrimitives

/// The threads of a process that want to use the store's file, which one of them does at a time. How long a call waits
/// is bounded as a whole, whatever it waits for.
///
/// ```
/// call          waits at most `timeout` in all: for other threads, the folder's lock and SQLite's
/// after busy    for 5 s, or until a call succeeds, calls wait at most 10 ms in all
/// ```
/// So a lock that another process keeps delays a push once, and a store that is free again is used again at once.
final class StoreQueue: Sendable {
    static let pause: Duration = .seconds(5)
    static let timeoutInPause: Duration = .milliseconds(10)

    private let timeout: Duration
    private let clock: @Sendable () -> ContinuousClock.Instant
    private let pauseEnd = Locked<ContinuousClock.Instant?>(nil)
    /// Waiting for it has a limit, which waiting for a mutex hasn't.
    private let turn = DispatchSemaphore(value: 1)
    private let file: Locked<StoreFile>

    /// - Parameters:
    ///   - timeout: at most a minute.
    ///   - clock: tells how much of a pause has passed. Waiting itself takes real time.
    init(_ file: StoreFile, timeout: Duration, clock: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.file = Locked(file)
        self.timeout = min(max(timeout, .zero), .seconds(60))
        self.clock = clock
    }

    /// - Parameter body: gets the file and the moment when it must stop waiting.
    /// - Throws: `StoreError`: the body's, or `busy` where the wait was over before its turn.
    func use<Value: Sendable>(
        _ body: @Sendable (inout StoreFile, ContinuousClock.Instant) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let isInPause = isPaused
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

    private var isPaused: Bool {
        let end = pauseEnd.withLock { $0 }
        return end.map { clock() < $0 } ?? false
    }

    private func useInTurn<Value: Sendable>(
        within limit: Duration, _ body: @Sendable (inout StoreFile, ContinuousClock.Instant) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let end = ContinuousClock.now + limit
        guard turn.wait(timeout: .now() + limit.dispatchInterval) == .success else {
            throw StoreError(.busy, "other pushes are using the store")
        }
        defer { turn.signal() }
        // Free by then; it is for the compiler, and for what checks threads.
        let result = file.withLock { file in
            Result { () throws(StoreError) in try body(&file, end) }
        }
        return try result.get()
    }
}
