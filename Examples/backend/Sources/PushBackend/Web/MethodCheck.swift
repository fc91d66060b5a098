import HTTPTypes
import Hummingbird

/// Answers 405 for a method that a path doesn't have: the router would answer 404.
struct MethodCheck: RouterMiddleware {
    /// The paths with their methods; `*` is one component.
    private static let methods: [(path: [Substring], methods: [HTTPRequest.Method])] = [
        (["health"], [.get]), (["metrics"], [.get]), (["v1", "senders"], [.get]), (["v1", "answers"], [.post]),
        (["v1", "registrations"], [.post]), (["v1", "registrations", "*"], [.get, .put, .delete]),
        (["v1", "receipts"], [.post]), (["v1", "messages"], [.post]), (["v1", "messages", "*"], [.get]),
        (["v1", "users", "*", "segments"], [.put]),
    ]

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let path = request.uri.path.split(separator: "/")
        if let known = Self.methods.first(where: { Self.matches(path, $0.path) }),
            !known.methods.contains(request.method)
        {
            var error = APIError(.methodNotAllowed, "methodNotAllowed", "the path doesn't have this method")
            error.headers[.allow] = known.methods.map(\.rawValue).joined(separator: ", ")
            throw error
        }
        return try await next(request, context)
    }

    private static func matches(_ path: [Substring], _ pattern: [Substring]) -> Bool {
        path.count == pattern.count && zip(path, pattern).allSatisfy { $1 == "*" || $0 == $1 }
    }
}
