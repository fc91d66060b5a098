import Foundation

#if canImport(FoundationNetworking)

/// Where a session calls its delegate: at once, on the thread that reads.
///
/// Foundation on Linux reads from the network as fast as it can and queues every piece for the delegate; with a slow
/// disk or a fast server a whole movie would lie in memory. Here the next piece is read when the last one was taken. It
/// also has to be so for cancelling: that waits until the reading thread has emptied the socket, which a transfer that
/// has failed does without a change of threads. Nothing on this queue may wait for that thread in turn.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    // Unchecked as the class above: nothing is added.
    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        block()
    }
}

#else

/// Where a session calls its delegate: one call after the other. Apple's sessions hand over the next piece when the
/// delegate is done with the last.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    // Unchecked as the class above: nothing is added.
    override init() {
        super.init()
        maxConcurrentOperationCount = 1
    }
}

#endif
