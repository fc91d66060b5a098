import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import PushCryptSender

/// The body and headers of one request to APNs.
struct Push: Sendable {
    let body: ByteBuffer
    let headers: [(String, String)]
}

extension Push {
    init(_ push: SealedPush) { self.init(body: ByteBuffer(bytes: push.bytes), headers: push.headers) }
}

/// A connection to a stand-in for APNs, over HTTP/2 and TLS.
struct PushConnection: Sendable {
    static let topic = "com.example.app"
    private static let deviceToken = String(repeating: "5a", count: 32)

    private let client: HTTPClient
    private let server: String
    private let authorization: String

    /// - Parameters:
    ///   - trust: the server's certificate, a PEM file.
    ///   - token: the provider token. It is used for an hour, like that of a backend.
    init(server: String, trust: String, token: String) throws {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(trust))
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(tlsConfiguration: tls))
        self.server = server
        authorization = "bearer \(token)"
    }

    /// Adds the device to the stand-in. A second push finds a connection that takes many at once: the stand-in raises its
    /// limit when it knows the provider token.
    func open() async throws {
        let device = #"{"token":"\#(Self.deviceToken)","topic":"\#(Self.topic)"}"#
        try await post("/stand-in/devices", Push(body: ByteBuffer(string: device), headers: []))
    }

    func send(_ push: Push) async throws { try await post("/3/device/\(Self.deviceToken)", push) }

    func shutDown() async throws { try await client.shutdown() }

    private func post(_ path: String, _ push: Push) async throws {
        var request = HTTPClientRequest(url: server + path)
        request.method = .POST
        request.headers = HTTPHeaders(push.headers)
        request.headers.add(name: "authorization", value: authorization)
        request.body = .bytes(push.body)
        let response = try await client.execute(request, timeout: .seconds(60))
        // A body that isn't read resets its stream, and servers close connections with many resets.
        let answer = try await response.body.collect(upTo: 16_384)
        guard response.status == .ok else { throw Refusal(answer: String(buffer: answer)) }
    }

    struct Refusal: Error {
        let answer: String
    }
}

/// A provider token as Apple documents it: a JWS with ES256.
func providerToken(key pem: String, keyID: String, teamID: String) throws -> String {
    let time = Int64(Date().timeIntervalSince1970)
    let header = #"{"alg":"ES256","kid":"\#(keyID)"}"#
    let claims = #"{"iss":"\#(teamID)","iat":\#(time)}"#
    let signed = "\(Data(header.utf8).base64URL).\(Data(claims.utf8).base64URL)"
    let signature = try P256.Signing.PrivateKey(pemRepresentation: pem).signature(for: Data(signed.utf8))
    return "\(signed).\(signature.rawRepresentation.base64URL)"
}
