import Dispatch
import PushCryptKeysets
import PushCryptPrimitives

/// Looks whenever something happens in a folder, and from time to time, on a queue of its own until it is released.
final class WatchLoop: @unchecked Sendable {
    // Unchecked because of the timer: Dispatch doesn't say that its sources may be used on any thread, which they may.
    /// What makes it look.
    struct Triggers: Sendable {
        var followsEvents = true
        /// nil: time alone never does.
        var interval: Duration?
    }

    private let queue = DispatchQueue(label: "pushcrypt.keyset-watcher", qos: .utility)
    private let events: FolderEvents?
    private let timer: (any DispatchSourceTimer)?
    private let look: @Sendable (KeysetReloader.Cause) -> Void

    init(_ folder: String, _ triggers: Triggers, look: @escaping @Sendable (KeysetReloader.Cause) -> Void) {
        let events = triggers.followsEvents ? FolderEvents(folder, on: queue) { look(.event) } : nil
        self.events = events
        self.look = look
        timer = triggers.interval.map { [queue] interval in
            let timer = DispatchSource.makeTimerSource(queue: queue)
            let time = max(interval, .milliseconds(10)).dispatchInterval
            timer.schedule(deadline: .now() + time, repeating: time)
            timer.setEventHandler {
                events?.rearm()
                look(.time)
            }
            timer.activate()
            return timer
        }
        // For what happened before all of this stood ready.
        queue.async { look(.event) }
    }

    deinit {
        stop()
    }

    var hasEvents: Bool { events?.areAvailable ?? false }

    func lookNow() {
        queue.sync { look(.request) }
    }

    func stop() {
        timer?.cancel()
        queue.async { [events] in events?.cancel() }
    }
}
