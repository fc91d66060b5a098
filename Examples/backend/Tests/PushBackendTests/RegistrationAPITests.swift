import BackendTestSupport
import GRDB
import HTTPTypes
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("the interface for apps") struct RegistrationAPITests {
    private let clock = TestClock()
    private let api: TestAPI
    private let phone: Phone

    init() async throws {
        api = try await TestAPI(milliseconds: { [clock] in clock.now })
        phone = try Phone(trusting: api.keys)
    }

    private func installation(_ name: String, _ method: HTTPRequest.Method = .get, by user: String = "zoe") async throws
        -> TestAPI.Answer
    { try await api.call(method, "/v1/registrations/\(name)", by: .user(user)) }

    @Test("a registration is stored once, renewed with another token, and removed, and by no other user")
    func registration() async throws {
        let name = try #require(try await api.register(phone).text("name"))
        let state = try await installation(name)
        #expect(state.status == 200 && state.text("name") == name && state.body.contains(#""register":false"#))
        #expect(try await api.register(phone, token: "BB22").text("name") == name)
        _ = try await api.send()
        #expect(try await api.test.claim(at: clock.now).map(\.token) == ["bb22"])
        for method in [.get, .delete] as [HTTPRequest.Method] {
            #expect(try await installation(name, method, by: "amara").status == 404)
        }
        let removed = try await installation(name, .delete)
        #expect(removed.status == 204 && removed.body.isEmpty)
        for method in [.get, .delete] as [HTTPRequest.Method] {
            #expect(try await installation(name, method).status == 404)
        }
    }

    @Test("a record that can't be used is refused, and the answer names the member record")
    func record() async throws {
        let answer = try await api.call(
            .post, "/v1/registrations", #"{"token":"aa11","environment":"production","record":"{}"}"#, by: .user("zoe"))
        #expect(answer.status == 422 && answer.text("message")?.hasPrefix("record: ") == true)
    }

    @Test("an upload while no key signs is answered with 503 and can be repeated")
    func noSigningKey() async throws {
        api.keys.revoke()
        api.signingKeys.checkNow()
        let refused = try await api.upload(phone, by: "zoe")
        #expect(refused.status == 503 && refused.headers[.retryAfter] == "1")
        api.keys.add()
        api.signingKeys.checkNow()
        #expect(try await api.upload(phone, by: "zoe").status == 201)
    }

    // MARK: Challenges

    @Test("an answer that couldn't be stored can be repeated, and one that was stored can't")
    func repeatedAnswer() async throws {
        let answer = try phone.answer(to: try await api.upload(phone, by: "zoe").body)
        let database = api.test.store.database
        try await database.write {
            try $0.execute(
                sql: "CREATE TRIGGER broken BEFORE INSERT ON installation BEGIN SELECT RAISE(ABORT, 'broken'); END")
        }
        #expect(try await api.answer(answer).status == 503)
        try await database.write { try $0.execute(sql: "DROP TRIGGER broken") }
        #expect(try await api.answer(answer).status == 200)
        #expect(try await api.answer(answer).status == 404)
    }

    @Test("after a wrong answer, the right one is refused too")
    func wrongAnswer() async throws {
        let challenge = try await api.upload(phone, by: "zoe")
        let id = try #require(challenge.text("registration"))
        let wrong = #"{"registration":"\#(id)","answer":"\#(String(repeating: "A", count: 43))"}"#
        #expect(try await api.answer(wrong).status == 403)
        #expect(try await api.answer(try phone.answer(to: challenge.body)).status == 404)
    }

    @Test("an answer after ten minutes is refused, before and after the store is tidied", arguments: [false, true])
    func expired(isTidied: Bool) async throws {
        let answer = try phone.answer(to: try await api.upload(phone, by: "zoe").body)
        clock.advance(by: 601_000)
        if isTidied {
            try await api.test.store.tidy(at: clock.now)
            #expect(try await api.test.count("pending") == 0)
        }
        let late = try await api.answer(answer)
        #expect(late.status == 404 && late.text("error") == "challengeUnknown")
    }

    @Test("another user's challenge and one that never existed get the same answer")
    func foreignChallenge() async throws {
        let answer = try phone.answer(to: try await api.upload(phone, by: "zoe").body)
        let foreign = try await api.answer(answer, by: "amara")
        let invented = try await api.answer(
            #"{"registration":"AAAAAAAAAAAAAAAAAAAAAA","answer":"\#(String(repeating: "A", count: 43))"}"#)
        #expect(foreign.status == 404 && foreign.body == invented.body)
        #expect(try await api.answer(answer).status == 200)
    }

    @Test("an answer for another host is refused with 403, and the answer names the host that is expected")
    func otherHost() async throws {
        let challenge = try await api.upload(phone, by: "zoe").body
        let refused = try await api.answer(try phone.answer(to: challenge, host: "other.example.com"))
        #expect(refused.status == 403 && refused.text("message")?.hasSuffix(TestAPI.host) == true)
    }

    @Test("of a user's uploads the latest ten wait for their answers")
    func pendingUploads() async throws {
        let first = try await api.upload(phone, by: "zoe")
        let foreign = try await api.upload(phone, by: "amara")
        for _ in 1...10 {
            clock.advance(by: 1)
            #expect(try await api.upload(phone, by: "zoe").status == 201)
        }
        #expect(try await api.test.count("pending WHERE user = 'zoe'") == 10)
        #expect(try await api.answer(phone.answer(to: first.body)).status == 404)
        #expect(try await api.answer(phone.answer(to: foreign.body), by: "amara").status == 200)
    }

    // MARK: Receipts

    @Test("a receipt counts the push as opened; one of another user changes nothing, and other forms are refused")
    func receipt() async throws {
        let name = String(repeating: "A", count: 43)
        _ = try await api.register(phone)
        let id = try #require(try await api.send().text("id"))
        try await api.test.end(try await api.test.claim(at: clock.now)[0], .sent(receiptName: name))
        for (end, outcome, user, opened) in [("-malformed", "malformed", "amara", 0), ("", "opened", "zoe", 1)] {
            let receipt = #"{"id":"\#(name)\#(end)","push":"7","outcome":"\#(outcome)","time":1790000000}"#
            let answer = try await api.call(.post, "/v1/receipts", receipt, by: .user(user))
            #expect(answer.status == 204 && answer.body.isEmpty)
            let report = try await api.test.store.report(on: id)
            #expect(report?.opened == opened && report?.failed == [:])
        }
        #expect(try await api.call(.post, "/v1/receipts", "{}", by: .user("zoe")).status == 400)
        #expect(try await api.call(.post, "/v1/receipts", "{}", by: .anonymous).status == 401)
    }
}
