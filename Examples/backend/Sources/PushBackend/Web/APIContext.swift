import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOFoundationCompat
import PushCryptSender

/// What handlers know about their request.
struct APIContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The user whose bearer token the request has; nil for a request of another kind.
    var user: String?

    init(source: ApplicationRequestContextSource) { coreContext = .init(source: source) }

    var currentUser: String {
        get throws {
            guard let user else { throw APIError.unauthorized }
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
        guard let token = request.bearerToken, let user = tokens.user(of: token, at: seconds()) else {
            throw APIError.unauthorized
        }
        var context = context
        context.user = user
        return try await next(request, context)
    }
}

/// Lets other parts of the backend pass.
struct ServiceAuthentication: RouterMiddleware {
    let tokens: ServiceTokens

    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        guard let token = request.bearerToken, tokens.contains(token) else { throw APIError.unauthorized }
        return try await next(request, context)
    }
}

/// Logs each request without its content: neither bodies, nor tokens, nor users.
struct RequestLog: RouterMiddleware {
    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        func log(_ status: Int) {
            context.logger.info(
                "request",
                metadata: [
                    "method": "\(request.method)", "route": "\(context.endpointPath ?? "none")", "status": "\(status)",
                    "milliseconds": "\((ContinuousClock.now - start).nanoseconds / 1_000_000)",
                ])
        }
        do {
            let response = try await next(request, context)
            log(response.status.code)
            return response
        } catch let error as APIError {
            log(error.status.code)
            throw error
        } catch let error as any HTTPResponseError {
            // The router's own, for example 404.
            log(error.status.code)
            throw APIError(error.status, "refused", "the request can't be answered")
        } catch let error as SenderError where error.isTemporary {
            log(APIError.unavailable.status.code)
            context.logger.warning("nothing can be sealed", metadata: ["reason": "\(error)"])
            throw APIError.unavailable
        } catch let error as StoreError {
            let known: APIError =
                switch error.code {
                case .conflict: APIError(.conflict, "conflict", error.reason)
                case .missing: .notFound
                default: .unavailable
                }
            log(known.status.code)
            if known.status == .serviceUnavailable {
                context.logger.warning("the store refused", metadata: ["reason": "\(error)"])
            }
            throw known
        } catch {
            context.logger.error("a handler failed", metadata: ["error": "\(type(of: error))"])
            throw error
        }
    }
}

extension Request {
    /// The token of `Authorization: Bearer TOKEN`.
    fileprivate var bearerToken: String? {
        guard let value = headers[.authorization] else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    /// Reads the body within limits and decodes it.
    ///
    /// - Throws: `APIError` with 400, 408, 413, 415.
    func decoded<Value: Decodable & Sendable>(_ type: Value.Type, upTo limit: Int) async throws -> Value {
        try await json(upTo: limit).decoded(type)
    }

    /// Reads the body within limits.
    ///
    /// - Throws: `APIError` with 400, 408, 413, 415.
    func json(upTo limit: Int) async throws -> Data {
        guard headers[.contentType]?.split(separator: ";").first?.lowercased() == "application/json" else {
            throw APIError(.unsupportedMediaType, "unsupportedMediaType", "the body has to be application/json")
        }
        let body = body
        let bytes = try await withDeadline(seconds: 10) {
            do { return try await body.collect(upTo: limit) } catch is NIOTooManyBytesError {
                throw APIError(.contentTooLarge, "tooLarge", "the body has more than \(limit) bytes")
            } catch {
                throw APIError(.badRequest, "malformed", "the body breaks off")
            }
        }
        return Data(buffer: bytes)
    }

    private func withDeadline<Value: Sendable>(
        seconds: Int, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(operation: body)
            group.addTask {
                try await Task.sleep(for: .seconds(seconds))
                throw APIError(.requestTimeout, "timeout", "the body took too long")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}

extension Data {
    /// - Throws: `APIError` with 400.
    func decoded<Value: Decodable>(_ type: Value.Type) throws(APIError) -> Value {
        do { return try JSONDecoder().decode(type, from: self) } catch { throw .malformed }
    }
}
