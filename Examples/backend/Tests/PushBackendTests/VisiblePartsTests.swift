import APNsStandIn
import BackendTestSupport
import Foundation
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("what Apple can read of a push, over the network", .serialized) struct VisiblePartsTests {
    /// Sends a payload.
    ///
    /// - Returns: what arrives at the stand-in: the length of the body, its `aps`, and the sealed text.
    private func arrival(
        _ payload: String, _ visible: PushSealer.VisibleParts
    ) async throws -> (byteCount: Int, aps: [String: Any]) {
        var arrived: (Int, [String: Any])?
        try await Sending.with(visible: visible) { sending in
            _ = try await sending.accept(payload: payload)
            _ = try await sending.attempt(try #require(try await sending.claim()))
            let push = try #require(sending.apns.accepted.first)
            let json = try JSONSerialization.jsonObject(with: Data(push.payload)) as? [String: Any]
            arrived = (push.payload.count, try #require(json?["aps"] as? [String: Any]))
        }
        return try #require(arrived)
    }

    @Test("a placeholder with keys of the app's strings replaces the standard one")
    func placeholder() async throws {
        var visible = PushSealer.VisibleParts()
        let payload = #"{"aps":{"alert":"Your results are in."}}"#
        let standard = try await arrival(payload, visible).aps["alert"] as? [String: String]
        #expect(standard == ["title": "New message", "body": "Open the app to read it"])
        visible.placeholder = Placeholder(title: "Clinic", bodyLocKey: "NEW_RESULTS")
        let chosen = try await arrival(payload, visible).aps["alert"] as? [String: String]
        #expect(chosen == ["title": "Clinic", "loc-key": "NEW_RESULTS"])
    }

    @Test("with the padding to the limit, a short and a long text have the same length")
    func padding() async throws {
        var visible = PushSealer.VisibleParts()
        visible.padding = .limit
        let long = String(repeating: "x", count: 500)
        let counts = try await [
            arrival(#"{"aps":{"alert":"Hi"}}"#, visible).byteCount,
            arrival(#"{"aps":{"alert":"\#(long)"}}"#, visible).byteCount,
        ]
        #expect(counts[0] == counts[1] && counts[0] > 4_000)
    }

    @Test("an exposed badge is outside too, and a payload without a badge is sent without one")
    func exposed() async throws {
        var visible = PushSealer.VisibleParts()
        let payload = #"{"aps":{"alert":"Hi","badge":3}}"#
        #expect(try await arrival(payload, visible).aps["badge"] == nil)
        visible.exposed = ["badge"]
        #expect(try await arrival(payload, visible).aps["badge"] as? Int == 3)
        #expect(try await arrival(#"{"aps":{"alert":"Hi"}}"#, visible).aps["badge"] == nil)
    }
}
