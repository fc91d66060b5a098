import HTTPTypes
import Hummingbird
import Logging
import PushCryptSender

/// Turns every error into an answer, and logs each request without its content: neither bodies, nor tokens, nor users.
struct RequestLog: RouterMiddleware {
    func handle(
        _ request: Request, context: APIContext, next: (Request, APIContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        func log(_ status: HTTPResponse.Status, _ reason: String? = nil) {
            var metadata: Logger.Metadata = [
                "method": "\(request.method)", "route": "\(context.endpointPath ?? "none")",
                "status": "\(status.code)", "duration": "\(ContinuousClock.now - start)",
            ]
            if let reason { metadata["reason"] = "\(reason)" }
            context.logger.info("request", metadata: metadata)
        }
        do {
            let response = try await next(request, context)
            log(response.status)
            return response
        } catch {
            let known = known(error, context.logger)
            log(known.status, known.logReason ?? known.code)
            throw known
        }
    }

    private func known(_ error: any Error, _ logger: Logger) -> APIError {
        switch error {
        case let error as APIError: return error
        case let error as any HTTPResponseError where error.status == .notFound:
            return .notFound("the service has no such path or method")
        case let error as any HTTPResponseError:
            return APIError(error.status, "refused", "the request can't be answered")
        case let error as SenderError where error.isTemporary:
            logger.warning("nothing can be sealed", metadata: ["reason": "\(error)"])
            return .unavailable
        case let error as StoreError where error.code == .conflict:
            return APIError(.conflict, "conflict", error.reason)
        case let error as StoreError:
            logger.warning("the store refused", metadata: ["reason": "\(error)"])
            return .unavailable
        default:
            logger.error("a handler failed", metadata: ["error": "\(type(of: error))"])
            return APIError(.internalServerError, "internalError", "the service failed")
        }
    }
}
