import BackendTestSupport
import Foundation
import HTTPTypes
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("the routes, over HTTP") struct RouteTests {
    private let api: TestAPI
    private let phone: PhoneKeys

    init() throws {
        api = try TestAPI()
        phone = try PhoneKeys(trusting: api.keys)
    }

    private func registrationName() async throws -> String {
        try #require(try await api.register(phone, by: "zoe").text("name"))
    }

    /// Hands in a message, and makes APNs accept it for every device.
    ///
    /// - Returns: the message's id.
    private func sendAndAccept() async throws -> String {
        let id = try #require(try await api.send(#"{"aps":{"alert":"Hi"}}"#).text("id"))
        let time = Int64(Date().timeIntervalSince1970 * 1_000) + 1_000
        for delivery in try await api.test.claim(at: time) {
            try await api.test.end(delivery, .sent(receiptName: Self.receiptName), at: time)
        }
        return id
    }

    private static let receiptName = String(repeating: "A", count: 43)

    private func report(_ id: String) async throws -> [String: Any] {
        let answer = try await api.call(.get, "/v1/messages/\(id)", by: .service)
        #expect(answer.status == 200)
        return try #require(try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
    }

    @Test(
        "a registration is read with 200, renewed with 201 and an answer, and removed with 204; then it is answered with 404"
    )
    func registration() async throws {
        let name = try await registrationName()
        let path = "/v1/registrations/\(name)"
        let state = try await api.call(.get, path, by: .user("zoe"))
        #expect(state.status == 200 && state.text("name") == name && state.body.contains(#""register":false"#))
        let challenge = try await api.upload(phone, token: "bb22", renewing: name, by: "zoe")
        #expect(challenge.status == 201)
        let renewed = try await api.call(.post, "/v1/answers", phone.answer(to: challenge.body), by: .user("zoe"))
        #expect(renewed.status == 200 && renewed.text("name") == name)
        _ = try await api.send(#"{"aps":{"alert":"Hi"}}"#)
        let claimed = try await api.test.claim(at: Int64(Date().timeIntervalSince1970 * 1_000) + 1_000)
        #expect(claimed.map(\.token) == ["bb22"])
        let removed = try await api.call(.delete, path, by: .user("zoe"))
        #expect(removed.status == 204 && removed.body.isEmpty)
        #expect(try await api.call(.get, path, by: .user("zoe")).status == 404)
        #expect(try await api.call(.delete, path, by: .user("zoe")).status == 404)
    }

    @Test("another user's registration is answered with 404 when it is read, renewed or removed, and stays")
    func foreign() async throws {
        let name = try await registrationName()
        let path = "/v1/registrations/\(name)"
        #expect(try await api.call(.get, path, by: .user("amara")).status == 404)
        #expect(try await api.upload(phone, renewing: name, by: "amara").status == 404)
        #expect(try await api.call(.delete, path, by: .user("amara")).status == 404)
        #expect(try await api.call(.get, path, by: .user("zoe")).status == 200)
    }

    @Test("the report on a message counts what was accepted by APNs, and only a service token can read it")
    func message() async throws {
        _ = try await registrationName()
        let id = try #require(try await api.send(#"{"aps":{"alert":"Hi"}}"#).text("id"))
        let before = try await report(id)
        #expect(before["deliveries"] as? Int == 1 && before["queued"] as? Int == 1 && before["sent"] as? Int == 0)
        let sent = try await report(try await sendAndAccept())
        #expect(sent["queued"] as? Int == 0 && sent["sent"] as? Int == 1 && sent["opened"] as? Int == 0)
        #expect(try await api.call(.get, "/v1/messages/\(id)", by: .user("zoe")).status == 401)
    }

    @Test(
        "a receipt is answered with 204, and the report then counts the push as opened; one of another user changes nothing"
    )
    func receipt() async throws {
        _ = try await registrationName()
        let id = try await sendAndAccept()
        func post(_ id: String, _ outcome: String, by user: String) async throws -> TestAPI.Answer {
            let receipt = #"{"id":"\#(id)","push":"7","outcome":"\#(outcome)","time":1790000000}"#
            return try await api.call(.post, "/v1/receipts", receipt, by: .user(user))
        }
        #expect(try await post("\(Self.receiptName)-malformed", "malformed", by: "amara").status == 204)
        #expect(try await report(id)["opened"] as? Int == 0)
        #expect((try await report(id)["failed"] as? [String: Int]) == [:])
        let answer = try await post(Self.receiptName, "opened", by: "zoe")
        #expect(answer.status == 204 && answer.body.isEmpty)
        #expect(try await report(id)["opened"] as? Int == 1)
    }

    @Test("a receipt of another form is refused with 400, and one without a bearer token with 401")
    func badReceipt() async throws {
        #expect(try await api.call(.post, "/v1/receipts", "{}", by: .user("zoe")).status == 400)
        #expect(try await api.call(.post, "/v1/receipts", "{}", by: .anonymous).status == 401)
    }
}
