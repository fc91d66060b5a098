import Foundation
import HTTPTypes
import Hummingbird
import PushCryptSender

/// The routes for other parts of the backend: send to a user, and report what became of a message.
struct MessageRoutes {
    private static let largestMessageInBytes = 16_384
    private static let longestLifetimeInSeconds: Int64 = 30 * 86_400

    private struct Body: ClosedBody {
        static let members: Set = ["user", "payload", "priority", "collapseID", "expiresAfter"]

        let user: String
        let priority: Int?
        let collapseID: String?
        let expiresAfter: Int64?
    }

    let store: SQLiteStore
    let sealer: PushSealer
    let milliseconds: @Sendable () -> Int64

    func add(to group: RouterGroup<APIContext>) {
        group.post("messages", use: send)
        group.get("messages/{id}", use: report)
    }

    @Sendable private func send(_ request: Request, _ context: APIContext) async throws -> Response {
        let json = try await request.json(upTo: Self.largestMessageInBytes)
        let message = try message(json, key: request.headers[.idempotencyKey])
        return try .json(try await store.accept(message, at: milliseconds()), status: .accepted)
    }

    private func message(_ json: Data, key: String?) throws -> NewMessage {
        let body = try Body(json: json)
        let object = try JSONObject(json)
        guard let payload = object["payload"] else {
            throw APIError(.badRequest, "malformed", "the member payload is missing")
        }
        // A number can't have other characters.
        let pushID = (object.members["payload"] as? [String: Any])?["push_id"] as? String
        let priority = body.priority ?? 10
        let lifetime = body.expiresAfter ?? 86_400
        for (isValid, rule) in [
            (body.user.isUser, "user has 1 to 256 characters, none of them a control character"),
            ([1, 5, 10].contains(priority), "priority is 10, 5 or 1"),
            ((1...Self.longestLifetimeInSeconds).contains(lifetime), "expiresAfter is 1 second to 30 days"),
            (body.collapseID?.isCollapseID != false, "collapseID has 1 to 64 characters of 0x21 to 0x7E"),
            (pushID?.isPushID != false, "payload: push_id has 1 to 256 characters of 0x21 to 0x7E"),
            (key?.isIdempotencyKey != false, "the idempotency key has 1 to 255 characters of A-Z a-z 0-9 . _ : -"),
        ] where !isValid { throw APIError.invalid(rule) }
        do { try sealer.check(payload) } catch let error as SenderError {
            throw try APIError(.unprocessableContent, error, "payload: \(error.reason)\(error.excess)")
        }
        return NewMessage(
            user: body.user, payload: payload, priority: priority, collapseID: body.collapseID,
            expiresAt: milliseconds() + lifetime * 1_000, idempotencyKey: key)
    }

    @Sendable private func report(_ request: Request, _ context: APIContext) async throws -> Response {
        guard let id = try context.name("id"), let report = try await store.report(on: id) else {
            throw APIError.notFound("there is no message of this id: it never existed, or ended 30 days ago")
        }
        return try .json(report)
    }
}

extension SenderError {
    /// For a payload that is too large: by how much.
    fileprivate var excess: String {
        guard let bytesNeeded, let bytesAvailable else { return "" }
        return ", which is \(bytesNeeded - bytesAvailable) bytes too many"
    }
}

extension HTTPField.Name {
    fileprivate static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
}
