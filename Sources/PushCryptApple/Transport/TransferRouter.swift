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
