import BackendTestSupport
import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import PushCryptExtension
import PushCryptSender

@testable import PushBackend

/// The HTTP interface without a network, over a store in a temporary folder.
struct TestAPI {
    static let host = "push.example.com"
    static let serviceToken = "a-token-of-another-part-of-the-backend"

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
    }

    let test: TestStore
    let keys: SigningKeys
    let signingKeys: KeysetWatcher
    let log = CapturedLog(level: .trace)
    private let userTokens: UserToken
    private let router: Router<APIContext>

    init(
        over test: TestStore? = nil, senderSet: SenderSet? = nil, metrics: PrometheusMetrics = PrometheusMetrics(),
        refusedTokens: @escaping @Sendable () -> [String] = { [] },
        milliseconds: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
    ) throws {
        self.test = try test ?? TestStore()
        keys = SigningKeys()
        signingKeys = try KeysetWatcher(file: keys.path)
        userTokens = try UserToken(key: Data(repeating: 7, count: 32))
        router = BackendAPI(
            store: self.test.store,
            sealer: try PushSealer(
                topic: Sending.topic, signingKeys: signingKeys, metrics: metrics, milliseconds: milliseconds),
            host: Self.host, userTokens: userTokens, serviceTokens: try ServiceTokens([Self.serviceToken]),
            senderSet: senderSet, metrics: metrics, refusedTokens: refusedTokens, wakeUp: {},
            milliseconds: milliseconds
        ).router()
    }

    /// Sends a request with a JSON body.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, by caller: Caller,
        ifNoneMatch: String? = nil
    ) async throws -> Answer {
        let authorization: String? =
            switch caller {
            case .anonymous: nil
            case .user(let user): "Bearer \(token(for: user, until: .max))"
            case .service: "Bearer \(Self.serviceToken)"
            }
        return try await call(method, path, body, authorization: authorization, ifNoneMatch: ifNoneMatch)
    }

    /// The bearer token of a user.
    func token(for user: String, until expiry: Int64) -> String { userTokens.token(for: user, until: expiry) }

    /// The lengths of the uploads that the store remembers.
    func pendingBytes() async throws -> [Int] {
        try await test.store.database.read { try Int.fetchAll($0, sql: "SELECT length(value) FROM pending") }
    }

    /// Sends a request with a JSON body and a value of the header `Authorization`.
    func call(
        _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, authorization: String?,
        ifNoneMatch: String? = nil
    ) async throws -> Answer {
        var headers: HTTPFields = [:]
        headers[.ifNoneMatch] = ifNoneMatch
        headers[.authorization] = authorization
        if body != nil { headers[.contentType] = "application/json" }
        return try await Application(router: router, logger: log.logger).test(.router) { [headers] client in
            try await client.execute(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) }
            ) { Answer(status: Int($0.status.code), headers: $0.headers, body: String(buffer: $0.body)) }
        }
    }

    /// Uploads the record of a phone.
    ///
    /// - Parameter name: the installation to renew; nil for a new one.
    func upload(
        _ phone: PhoneKeys, token: String = "aa11", renewing name: String? = nil, more members: String = "",
        by user: String
    ) async throws -> Answer {
        let record = String(decoding: try JSONEncoder().encode(phone.record), as: UTF8.self)
        return try await call(
            name == nil ? .post : .put, "/v1/registrations" + (name.map { "/\($0)" } ?? ""),
            #"{"token":"\#(token)","environment":"production","record":\#(record)\#(members)}"#, by: .user(user))
    }

    /// Uploads the record of a phone, and answers the challenge.
    func register(_ phone: PhoneKeys, more members: String = "", by user: String) async throws -> Answer {
        let challenge = try await upload(phone, more: members, by: user)
        return try await call(.post, "/v1/answers", try phone.answer(to: challenge.body), by: .user(user))
    }

    /// Hands in a message for a user.
    func send(_ payload: String, to audience: String = #"{"user":"zoe"}"#) async throws -> Answer {
        try await call(.post, "/v1/messages", #"{"to":\#(audience),"payload":\#(payload)}"#, by: .service)
    }
}

/// The keys of a phone that trusts the service's signing keys.
final class PhoneKeys {
    private let folder: URL
    private let registration: RegistrationRecord
    private let opener: Opener

    init(trusting keys: SigningKeys) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("PhoneKeys." + UUID().uuidString)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let keyring = FileKeyring(folder: folder.path + "/keys")
        registration = try DeviceIdentity(storage: keyring).makeIfNeeded()
        opener = try Opener(
            topic: Sending.topic, keyring: keyring, senders: .pinned(TrustedSenders(json: keys.publicKey)))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The registration record.
    var record: String { String(decoding: registration.requestBody, as: UTF8.self) }

    func answer(to challenge: String, host: String = TestAPI.host) throws -> String {
        let answer = try opener.answer(challenge: Array(challenge.utf8), record: registration.jwk, host: host)
        return String(decoding: answer, as: UTF8.self)
    }
}
