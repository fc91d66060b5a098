import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCryptSender

/// A problem that a client can understand: `{"error": CODE, "message": TEXT}`. Of the request it quotes only the names of members.
struct APIError: Error, HTTPResponseError {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var headers: HTTPFields = [:]
    /// What the log has in place of the code.
    var logReason: String?

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// Refuses what a device or a caller has sent, unless the service can't check it now.
    ///
    /// - Throws: `SenderError` if it is temporary.
    init(_ status: HTTPResponse.Status, _ error: SenderError, _ message: String? = nil) throws(SenderError) {
        guard !error.isTemporary else { throw error }
        self.init(status, error.code.description, message ?? error.reason)
    }

    static func invalid(_ message: String) -> APIError { APIError(.unprocessableContent, "invalid", message) }

    /// The same answer for every refusal: only the log has the reason.
    /// - Parameter reason: contains nothing of the token.
    static func unauthorized(_ reason: String) -> APIError {
        var error = APIError(.unauthorized, "unauthorized", "a valid bearer token is required")
        error.headers[.wwwAuthenticate] = "Bearer"
        error.logReason = reason
        return error
    }

    static func notFound(_ message: String) -> APIError { APIError(.notFound, "notFound", message) }

    static let unavailable: APIError = {
        var error = APIError(.serviceUnavailable, "unavailable", "nothing was stored; try again")
        error.headers[.retryAfter] = "1"
        return error
    }()

    func response(from request: Request, context: some RequestContext) throws -> Response {
        try Response.json(["error": code, "message": message], status: status, headers: headers)
    }
}

extension Response {
    /// A response with a JSON body.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(
            status: status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try encoder.encode(value))))
    }
}
