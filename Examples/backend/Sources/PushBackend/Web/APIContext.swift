import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Metrics
import NIOCore
import NIOFoundationCompat
import PushCryptSender

/// What handlers know about their request.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The user whose bearer token the request has; nil for a request of another kind.
    var user: String?
    /// How long the body may take.
    var bodyDeadline = RequestLimits().bodyDeadline

    init(source: ApplicationRequestContextSource) { coreContext = .init(source: source) }

    var currentUser: String {
        get throws {
            guard let user else { throw APIError.unauthorized(.missing) }
            return user
        }
    }
}

/// Lets signed-in users pass.
struct UserAuthentication: RouterMiddleware {
    let tokens: UserToken
    let seconds: @Sendable () -> Int64

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        do throws(TokenRefusal) { context.user = try tokens.user(of: request.bearerToken, at: seconds()) } catch {
            throw APIError.unauthorized(error)
        }
        return try await next(request, context)
    }
}

/// Lets other parts of the backend pass.
struct ServiceAuthentication: RouterMiddleware {
    let tokens: ServiceTokens

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        do throws(TokenRefusal) {
            guard tokens.contains(try request.bearerToken) else { throw .unknown }
        } catch { throw APIError.unauthorized(error) }
        return try await next(request, context)
    }
}

/// Logs and measures each request without its content: neither bodies, nor tokens, nor users.
struct RequestLog: RouterMiddleware {
    let metrics: any MetricsFactory

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        do {
            let response = try await next(request, context)
            record(request, context, response.status, since: start)
            return response
        } catch {
            let known = known(error, context.logger)
            record(request, context, known.status, reason: known.logReason ?? known.code, since: start)
            throw known
        }
    }

    private func known(_ error: any Error, _ logger: Logger) -> APIError {
        switch error {
        case let error as APIError: return error
        case let error as any HTTPResponseError where error.status == .notFound:
            return .notFound("the service has no such path")
        case let error as any HTTPResponseError:
            return APIError(error.status, "refused", "the request can't be answered")
        case let error as SenderError where error.isTemporary:
            logger.warning("nothing can be sealed", metadata: ["reason": "\(error)"])
            return .unavailable
        case let error as StoreError where error.code == .conflict:
            return APIError(.conflict, "conflict", error.reason)
        case let error as StoreError where error.code == .missing: return .notFound(error.reason)
        case let error as StoreError:
            logger.warning("the store refused", metadata: ["reason": "\(error)"])
            return .unavailable
        default:
            logger.error("a handler failed", metadata: ["error": "\(type(of: error))"])
            return APIError(.internalServerError, "internalError", "the service failed")
        }
    }

    /// - Parameter reason: the code of a refusal.
    private func record(
        _ request: Request, _ context: APIContext, _ status: HTTPResponse.Status, reason: String? = nil,
        since start: ContinuousClock.Instant
    ) {
        let nanoseconds = (ContinuousClock.now - start).nanoseconds
        let route = context.endpointPath ?? "none"
        Timer(
            label: "http_server_request_duration_seconds",
            dimensions: [("method", request.method.rawValue), ("route", route), ("status", "\(status.code)")],
            factory: metrics
        ).recordNanoseconds(nanoseconds)
        var metadata: Logger.Metadata = [
            "method": "\(request.method)", "route": "\(route)", "status": "\(status.code)",
            "milliseconds": "\(nanoseconds / 1_000_000)",
        ]
        if let reason { metadata["reason"] = "\(reason)" }
        context.logger.info("request", metadata: metadata)
    }
}

extension Request {
    /// The token of `Authorization: Bearer TOKEN`.
    fileprivate var bearerToken: String {
        get throws(TokenRefusal) {
            guard let value = headers[.authorization] else { throw .missing }
            let parts = value.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .malformed }
            return String(parts[1])
        }
    }

    /// Reads the body within limits and decodes it.
    ///
    /// - Returns: the body, and its text by members.
    /// - Throws: `APIError` with 400, 408, 413, 415.
    func decoded<Value: ClosedBody>(
        _ type: Value.Type, upTo limit: Int, _ context: APIContext
    ) async throws -> (body: Value, json: StrictJSON) {
        let text = try await json(upTo: limit, within: context.bodyDeadline)
        do {
            let json = try StrictJSON(text)
            try json.requireMembers(of: type)
            return (try JSONDecoder().decode(type, from: text), json)
        } catch let error as StrictJSON.Flaw { throw APIError(error) } catch let error as DecodingError {
            throw APIError(error)
        }
    }

    /// Reads the body within limits.
    ///
    /// - Throws: `APIError` with 400, 408, 413, 415.
    func json(upTo limit: Int, within deadline: Duration) async throws -> Data {
        guard headers[.contentType]?.split(separator: ";").first?.lowercased() == "application/json" else {
            throw APIError(.unsupportedMediaType, "unsupportedMediaType", "the body has to be application/json")
        }
        let body = body
        let bytes = try await withDeadline(deadline) {
            do { return try await body.collect(upTo: limit) } catch is NIOTooManyBytesError {
                throw APIError(.contentTooLarge, "tooLarge", "the body has more than \(limit) bytes")
            } catch {
                throw APIError(.badRequest, "malformed", "the body breaks off")
            }
        }
        return Data(buffer: bytes)
    }

    private func withDeadline<Value: Sendable>(
        _ deadline: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
            group.addTask {
                try await Task.sleep(for: deadline)
                throw APIError(.requestTimeout, "timeout", "the body took too long")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
