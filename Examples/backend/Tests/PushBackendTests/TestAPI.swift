import BackendTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JWTKit
import Logging
import NIOCore
import PushCryptSender

@testable import PushBackend

/// The HTTP interface without a network, over a store in a temporary folder.
struct TestAPI {
    static let host = "push.example.com"
    static let serviceToken = "a-token-of-another-part-of-the-backend"
    static let payload = #"{"aps":{"alert":"Hi"}}"#
    private static let userKey = Data(repeating: 7, count: 32)

    /// What the service answered.
    struct Answer {
        let status: Int
        let headers: HTTPFields
        let body: String

        /// A member of the body with a text.
        func text(_ name: String) -> String? {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])?[name] as? String
        }
    }

    /// Whom the request's bearer token names.
    enum Caller {
        case anonymous
        case user(String)
        case service
        /// A value of the header `Authorization`.
        case header(String)
    }

    let test: TestStore
    let keys: SigningKeys
    let signingKeys: KeysetWatcher
    let log = CapturedLog(level: .trace)
    private let router: Router<APIContext>

    init(
        over test: TestStore? = nil, gates: [APNsEnvironment: Gate] = [:],
        milliseconds: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
    ) async throws {
        self.test = try test ?? TestStore()
        keys = SigningKeys()
        signingKeys = try KeysetWatcher(file: keys.path)
        router = BackendAPI(
            store: self.test.store,
            sealer: try PushSealer(
                topic: Sending.topic, host: Self.host, signingKeys: signingKeys, milliseconds: milliseconds),
            userTokens: try await UserTokens(key: Self.userKey), serviceTokens: try ServiceTokens([Self.serviceToken]),
            gates: gates, milliseconds: milliseconds
        ).router()
    }

    /// The bearer token of a user.
    static func token(for user: String, until expiry: Int64 = 4_000_000_000, key: Data = userKey) async throws -> String
    {
        let claims = UserTokens.Claims(
            sub: .init(value: user), exp: .init(value: Date(timeIntervalSince1970: TimeInterval(expiry))))
        return try await JWTKeyCollection().add(hmac: HMACKey(from: key), digestAlgorithm: .sha256).sign(claims)
    }

    /// Sends a request with a JSON body.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, by caller: Caller, key: String? = nil
    ) async throws -> Answer {
        let authorization: String? =
            switch caller {
            case .anonymous: nil
            case .user(let user): "Bearer \(try await Self.token(for: user))"
            case .service: "Bearer \(Self.serviceToken)"
            case .header(let value): value
            }
        var headers: HTTPFields = [:]
        headers[.authorization] = authorization
        headers[HTTPField.Name("Idempotency-Key")!] = key
        if body != nil { headers[.contentType] = "application/json" }
        return try await Application(router: router, logger: log.logger).test(.router) { [headers] client in
            try await client.execute(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) }
            ) { Answer(status: Int($0.status.code), headers: $0.headers, body: String(buffer: $0.body)) }
        }
    }

    /// Uploads the record of a phone.
    func upload(_ phone: Phone, token: String = "aa11", more members: String = "", by user: String) async throws
        -> Answer
    {
        let record = String(decoding: try JSONEncoder().encode(phone.record), as: UTF8.self)
        return try await call(
            .post, "/v1/registrations",
            #"{"token":"\#(token)","environment":"production","record":\#(record)\#(members)}"#, by: .user(user))
    }

    /// Answers a challenge.
    func answer(_ body: String, by user: String = "zoe") async throws -> Answer {
        try await call(.post, "/v1/answers", body, by: .user(user))
    }

    /// Uploads the record of a phone, and answers the challenge.
    func register(_ phone: Phone, token: String = "aa11", by user: String = "zoe") async throws -> Answer {
        try await answer(try phone.answer(to: try await upload(phone, token: token, by: user).body), by: user)
    }

    /// Hands in a message for the user zoe.
    func send(_ payload: String = payload, more members: String = "", key: String? = nil) async throws -> Answer {
        try await call(
            .post, "/v1/messages", #"{"user":"zoe","payload":\#(payload)\#(members)}"#, by: .service, key: key)
    }
}
