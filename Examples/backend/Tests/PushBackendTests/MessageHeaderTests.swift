import APNsStandIn
import BackendTestSupport
import HTTPTypes
import Testing

@testable import PushBackend

@Suite("the members of a message as headers of its push, over the network", .serialized) struct MessageHeaderTests {
    /// Hands in a message over HTTP, and sends it to the stand-in.
    ///
    /// - Returns: the push that arrives, and how long it is valid, in seconds.
    private func arrival(_ members: String) async throws -> (push: AcceptedPush, lifetime: Int64) {
        var arrived: (AcceptedPush, Int64)?
        try await Sending.with { sending in
            let api = try TestAPI(over: sending.test, milliseconds: { sending.clock.now })
            let body = #"{"to":{"user":"zoe"},"payload":{"aps":{"alert":"Hi"}}\#(members)}"#
            #expect(try await api.call(.post, "/v1/messages", body, by: .service).status == 202)
            _ = try await sending.attempt(try #require(try await sending.claim()))
            let push = try #require(sending.apns.accepted.first)
            arrived = (push, (push.expiration ?? 0) - sending.clock.now / 1_000)
        }
        return try #require(arrived)
    }

    @Test("priority, collapse id and expiry of a message arrive at APNs", arguments: [5, 1])
    func given(priority: Int) async throws {
        let (push, lifetime) = try await arrival(#","priority":\#(priority),"collapseID":"visit-7","expiresAfter":600"#)
        #expect(push.priority == priority && push.collapseID == "visit-7" && push.pushType == "alert")
        #expect(lifetime == 600)
    }

    @Test("a message without them has the priority 10, its apns-id as its collapse id, and a day")
    func standard() async throws {
        let (push, lifetime) = try await arrival("")
        #expect(push.priority == 10 && push.collapseID == push.id)
        #expect(lifetime == 86_400)
    }
}
