public import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL

/// A request to APNs.
public struct PushRequest: Sendable {
    /// The device token.
    public var token: String
    /// The payload, UTF-8 JSON.
    public var body: [UInt8]
    /// `apns-id`, `apns-topic` and the others, without `authorization`.
    public var headers: [String: String]

    /// Creates a request; the parameters are the properties of the same names.
    public init(token: String, body: [UInt8], headers: [String: String]) {
        self.token = token
        self.body = body
        self.headers = headers
    }
}

/// What APNs answered.
public struct PushResponse: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// `reason` of the body; nil for an accepted push.
    public var reason: String?
    /// `timestamp` of the body: when the token ended, in milliseconds since 1970.
    public var timestamp: Int64?
    /// `retry-after`, in seconds
    public var retryAfter: Int64?
}

/// Why a request was never sent, and never will be.
struct InvalidRequest: Error {
    /// What is wrong with it, without its values.
    let reason: String
}

/// Sends requests to one of Apple's two servers over HTTP/2. The client keeps the connection, opens another one after GOAWAY or a failure, and follows the
/// server's limit of streams.
public struct APNsClient: Sendable {
    private struct Body: Decodable {
        let reason: String?
        let timestamp: Int64?
    }

    private static let largestBodyInBytes = 16_384

    private let client: HTTPClient
    private let base: String
    private let timeout: TimeAmount

    /// - Parameters:
    ///   - base: for example `https://api.push.apple.com`.
    ///   - timeoutInSeconds: the time limit of one request.
    public init(_ client: HTTPClient, base: String, timeoutInSeconds: Int64 = 15) {
        self.client = client
        self.base = base
        timeout = .seconds(timeoutInSeconds)
    }

    /// Checks the address of a server.
    ///
    /// - Returns: whether it has the form `https://HOST` or `https://HOST:PORT`.
    static func isAddress(_ base: String) -> Bool {
        guard let parts = URLComponents(string: base), parts.scheme == "https", let host = parts.host else {
            return false
        }
        return !host.isEmpty && (1...65_535).contains(parts.port ?? 443) && parts.path.isEmpty && parts.query == nil
            && parts.fragment == nil && parts.user == nil
    }

    /// Makes a client for APNs. Shut it down at the end.
    ///
    /// - Parameter trustedPEM: a certificate to trust in place of the system's; nil for the system's.
    /// - Throws: the error of NIOSSL for a PEM text without a certificate.
    public static func httpClient(
        trustedPEM: String? = nil, connectTimeoutInSeconds: Int64 = 5
    ) throws -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let trustedPEM {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(trustedPEM.utf8)))
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.httpVersion = .automatic
        configuration.timeout = .init(connect: .seconds(connectTimeoutInSeconds))
        configuration.redirectConfiguration = .disallow
        // "Sending notification requests to APNs": keep connections open. Opening many looks like an attack.
        configuration.connectionPool.idleTimeout = .hours(1)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// - Throws: `InvalidRequest` if each attempt would fail, because the request itself is wrong; otherwise the error of the
    ///   connection. Whether APNs has accepted the push is then unknown.
    public func send(_ request: PushRequest, providerToken: String) async throws -> PushResponse {
        var http = HTTPClientRequest(url: "\(base)/3/device/\(request.token)")
        http.method = .POST
        http.headers = HTTPHeaders(request.headers.map { ($0, $1) })
        http.headers.add(name: "authorization", value: "bearer \(providerToken)")
        http.headers.add(name: "content-type", value: "application/json")
        http.body = .bytes(request.body)
        let response: HTTPClientResponse
        do { response = try await client.execute(http, timeout: timeout) } catch let error as HTTPClientError
            where error.isOfRequest
        {
            // The description quotes values.
            throw InvalidRequest(reason: error.shortDescription)
        }
        // A body that isn't read would reset its stream, and APNs closes connections with many resets.
        guard response.status != .ok else {
            // The push is accepted, also if the stream breaks off now.
            _ = try? await response.body.collect(upTo: Self.largestBodyInBytes)
            return PushResponse(status: 200)
        }
        let bytes = try await response.body.collect(upTo: Self.largestBodyInBytes)
        let body = try? JSONDecoder().decode(Body.self, from: bytes)
        return PushResponse(
            status: Int(response.status.code), reason: body?.reason, timestamp: body?.timestamp,
            retryAfter: response.headers.first(name: "retry-after").flatMap { Int64($0) })
    }
}

extension HTTPClientError {
    /// Whether the client refuses the request, and would refuse it each time. Two of these errors have values, so that they can't be
    /// compared.
    fileprivate var isOfRequest: Bool {
        let own: [HTTPClientError] = [
            .invalidURL, .emptyHost, .emptyScheme, .unsupportedScheme(""), .invalidHeaderFieldNames([]),
            .invalidHeaderFieldValues([]), .traceRequestWithBody, .bodyLengthMismatch, .contentLengthMissing,
        ]
        return own.contains { $0.shortDescription == shortDescription }
    }
}
