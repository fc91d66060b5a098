import PushCryptCore
import PushCryptPrimitives

/// The store, for the thread that restores a push and for a limited time.
///
/// The time begins with the thread's first use of the store. If it is over before ``end()``, another thread goes on without the
/// store's file, and this one doesn't. Only one of them reserves the message.
final class TimedStore {
    private struct Progress {
        var reserved: Result<ReservedPush, FailureClass>?
        var cancelTimer: (@Sendable () -> Void)?
    }

    private let memory: (any DeliveryMemory)?
    private let timer: any DeadlineTimer
    private let use: StoreUse
    private let goOn: @Sendable (Result<ReservedPush, FailureClass>?) -> Void
    private let progress = EndingOnce(Progress())
    /// Whether this thread has begun a use of the store.
    private(set) var isUsed = false

    /// - Parameter goOn: called on the timer's thread, in a use of the store, with what this thread has reserved.
    init(
        _ configuration: ExtensionConfiguration, _ use: StoreUse,
        timedOut goOn: @escaping @Sendable (Result<ReservedPush, FailureClass>?) -> Void
    ) {
        (memory, timer, self.use, self.goOn) = (configuration.memory, configuration.timer, use, goOn)
    }

    /// The store for the next call; nil if there is none.
    func next() -> (any DeliveryMemory)? {
        guard let memory, !isUsed else { return memory }
        isUsed = true
        use.begin()
        let cancel = timer.schedule(after: DeliverySession.storeTimeLimit) { [progress, use, goOn] in
            guard let last = progress.end() else { return }
            use.begin()
            goOn(last.reserved)
        }
        if !progress.update({ $0.cancelTimer = cancel }) { cancel() }
        return memory
    }

    /// Reserves the message; nil if the other thread goes on.
    func reserve(
        _ body: @Sendable () -> Result<ReservedPush, FailureClass>
    ) -> Result<ReservedPush, FailureClass>? {
        progress.update { $0.reserved = body() }
        return progress.current?.reserved
    }

    /// Ends the time. Returns false if the other thread goes on.
    func end() -> Bool {
        guard let last = progress.end() else { return false }
        last.cancelTimer?()
        return true
    }
}
