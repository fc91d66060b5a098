import BackendTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import PushBackend

@Suite(
    "what the log doesn't contain, over the network",
    .enabled(if: RunningStandIn.isAvailable, RunningStandIn.requirement)) struct LogTests
{
    private static let user = "amara.osei@example.com"
    private static let token = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    private static let text = "Your results are in."
    private static let receiptName = String(repeating: "A", count: 43)

    @Test("no line of the log at level trace has a token, a user, a text, a record or a bearer token")
    func secrets() async throws {
        try await Sending.with { sending in
            let api = try await TestAPI(over: sending.test, milliseconds: { sending.clock.now })
            let phone = try Phone(trusting: api.keys)
            try await useEverything(api, phone, sending)
            let lines = (api.log.lines + sending.log.lines).map { line in
                ([line.message] + line.metadata.flatMap { [$0, $1] }).joined(separator: " ")
            }
            #expect(lines.contains { $0.contains("attempt") } && lines.contains { $0.contains("APNs refused a push") })
            #expect(lines.count { $0.hasPrefix("request") } == 9)
            let record = try #require(
                try JSONSerialization.jsonObject(with: Data(phone.record.utf8)) as? [String: Any])
            let bearer = try await TestAPI.token(for: Self.user)
            let secrets =
                [
                    Self.user, Data(Self.user.utf8).base64EncodedString(), Self.token, Self.text, Self.receiptName,
                    TestAPI.serviceToken, bearer, String(bearer.suffix(43)),
                    try await sending.worker.token.current(), "visit-7",
                ] + ["x", "psk"].compactMap { record[$0] as? String }
            #expect(secrets.count == 12)
            for secret in secrets { #expect(!lines.contains { $0.contains(secret) }, "\(secret)") }
        }
    }

    /// Uploads, refusals of each kind, a message that is refused by APNs and one that is sent, and a receipt.
    private func useEverything(_ api: TestAPI, _ phone: Phone, _ sending: Sending) async throws {
        let user = TestAPI.Caller.user(Self.user)
        let message =
            #"{"user":"\#(Self.user)","payload":{"aps":{"alert":"\#(Self.text)"}},"collapseID":"visit-7"}"#
        try await sending.apns.add(token: Self.token, topic: Sending.topic)
        let challenge = try await api.upload(phone, token: Self.token, by: Self.user)
        let answer = try phone.answer(to: challenge.body)
        for status in [200, 404] { #expect(try await api.answer(answer, by: Self.user).status == status) }
        let bad = #"{"token":"\#(Self.token)","environment":"production","record":"{\"psk\":\"\#(Self.text)\"}"}"#
        #expect(try await api.call(.post, "/v1/registrations", bad, by: user).status == 422)
        #expect(try await api.call(.get, "/v1/registrations/\(Self.token)", by: user).status == 404)
        #expect(try await api.call(.post, "/v1/messages", message, by: .service).status == 202)
        #expect(try await api.call(.post, "/v1/messages", message, by: user).status == 401)
        let misspelt = message.replacing("collapseID", with: "collapse")
        #expect(try await api.call(.post, "/v1/messages", misspelt, by: .service).status == 400)
        try await sending.attempt(nil, .answer("TooManyRequests"))
        sending.clock.advance(by: 60_000)
        try await sending.attempt()
        let receipt = #"{"id":"\#(Self.receiptName)","push":"7","outcome":"opened","time":1790000000}"#
        #expect(try await api.call(.post, "/v1/receipts", receipt, by: user).status == 204)
    }
}
