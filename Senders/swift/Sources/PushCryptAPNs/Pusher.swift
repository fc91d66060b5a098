public import AsyncHTTPClient
public import Foundation
import NIOCore
import NIOHTTP1
public import PushCryptSender

/// Seals notifications and sends them to APNs.
///
/// ```swift
/// let pusher = Pusher(sealer: sealer, token: try ProviderToken(key: p8, keyID: "…", teamID: "…"))
/// switch try await pusher.send(notification, to: registration) {
/// case .sent: break
/// case .gone(let since): // remove the row, if its token was stored before
/// case .later(let wait): // send it again then
/// case .refused(let refusal): // correct the request: the answer stays the same
/// }
/// ```
public struct Pusher: Sendable {
    private let sealer: Sealer
    private let token: ProviderToken
    private let client: HTTPClient
    private let options: Options

    /// How a pusher sends.
    public struct Options: Sendable {
        /// How often a push is sent until APNs accepts it, 1 or more.
        public var attempts = 3
        /// The longest wait between two attempts. If APNs asks for a longer one, `send` returns ``PushResult/later(after:reason:)``.
        public var longestWait = Duration.seconds(10)
        /// The time for one attempt.
        public var timeLimit = Duration.seconds(15)
        /// The servers of APNs. Tests name others.
        public var servers: [APNsEnvironment: String] = [
            .production: "https://api.push.apple.com", .sandbox: "https://api.sandbox.push.apple.com",
        ]
        /// Waits between two attempts. Tests replace it.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

        /// Makes the standard options.
        public init() {}
    }

    /// - Parameter client: must speak HTTP/2, as the standard configuration does.
    public init(sealer: Sealer, token: ProviderToken, client: HTTPClient = .shared, options: Options = Options()) {
        (self.sealer, self.token, self.client, self.options) = (sealer, token, client, options)
    }

    /// Seals a notification to an installation and sends it, again if APNs asks for it or doesn't answer. The device shows a push
    /// once, however often it was sent: every attempt has the same message and `apns-id`.
    ///
    /// - Parameters:
    ///   - notification: as for `Sealer.seal`.
    ///   - registration: the row of the installation. Without an environment it is one of production.
    ///   - change: changes the sealer's options for this push.
    /// - Throws: what `Sealer.seal` throws; `HTTPClientError`, `CancellationError`.
    public func send(
        _ notification: some Encodable, to registration: StoredRegistration,
        changing change: (inout Sealer.Options) throws -> Void = { _ in }
    ) async throws -> PushResult {
        let push = try sealer.seal(notification, to: Recipient(registration.registration), changing: change)
        let server = options.servers[registration.environment ?? .production] ?? ""
        var request = HTTPClientRequest(url: "\(server)/3/device/\(registration.deviceToken)")
        request.method = .POST
        request.headers = HTTPHeaders(push.headers)
        request.headers.add(name: "apns-id", value: UUID().uuidString)
        request.body = .bytes(push.bytes)
        var wait = Duration.seconds(1)
        for attempt in 1... {
            let token = try await token.current()
            request.headers.replaceOrAdd(name: "authorization", value: "bearer \(token)")
            let isLast = attempt >= options.attempts
            let answer: Answer
            do { answer = try await execute(request) } catch let error as HTTPClientError where !isLast {
                guard error != .cancelled else { throw error }
                try await options.sleep(wait)
                wait = min(wait * 2, options.longestWait)
                continue
            }
            switch answer.status {
            case 200: return .sent(push)
            case 410: return .gone(since: answer.time)
            case 403 where answer.reason == "ExpiredProviderToken" && !isLast: _ = try await self.token.renewed(token)
            case 429, 500, 503:
                let asked = answer.retryAfter ?? wait
                guard !isLast, asked <= options.longestWait else { return .later(after: asked, reason: answer.reason) }
                try await options.sleep(asked)
                wait = min(wait * 2, options.longestWait)
            default: return .refused(status: answer.status, reason: answer.reason)
            }
        }
        throw CancellationError()
    }

    private func execute(_ request: HTTPClientRequest) async throws -> Answer {
        let response = try await client.execute(
            request, timeout: .nanoseconds(options.timeLimit.components.seconds * 1_000_000_000))
        // A body that isn't read resets its stream, and servers close connections with many resets.
        let body = try await response.body.collect(upTo: 16_384)
        return Answer(
            status: Int(response.status.code), headers: response.headers,
            body: try? JSONDecoder().decode(Answer.Body.self, from: Data(body.readableBytesView)))
    }
}

/// What became of a push.
public enum PushResult: Sendable {
    /// APNs has accepted it. Only the app's receipts tell whether the device has opened it.
    case sent(SealedPush)
    /// The device token has ended, at the time that APNs names. Remove its row, if the token was stored before: the app may have
    /// registered again since.
    case gone(since: Date?)
    /// APNs asks to send it again later: it is overloaded, or gets too many pushes for the device.
    case later(after: Duration, reason: String)
    /// APNs refuses it, and would again: status and reason of its answer, such as 400 and `BadDeviceToken`.
    case refused(status: Int, reason: String)
}

/// An answer of APNs.
private struct Answer {
    struct Body: Decodable {
        let reason: String
        /// Milliseconds since 1970.
        let timestamp: Int64?
    }

    let status: Int
    let reason: String
    let time: Date?
    let retryAfter: Duration?

    init(status: Int, headers: HTTPHeaders, body: Body?) {
        self.status = status
        reason = body?.reason ?? "an answer without a reason"
        time = body?.timestamp.map { Date(timeIntervalSince1970: Double($0) / 1_000) }
        retryAfter = headers.first(name: "retry-after").flatMap(Int.init).map { .seconds($0) }
    }
}
