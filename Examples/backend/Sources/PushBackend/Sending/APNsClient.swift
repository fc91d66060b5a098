public import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL

/// A ``PushTransport`` over HTTP/2. The client keeps the connection, opens another one after GOAWAY or a failure, and follows the
/// server's limit of streams.
public struct APNsClient: PushTransport {
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
            throw InvalidRequest(error.shortDescription)
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
