import Foundation
import Hummingbird
import PushCryptSender

/// The routes for other parts of the backend: send to a user or a segment, and report what became of a message.
struct MessageRoutes {
    private static let largestMessageInBytes = 16_384
    private static let longestLifetimeInSeconds: Int64 = 30 * 86_400

    private struct Body: ClosedBody {
        static let members = ["to", "payload", "priority", "collapseID", "expiresAfter"]

        /// `{"user": NAME}` or `{"segment": NAME}`
        let to: [String: String]
        let priority: Int?
        let collapseID: String?
        let expiresAfter: Int64?
    }

    /// A payload whose `push_id` is a text. A number can't have other characters.
    private struct NamedPayload: Decodable {
        let pushID: String?

        private enum CodingKeys: String, CodingKey { case pushID = "push_id" }
    }

    private struct Accepted: Encodable {
        let id: String
        let deliveries: Int
    }

    private struct Report: Encodable {
        let id: String
        let deliveries: Int
        let queued: Int
        let sent: Int
        let opened: Int
        let failed: [String: Int]
    }

    let store: any PushStore
    let sealer: PushSealer
    let wakeUp: @Sendable () -> Void
    let milliseconds: @Sendable () -> Int64

    func add(to group: RouterGroup<APIContext>) {
        group.post("messages", use: send)
        group.get("messages/{id}", use: report)
    }

    @Sendable private func send(_ request: Request, _ context: APIContext) async throws -> Response {
        let (body, json) = try await request.decoded(Body.self, upTo: Self.largestMessageInBytes, context)
        let audience: Audience
        switch (body.to.count, body.to.first?.key, body.to.first?.value) {
        case (1, "user", let user?) where user.isUser: audience = .user(user)
        case (1, "segment", let segment?) where segment.isName: audience = .segment(segment)
        default:
            throw APIError.invalid("to has to name one user, without control characters, or one segment")
        }
        guard let payload = json["payload"] else {
            throw APIError(.badRequest, "malformed", "the member payload is missing")
        }
        do { try sealer.check(payload) } catch let error as SenderError {
            throw try APIError(.unprocessableContent, error, "payload: \(error.reason)\(error.excess)")
        }
        let priority = body.priority ?? 10
        guard [1, 5, 10].contains(priority) else { throw APIError.invalid("priority is 10, 5 or 1") }
        let lifetime = body.expiresAfter ?? 86_400
        guard (1...Self.longestLifetimeInSeconds).contains(lifetime) else {
            throw APIError.invalid("expiresAfter is 1 second to 30 days")
        }
        guard body.collapseID?.isCollapseID != false else {
            throw APIError.invalid("collapseID has 1 to 64 characters of 0x21 to 0x7E")
        }
        let named = try? JSONDecoder().decode(NamedPayload.self, from: payload)
        guard named?.pushID?.isPushID != false else {
            throw APIError.invalid("payload: push_id has 1 to 256 characters of 0x21 to 0x7E")
        }
        let key = request.headers[.idempotencyKey]
        guard key?.isIdempotencyKey != false else {
            throw APIError.invalid("the idempotency key has 1 to 255 characters of A-Z a-z 0-9 . _ : -")
        }
        let time = milliseconds()
        let accepted = try await store.accept(
            NewMessage(
                to: audience, payload: payload, priority: priority, collapseID: body.collapseID,
                expiresAt: time + lifetime * 1_000, idempotencyKey: key), at: time)
        wakeUp()
        return try .json(Accepted(id: accepted.id, deliveries: accepted.deliveryCount), status: .accepted)
    }

    @Sendable private func report(_ request: Request, _ context: APIContext) async throws -> Response {
        guard let id = try context.name("id"), let report = try await store.report(on: id) else {
            throw APIError.notFound("there is no message of this id: it never existed, or ended 30 days ago")
        }
        return try .json(
            Report(
                id: id, deliveries: report.deliveries, queued: report.queued, sent: report.sent, opened: report.opened,
                failed: report.failed))
    }
}

extension SenderError {
    /// For a payload that is too large: by how much.
    fileprivate var excess: String {
        guard let bytesNeeded, let bytesAvailable else { return "" }
        return ", which is \(bytesNeeded - bytesAvailable) bytes too many"
    }
}
