import PushCryptCore
public import PushCryptExtension
import PushCryptPrimitives

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// HTTP with the system's `URLSession`, for an app's extension.
///
/// Only connections are kept between transfers: no cookies, cache or credentials. The policy checks the address of every
/// request and redirect.
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let router: TransferRouter
    private let policy: TransferPolicy
    private let idleTimeout: TimeInterval
    private let headTimeout: Duration
    private let timer: any DeadlineTimer

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - idleTimeout: how long a server may send nothing, in whole seconds, at least one.
    ///   - headTimeout: how long receiving the response head may take, including redirects; for `post` this is the whole
    ///     transfer. To limit the time for a body, cancel the task.
    public init(
        policy: TransferPolicy = TransferPolicy(), idleTimeout: Duration = .seconds(10),
        headTimeout: Duration = .seconds(10), timer: any DeadlineTimer = ThreadTimer()
    ) {
        self.policy = policy
        self.headTimeout = headTimeout
        self.timer = timer
        // Foundation on Linux converts it to milliseconds.
        self.idleTimeout = TimeInterval(max(idleTimeout.count(of: .milliseconds(1), as: Int32.self) / 1000, 1))
        router = TransferRouter()
        session = URLSession(
            configuration: .forTransfers(idleTimeout: self.idleTimeout), delegate: router,
            delegateQueue: DelegateQueue())
    }

    deinit {
        // The session retains its delegate until it is invalidated. Each of its tasks has ended or was cancelled by its
        // transfer: Foundation on Linux may trap if a task is cancelled twice while it ends.
        session.finishTasksAndInvalidate()
    }

    /// Fetches a body piece by piece, in order. The response must have the status 200 and no content encoding.
    public func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        var request = try request(to: address)
        // Apple's sessions request gzip by default.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        // Other 2xx responses have no body or a partial body.
        try await run(request, Transfer(policy: policy, success: 200..<201, receive: receive))
    }

    /// Posts a body and waits for a response head with a status from 200 to 299. Redirects are refused.
    public func post(_ post: HTTPPost) async throws {
        var request = try request(to: post.address)
        request.httpMethod = "POST"
        request.httpBody = Data(post.body)
        request.setValue(post.contentType, forHTTPHeaderField: "Content-Type")
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        if let userAgent = post.userAgent { request.setValue(userAgent, forHTTPHeaderField: "User-Agent") }
        // A redirect would send the body to another server.
        var policy = policy
        policy.maximumRedirects = 0
        try await run(request, Transfer(policy: policy, success: 200..<300, receive: nil))
    }

    private func request(to address: String) throws(TransferError) -> URLRequest {
        try policy.check(address)
        guard let url = URL(string: address) else { throw TransferError(.addressRefused, "the address is not a URL") }
        return URLRequest(url: url, timeoutInterval: idleTimeout)
    }

    private func run(_ request: URLRequest, _ transfer: Transfer) async throws {
        let giveUp = timer.schedule(after: headTimeout) { transfer.giveUpHead() }
        defer { giveUp() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                transfer.start(request, in: session, router, continuation)
            }
        } onCancel: {
            transfer.cancel()
        }
    }
}

extension URLSessionConfiguration {
    fileprivate static func forTransfers(idleTimeout: TimeInterval) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCredentialStorage = nil
        // Linux uses this timeout, Apple's systems use that of the request.
        configuration.timeoutIntervalForRequest = idleTimeout
        #if !canImport(FoundationNetworking)
        // A push can't wait for a network.
        configuration.waitsForConnectivity = false
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        #endif
        return configuration
    }
}

/// The session's delegate. It forwards each call to the transfer of the task.
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
    ) { transfer(of: task)?.redirect(to: request, completionHandler) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.begin(response)
        // Linux ignores this answer; a failed transfer has already cancelled its task.
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.append(Array(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let identifier = task.taskIdentifier
        let transfer = transfers.withLock { $0.removeValue(forKey: identifier) }
        transfer?.end(task.response, error)
    }

    /// Certificates are validated by the system; requests for a password fail.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if !canImport(FoundationNetworking)
        if challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust {
            return completionHandler(.performDefaultHandling, nil)
        }
        #endif
        // This cancels the task. On Linux the answer would cancel it a second time.
        transfer(of: task)?.fail(TransferError.password)
        #if !canImport(FoundationNetworking)
        completionHandler(.cancelAuthenticationChallenge, nil)
        #endif
    }
}

/// Calls the session's delegate.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    // Unchecked like the superclass: it adds no state.
    #if canImport(FoundationNetworking)
    /// Calls the delegate directly, on the thread that reads.
    ///
    /// Foundation on Linux reads as fast as it can and queues every piece for the delegate, so with a slow disk a whole
    /// movie would be in memory. With this queue the next piece is read after the delegate has returned. Cancelling needs
    /// this queue too, because it waits until the reading thread has emptied the socket. Code on this queue must not wait
    /// for that thread.
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    #else
    /// Calls the delegate serially. Apple's sessions deliver the next piece after the delegate has returned.
    override init() {
        super.init()
        maxConcurrentOperationCount = 1
    }
    #endif
}

extension PushRegistration.Upload {
    /// Tells the date of the backend's answer, by which day keys are erased: the header `Date` (RFC 9110 section 5.6.7). See
    /// ``answered(at:)``.
    public func answered(_ response: URLResponse) {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let header = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Date") ?? ""
        let parts = header.split(separator: " ").map(String.init)
        guard parts.count == 6, let month = months.firstIndex(of: parts[2]) else { return }
        let date = "\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(parts[1])T\(parts[4])Z"
        if let time = UnixTime(rfc3339: date) { answered(at: time) }
    }
}
