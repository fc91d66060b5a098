public import PushCryptSender
public import ServiceLifecycle

/// A `KeysetWatcher` as a service: it watches until the group of services ends.
public struct KeysetService: Service {
    private let watcher: KeysetWatcher

    /// - Parameter watcher: the watcher, which is already running.
    public init(_ watcher: KeysetWatcher) { self.watcher = watcher }

    /// Returns at the graceful shutdown, and stops the watcher. The keyset stays in use.
    public func run() async throws {
        try? await gracefulShutdown()
        watcher.stop()
    }
}
