import HTTPTypes
import Hummingbird
import PushCryptSender

/// The service's HTTP interface; `openapi.yaml` describes it.
struct BackendAPI: Sendable {
    let store: SQLiteStore
    let sealer: PushSealer
    let userTokens: UserTokens
    let serviceTokens: ServiceTokens
    let gates: [APNsEnvironment: Gate]
    /// The clock, in milliseconds since 1970.
    let milliseconds: @Sendable () -> Int64

    func router() -> Router<APIContext> {
        let router = Router(context: APIContext.self)
        router.add(middleware: MetricsMiddleware())
        router.add(middleware: RequestLog())
        router.get("health", use: health)
        let users = BearerAuthentication { try await userTokens.user(of: $0, at: milliseconds() / 1_000) }
        RegistrationRoutes(store: store, sealer: sealer, milliseconds: milliseconds)
            .add(to: router.group("v1").add(middleware: users))
        let services = BearerAuthentication { token in
            try serviceTokens.check(token)
            return ""
        }
        MessageRoutes(store: store, sealer: sealer, milliseconds: milliseconds)
            .add(to: router.group("v1").add(middleware: services))
        return router
    }

    private struct Health: Encodable {
        let status: String
        var signingKeys: String?
        var reasons: [String]?
    }

    /// The answer is public, so it has no path and no numbers of pushes.
    @Sendable private func health(_ request: Request, _ context: APIContext) async throws -> Response {
        let stuck: [String: Int]
        do { stuck = try await store.stuckDeliveries() } catch {
            return try .json(Health(status: "unavailable"), status: .serviceUnavailable)
        }
        var reasons: [String] = []
        for environment in APNsEnvironment.allCases {
            guard let refusal = gates[environment]?.tokenRefusal else { continue }
            reasons.append("provider token refused: \(refusal) by \(environment.rawValue)")
        }
        let areKeysHealthy = sealer.signingKeyStatus.isHealthy
        if !areKeysHealthy { reasons.append("signing keys: no key signs, or the file is refused") }
        reasons += stuck.keys.sorted().map { "pushes stuck: \($0)" }
        return try .json(
            Health(
                status: reasons.isEmpty ? "ok" : "degraded", signingKeys: areKeysHealthy ? "healthy" : "unhealthy",
                reasons: reasons.isEmpty ? nil : reasons))
    }
}
