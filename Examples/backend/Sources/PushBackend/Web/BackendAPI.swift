import Foundation
import HTTPTypes
import Hummingbird
import Metrics
import NIOCore
import PushCryptSender

/// The service's HTTP interface; `openapi.yaml` describes it.
public struct BackendAPI: Sendable {
    let store: any PushStore
    let sealer: PushSealer
    let host: String
    let userTokens: UserToken
    let serviceTokens: ServiceTokens
    let senderSet: SenderSet?
    let metrics: PrometheusMetrics
    let refusedTokens: @Sendable () -> [String]
    let limits: RequestLimits
    let wakeUp: @Sendable () -> Void
    let milliseconds: @Sendable () -> Int64

    /// Creates the interface.
    ///
    /// - Parameters:
    ///   - sealer: makes challenges.
    ///   - host: the host of this service's address, as the app knows it.
    ///   - senderSet: nil if the set is published elsewhere.
    ///   - refusedTokens: which of Apple's servers refuse the provider token, and why.
    ///   - limits: how long a client may take.
    ///   - wakeUp: called when something may be due.
    ///   - milliseconds: the clock, in milliseconds since 1970.
    public init(
        store: any PushStore, sealer: PushSealer, host: String, userTokens: UserToken, serviceTokens: ServiceTokens,
        senderSet: SenderSet?, metrics: PrometheusMetrics, refusedTokens: @escaping @Sendable () -> [String],
        limits: RequestLimits = RequestLimits(), wakeUp: @escaping @Sendable () -> Void,
        milliseconds: @escaping @Sendable () -> Int64
    ) {
        self.store = store
        self.sealer = sealer
        self.host = host
        self.userTokens = userTokens
        self.serviceTokens = serviceTokens
        self.senderSet = senderSet
        self.metrics = metrics
        self.refusedTokens = refusedTokens
        self.limits = limits
        self.wakeUp = wakeUp
        self.milliseconds = milliseconds
    }

    /// The routes.
    func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: RequestLog(metrics: metrics))
        router.add(middleware: MethodCheck())
        router.add(middleware: BodyDeadline(limits: limits))
        router.get("health", use: health)
        router.get("v1/senders", use: senders)
        let users = UserAuthentication(tokens: userTokens) { milliseconds() / 1_000 }
        RegistrationRoutes(store: store, sealer: sealer, host: host, wakeUp: wakeUp, milliseconds: milliseconds)
            .add(to: router.group("v1").add(middleware: users))
        let services = ServiceAuthentication(tokens: serviceTokens)
        let backend = router.group("v1").add(middleware: services)
        MessageRoutes(store: store, sealer: sealer, wakeUp: wakeUp, milliseconds: milliseconds).add(to: backend)
        SegmentRoutes(store: store).add(to: backend)
        router.group().add(middleware: services).get("metrics", use: metricsText)
        return router
    }

    private struct Health: Encodable {
        let status: String
        var signingKeys: String?
        var reasons: [String]?
    }

    /// The answer is public, so it has no path, no numbers of pushes, and no details of the refused set of sender keys.
    @Sendable private func health(_ request: Request, _ context: APIContext) async throws -> Response {
        let stuck: [String: Int]
        do { stuck = try await store.stuckDeliveries() } catch {
            return try .json(Health(status: "unavailable"), status: .serviceUnavailable)
        }
        let areKeysHealthy = sealer.signingKeyStatus.isHealthy
        var reasons = refusedTokens().map { "provider token refused: \($0)" }
        if !areKeysHealthy { reasons.append("signing keys: no key signs, or the file is refused") }
        reasons += stuck.keys.sorted().map { "pushes stuck: \($0)" }
        if senderSet?.refusal != nil { reasons.append("sender set: apps don't accept the file") }
        return try .json(
            Health(
                status: reasons.isEmpty ? "ok" : "degraded", signingKeys: areKeysHealthy ? "healthy" : "unhealthy",
                reasons: reasons.isEmpty ? nil : reasons))
    }

    @Sendable private func senders(_ request: Request, _ context: APIContext) async throws -> Response {
        guard let document = senderSet?.document else {
            throw APIError.notFound("this service serves no set of sender keys")
        }
        let headers: HTTPFields = [.eTag: document.etag, .cacheControl: "no-cache"]
        let known = request.headers[.ifNoneMatch]?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if let known, known.contains(document.etag) || known == ["*"] {
            return Response(status: .notModified, headers: headers)
        }
        var full = headers
        full[.contentType] = "application/json"
        return Response(status: .ok, headers: full, body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.bytes)))
    }

    @Sendable private func metricsText(_ request: Request, _ context: APIContext) async throws -> Response {
        func set(_ name: String, _ value: Int64) { Meter(label: name, factory: metrics).set(value) }
        let keys = sealer.signingKeyStatus
        set("push_queue_depth", Int64(try await store.queueDepth()))
        set("push_queue_stuck", Int64(try await store.stuckDeliveries().values.reduce(0, +)))
        set("push_signing_keys_healthy", keys.isHealthy ? 1 : 0)
        set("push_signing_keyset_seq", keys.sequence)
        if let time = keys.activatedAt {
            set("push_signing_key_age_seconds", milliseconds() / 1_000 - time.seconds)
        }
        if let senderSet { set("push_sender_set_healthy", senderSet.refusal == nil ? 1 : 0) }
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
    }
}

extension HTTPField.Name {
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
