import Dispatch
import Foundation

/// Starts prepared threads together and measures the time until the last one is done.
///
/// - Parameter prepared: called on each thread. If it returns nil on any of them, this function returns nil.
func timeOnThreads(_ count: Int, prepared: @escaping @Sendable () throws -> Work?) throws -> Int64? {
    let (ready, go, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let outcomes = Outcomes()
    for _ in 0..<count {
        let thread = Thread {
            let work = outcomes.record { try prepared() }
            ready.signal()
            go.wait()
            outcomes.record { try work?() }
            done.signal()
        }
        thread.start()
    }
    for _ in 0..<count { ready.wait() }
    let nanoseconds = time {
        for _ in 0..<count { go.signal() }
        for _ in 0..<count { done.wait() }
    }
    if let error = outcomes.firstError { throw error }
    return outcomes.isMissing ? nil : nanoseconds
}

/// The failures of the threads: an error, or a job that isn't supported.
///
/// `@unchecked Sendable`: the lock protects every access.
private final class Outcomes: @unchecked Sendable {
    private let lock = NSLock()
    private var errors: [any Error] = []
    private var missing = false

    var firstError: (any Error)? { lock.withLock { errors.first } }
    var isMissing: Bool { lock.withLock { missing } }

    @discardableResult
    func record<Value>(_ body: () throws -> Value?) -> Value? {
        do {
            let value = try body()
            if value == nil { lock.withLock { missing = true } }
            return value
        } catch {
            lock.withLock { errors.append(error) }
            return nil
        }
    }
}
