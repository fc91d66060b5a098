import Dispatch
public import PushCryptExtension
import PushCryptPrimitives

#if canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
#else
import Foundation
#endif

/// HTTP by the system's `URLSession`: what an app's extension uses.
///
/// Nothing is kept between transfers, no cookie, no cache, no credential; connections are. Every address is checked by
/// the policy, the first one and that of every redirect.
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let router: TransferRouter
    private let policy: TransferPolicy
    private let idleTimeout: TimeInterval
    private let headTimeout: Duration
    private let timer: any DeadlineTimer

    /// - Parameters:
    ///   - policy: which addresses may be asked.
    ///   - idleTimeout: how long a server may send nothing, in whole seconds, at least one.
    ///   - headTimeout: how long it may take until the head of the answer is there, redirects included: all of an exchange
    ///     that sends something. How long a body takes is for the caller's task, which is cancelled.
    ///   - timer: runs `headTimeout`.
    public init(
        policy: TransferPolicy = TransferPolicy(), idleTimeout: Duration = .seconds(10),
        headTimeout: Duration = .seconds(10), timer: any DeadlineTimer = ThreadTimer()
    ) {
        self.policy = policy
        self.headTimeout = headTimeout
        self.timer = timer
        // Foundation on Linux counts milliseconds.
        self.idleTimeout = TimeInterval(max(idleTimeout.count(of: .milliseconds(1), as: Int32.self) / 1000, 1))
        router = TransferRouter()
        session = URLSession(
            configuration: .forTransfers(idleTimeout: self.idleTimeout), delegate: router,
            delegateQueue: DelegateQueue())
    }

    deinit {
        // The session holds its delegate until then. Elsewhere: on Linux this waits for the thread that reads.
        DispatchQueue.global().async { [session] in session.invalidateAndCancel() }
    }

    /// Fetches a body piece by piece, in order. The answer must have the status 200 and no content encoding.
    ///
    /// - Throws: `TransferError`, or what `receive` throws.
    public func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws {
        var request = try request(to: address)
        // A session of Apple's asks for gzip by itself.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        // Others of 2xx have no body, or a part of one.
        try await run(request, Transfer(policy: policy, success: 200..<201, receive: receive))
    }

    /// Posts a body and waits for the head of an answer with a status from 200 to 299. Redirects are refused.
    ///
    /// - Throws: `TransferError`.
    public func post(_ body: [UInt8], contentType: String, to address: String) async throws {
        var request = try request(to: address)
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        // A redirect would hand the body to somebody else.
        var policy = policy
        policy.maximumRedirects = 0
        try await run(request, Transfer(policy: policy, success: 200..<300, receive: nil))
    }

    private func request(to address: String) throws(TransferError) -> URLRequest {
        try policy.check(address)
        guard let url = URL(string: address) else {
            throw TransferError(.addressRefused, "the address is not a URL")
        }
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
        // Linux goes by this one, Apple's systems by the request's.
        configuration.timeoutIntervalForRequest = idleTimeout
        #if !canImport(FoundationNetworking)
        // A push can't wait until there is a network.
        configuration.waitsForConnectivity = false
        configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
        #endif
        return configuration
    }
}
