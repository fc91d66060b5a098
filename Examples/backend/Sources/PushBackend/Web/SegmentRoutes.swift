import Foundation
import Hummingbird

/// The route with which other parts of the backend choose a user's segments. Apps can't: a segment is an audience.
struct SegmentRoutes {
    private static let largestBodyInBytes = 8_192
    private static let largestCount = 64

    private struct Body: ClosedBody {
        static let members = ["segments"]

        let segments: [String]
    }

    let store: any PushStore

    func add(to group: RouterGroup<APIContext>) { group.put("users/{user}/segments", use: replace) }

    @Sendable private func replace(_ request: Request, _ context: APIContext) async throws -> Response {
        guard let user = try context.parameters.require("user").removingPercentEncoding, user.isUser else {
            throw APIError.invalid("a user has 1 to 256 characters, and no control characters")
        }
        let (body, _) = try await request.decoded(Body.self, upTo: Self.largestBodyInBytes, context)
        guard body.segments.count <= Self.largestCount, body.segments.allSatisfy(\.isName) else {
            throw APIError.invalid("segments are at most 64 names of 1 to 64 characters of A-Z a-z 0-9 . _ -")
        }
        try await store.setSegments(Set(body.segments), of: user)
        return Response(status: .noContent)
    }
}
