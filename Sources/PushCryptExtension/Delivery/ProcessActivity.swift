import Dispatch
import PushCryptPrimitives

#if os(iOS) || os(watchOS) || os(tvOS) || os(visionOS)
import Foundation
#endif

/// Asks the system not to suspend the process. The system ends a suspended process that holds a lock in an app group's
/// folder (`0xdead10cc`).
package struct ProcessActivity: Sendable {
    /// Returns a function that ends the request; nil if the system is about to suspend the process, or doesn't answer within
    /// the limit.
    package typealias Begin = @Sendable (_ limit: Duration) -> (@Sendable () -> Void)?

    /// How long a call that delays no push waits for the answer. The system gives an app in the background 30 seconds in all.
    package static let patience: Duration = .seconds(10)

    private let begin: Begin

    package init(_ begin: @escaping Begin) { self.begin = begin }

    package func callAsFunction(within limit: Duration = patience) -> (@Sendable () -> Void)? { begin(limit) }

    /// - Parameters:
    ///   - perform: `ProcessInfo.performExpiringActivity`. The process runs on until the block, which is called on a thread of a
    ///     pool, returns. The system calls it with true, in place of the first call or during it, when the time is up.
    ///   - isInForeground: whether the process is an app in the foreground, which the system doesn't suspend. There the answer
    ///     isn't awaited: it comes late while the app uses all threads of the pool.
    ///   - isSignaled: waits for the answer at most for a time.
    static func expiring(
        _ perform: @escaping @Sendable (@escaping @Sendable (Bool) -> Void) -> Void,
        isInForeground: @escaping @Sendable () -> Bool,
        isSignaled: @escaping @Sendable (DispatchSemaphore, _ within: Duration) -> Bool = {
            $0.wait(timeout: .now() + $1.dispatchInterval) == .success
        }
    ) -> ProcessActivity {
        ProcessActivity { limit in
            let (answered, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let isExpired = Locked(false)
            perform { expires in
                if expires { isExpired.withLock { $0 = true } }
                answered.signal()
                if !expires { ended.wait() }
            }
            if isInForeground() { return { ended.signal() } }
            guard isSignaled(answered, limit), !isExpired.withLock({ $0 }) else {
                ended.signal()
                return nil
            }
            return { ended.signal() }
        }
    }

    #if os(iOS) || os(watchOS) || os(tvOS) || os(visionOS)
    package static let system = {
        let foreground = Foreground()
        return expiring {
            ProcessInfo.processInfo.performExpiringActivity(withReason: "pushcrypt uses its store", using: $0)
        } isInForeground: {
            foreground.isEntered.withLock { $0 }
        }
    }()
    #else
    /// macOS, Linux and other systems don't suspend processes.
    package static let system = ProcessActivity { _ in {} }
    #endif
}

#if os(iOS) || os(watchOS) || os(tvOS) || os(visionOS)
/// Whether the app has entered the foreground since this object was made. An extension never does.
private final class Foreground: Sendable {
    let isEntered = Locked(false)

    init() {
        // By name: the frameworks that have the constants take memory from an extension.
        for application in ["UIApplication", "WKApplication"] {
            for (event, value) in ["WillEnterForeground": true, "DidBecomeActive": true, "DidEnterBackground": false] {
                NotificationCenter.default.addObserver(
                    forName: NSNotification.Name("\(application)\(event)Notification"), object: nil, queue: nil
                ) { [isEntered] _ in isEntered.withLock { $0 = value } }
            }
        }
    }
}
#endif

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
        // The push waits meanwhile.
        let limit = DeliverySession.storeTimeLimit
        guard state.withLock({ $0.count > 0 }), let end = keepRunning(within: limit) else { return }
        let isIdle = state.withLock { state in
            if state.count > 0 { state.whenIdle.append(end) }
            return state.count == 0
        }
        if isIdle { end() }
    }
}
