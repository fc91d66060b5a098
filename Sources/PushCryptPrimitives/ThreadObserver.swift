#if DEBUG
/// Observes the locks and threads of one piece of work, so that a test can run its threads in every order. Release builds
/// have no observers.
package protocol ThreadObserver: Sendable {
    /// Called before the thread takes a lock. It may wait.
    func willLock(_ lock: ObjectIdentifier)

    /// Called after the thread released a lock.
    func didUnlock(_ lock: ObjectIdentifier)

    /// Returns what a thread runs that the observed thread starts.
    func thread(_ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void
}

package enum ThreadObservation {
    /// The observer of the current thread, and of the tasks that it creates.
    @TaskLocal package static var observer: (any ThreadObserver)?
}
#endif
