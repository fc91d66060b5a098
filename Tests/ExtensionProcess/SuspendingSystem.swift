import Dispatch
import Foundation
import PushCryptExtension
import PushCryptPrimitives

/// Stops this process as the system suspends an extension: at any time when each session has called its handler and no
/// activity keeps the process running. Before it stops, the process prints `suspended` or `idle`.
final class SuspendingSystem: Sendable {
    /// When the process is suspended after a session, if no other session and no activity runs then.
    enum Moment: String, Sendable {
        /// After the last session of a batch.
        case later
        /// Within the handler.
        case handler
        /// When the last activity ends.
        case activity
        /// When the session reports. Since the handler was called, activities are refused.
        case report
    }

    private struct State {
        var sessionCount = 0
        var activityCount = 0
        var suspendsAfterActivities = false
        var refusesActivities = false
        var isIdle: Bool { sessionCount == 0 && activityCount == 0 }
    }

    private let state = Locked(State())
    /// The sessions and activities.
    private let running = DispatchGroup()

    /// Call it before a session starts: the system continues the process for a push.
    func begin() {
        running.enter()
        state.withLock { state in
            state.sessionCount += 1
            state.suspendsAfterActivities = false
            state.refusesActivities = false
        }
    }

    /// Call it in the handler.
    func handedOver(_ moment: Moment) {
        state.withLock { state in
            state.sessionCount -= 1
            switch moment {
            case .later: break
            case .handler: suspend(if: state.isIdle)
            case .activity: state.suspendsAfterActivities = true
            case .report: state.refusesActivities = state.isIdle
            }
        }
        running.leave()
    }

    /// Call it when the session reports.
    func reported() {
        state.withLock { state in
            suspend(if: state.refusesActivities)
            state.refusesActivities = false
        }
    }

    var activity: ProcessActivity {
        ProcessActivity { [self] _ in
            let isGranted = state.withLock { state in
                guard !state.refusesActivities else { return false }
                running.enter()
                state.activityCount += 1
                return true
            }
            guard isGranted else { return nil }
            return { [self] in
                state.withLock { state in
                    state.activityCount -= 1
                    suspend(if: state.isIdle && state.suspendsAfterActivities)
                }
                running.leave()
            }
        }
    }

    /// Waits for the end of all sessions and activities.
    func suspendWhenIdle() {
        var isSuspended = false
        while !isSuspended {
            running.wait()
            isSuspended = state.withLock { state in
                suspend("idle", if: state.isIdle)
                return state.isIdle
            }
        }
    }

    /// The state stays locked, so that nothing begins before all threads have stopped.
    private func suspend(_ line: String = "suspended", if isSuspended: Bool) {
        guard isSuspended else { return }
        say(line)
        raise(SIGSTOP)
    }
}
