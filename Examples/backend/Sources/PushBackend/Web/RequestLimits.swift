import Hummingbird

/// How long a client may take for a request. The number of requests is limited by the proxy in front of the service.
public struct RequestLimits: Sendable {
    /// The time from the head of a request to the end of its body; after it the answer is 408.
    public var bodyDeadline = Duration.seconds(10)
    /// The time without a byte from the client, in or between requests; after it the connection is closed.
    public var idleTimeout = Duration.seconds(30)

    /// Creates limits with the defaults.
    public init() {}
}

/// Tells the handlers the deadline of a body.
struct BodyDeadline: RouterMiddleware {
    let limits: RequestLimits

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.bodyDeadline = limits.bodyDeadline
        return try await next(request, context)
    }
}
