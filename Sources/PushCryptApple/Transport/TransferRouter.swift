import Dispatch
import Foundation
import PushCryptExtension
import PushCryptPrimitives

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Hands what a session says of its tasks to their transfers.
final class TransferRouter: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Locked<[Int: Transfer]>([:])

    func add(_ transfer: Transfer, for task: URLSessionTask) {
        let identifier = task.taskIdentifier
        transfers.withLock { $0[identifier] = transfer }
    }

    private func transfer(of task: URLSessionTask) -> Transfer? {
        let identifier = task.taskIdentifier
        return transfers.withLock { $0[identifier] }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        transfer(of: task)?.redirect(to: request, completionHandler)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.begin(response)
        // Linux doesn't listen to this answer; a transfer that failed has cancelled its task already.
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.take(Array(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let identifier = task.taskIdentifier
        let transfer = transfers.withLock { $0.removeValue(forKey: identifier) }
        transfer?.end(task.response, error)
    }

    /// The certificates are judged as the system does; nobody has a password here.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if !canImport(FoundationNetworking)
        if challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust {
            return completionHandler(.performDefaultHandling, nil)
        }
        #endif
        transfer(of: task)?.fail(TransferError.password)
        // Linux cancels the task in here, for which it waits: not on this queue.
        DispatchQueue.global().async { completionHandler(.cancelAuthenticationChallenge, nil) }
    }
}

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
