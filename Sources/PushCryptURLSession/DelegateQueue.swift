import Dispatch
import Foundation

#if canImport(FoundationNetworking)

/// Where a session calls its delegate: one call after the other, and a few waiting at most.
///
/// Foundation on Linux reads from the network as fast as it can and queues every piece for the delegate; with a slow
/// disk or a fast server a whole movie would lie in memory. The thread that reads is held up here instead. Whoever waits
/// for that thread must not do so on this queue: that is why tasks are cancelled from elsewhere.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    // Unchecked as the class above: the semaphore is the only thing added.
    private let places = DispatchSemaphore(value: 8)

    override init() {
        super.init()
        maxConcurrentOperationCount = 1
    }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        places.wait()
        super.addOperation { [places] in
            block()
            places.signal()
        }
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
