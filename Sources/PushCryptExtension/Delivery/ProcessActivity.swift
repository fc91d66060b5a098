import Dispatch
import PushCryptPrimitives

#if os(iOS) || os(watchOS) || os(tvOS) || os(visionOS)
import Foundation
#endif

/// Asks the system not to suspend the process. The system ends a suspended process that holds a lock in an app group's
/// folder (`0xdead10cc`).
package struct ProcessActivity: Sendable {
    /// Returns a function that ends the request; nil if the system is about to suspend the process.
    package typealias Begin = @Sendable () -> (@Sendable () -> Void)?

    private let begin: Begin

    package init(_ begin: @escaping Begin) { self.begin = begin }

    package func callAsFunction() -> (@Sendable () -> Void)? { begin() }

    #if os(iOS) || os(watchOS) || os(tvOS) || os(visionOS)
    /// How long the system may take to answer.
    private static let timeLimit = DispatchTimeInterval.milliseconds(100)

    package static let system = ProcessActivity {
        let (answered, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isExpired = Locked(false)
        // The process runs on until the block returns. The system calls the block with true, in place of the first call or
        // during it, when the time is up.
        ProcessInfo.processInfo.performExpiringActivity(withReason: "pushcrypt uses its store") { expires in
            if expires { isExpired.withLock { $0 = true } }
            answered.signal()
            if !expires { ended.wait() }
        }
        guard answered.wait(timeout: .now() + timeLimit) == .success, !isExpired.withLock({ $0 }) else {
            ended.signal()
            return nil
        }
        return { ended.signal() }
    }
    #else
    /// macOS, Linux and other systems don't suspend processes.
    package static let system = ProcessActivity { {} }
    #endif
}

/// The calls of one session that may have a lock of the store.
///
/// ```
/// begin   a call begins; the session checks that it hasn't ended, and otherwise makes no call
/// end     the call has returned
/// ```
/// While content is handed over, the system waits for the session and doesn't suspend the process. If a call hasn't returned
/// by then, ``outlastHandler(_:)`` keeps the process running until it has.
final class StoreUse: Sendable {
    private struct State {
        var count = 0
        var whenIdle: [@Sendable () -> Void] = []
    }

    private let state = Locked(State())

    func begin() { state.withLock { $0.count += 1 } }

    func end() {
        let ready = state.withLock { state -> [@Sendable () -> Void] in
            state.count -= 1
            guard state.count == 0 else { return [] }
            defer { state.whenIdle = [] }
            return state.whenIdle
        }
        for body in ready { body() }
    }

    /// Call it before the handler.
    func outlastHandler(_ keepRunning: ProcessActivity) {
        guard state.withLock({ $0.count > 0 }), let end = keepRunning() else { return }
        let isIdle = state.withLock { state in
            if state.count > 0 { state.whenIdle.append(end) }
            return state.count == 0
        }
        if isIdle { end() }
    }
}
