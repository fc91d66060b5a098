package import Dispatch

/// Tells when something in a folder changes, also when another folder takes its place. What changed it doesn't tell:
/// whoever listens looks for himself.
///
/// There may be no such events: on network file systems, beyond the system's limits, on systems other than Linux with
/// glibc and Apple's. Whoever listens therefore looks from time to time as well, and calls ``rearm()`` then.
package final class FolderEvents: Sendable {
    private let listener: (any FolderListener)?

    /// - Parameters:
    ///   - queue: a serial one, on which everything here happens.
    ///   - listen: called on the queue; again and again for one change.
    package init(_ folder: String, on queue: DispatchQueue, _ listen: @escaping @Sendable () -> Void) {
        #if canImport(Darwin)
        listener = KernelQueueListener(folder, queue, listen)
        #elseif canImport(Glibc)
        listener = InotifyListener(folder, queue, listen)
        #else
        listener = nil
        #endif
    }

    /// Whether the system tells of changes at all.
    package var areAvailable: Bool { listener != nil }

    /// Listens to the folder that has the name now. On the queue.
    package func rearm() { listener?.rearm() }

    /// Ends for good. On the queue.
    package func cancel() { listener?.cancel() }
}

/// Used on one serial queue.
protocol FolderListener: Sendable {
    func rearm()
    func cancel()
}
