import BackendTestSupport
import Foundation
import GRDB
import HTTPTypes
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("the interface for apps") struct RegistrationAPITests {
    private let api: TestAPI
    private let phone: PhoneKeys

    init() throws {
        api = try TestAPI()
        phone = try PhoneKeys(trusting: api.keys)
    }

    @Test("an upload that chooses the segments of its user is refused with 400, and an app can't choose them otherwise")
    func segments() async throws {
        #expect(try await api.upload(phone, more: #","segments":["staff"]"#, by: "zoe").status == 400)
        #expect(try await api.register(phone, by: "zoe").status == 200)
        let sent = try await api.send(#"{"aps":{"alert":"Hi"}}"#, to: #"{"segment":"staff"}"#)
        #expect(sent.status == 202 && sent.body.contains(#""deliveries":0"#))
    }

    @Test("an answer that couldn't be stored can be repeated")
    func repeatedAnswer() async throws {
        let challenge = try await api.upload(phone, by: "zoe")
        let answer = try phone.answer(to: challenge.body)
        let database = api.test.store.database
        try await database.write {
            try $0.execute(
                sql: "CREATE TRIGGER broken BEFORE INSERT ON installation BEGIN SELECT RAISE(ABORT, 'broken'); END")
        }
        #expect(try await api.call(.post, "/v1/answers", answer, by: .user("zoe")).status == 503)
        try await database.write { try $0.execute(sql: "DROP TRIGGER broken") }
        #expect(try await api.call(.post, "/v1/answers", answer, by: .user("zoe")).status == 200)
        #expect(try await api.call(.post, "/v1/answers", answer, by: .user("zoe")).status == 404)
    }

    @Test("after a wrong answer, the right one is refused too")
    func wrongAnswer() async throws {
        let challenge = try await api.upload(phone, by: "zoe")
        let answer = try phone.answer(to: challenge.body)
        let id = try #require(challenge.text("registration"))
        let wrong = #"{"registration":"\#(id)","answer":"\#(String(repeating: "A", count: 43))"}"#
        #expect(try await api.call(.post, "/v1/answers", wrong, by: .user("zoe")).status == 403)
        #expect(try await api.call(.post, "/v1/answers", answer, by: .user("zoe")).status == 404)
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

    @Test("of a user's uploads the latest ten wait for their answers")
    func pendingUploads() async throws {
        let first = try await api.upload(phone, by: "zoe")
        let foreign = try await api.upload(phone, by: "amara")
        for _ in 1...10 { #expect(try await api.upload(phone, by: "zoe").status == 201) }
        let count = try await api.test.store.database.read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM pending WHERE user = 'zoe'")
        }
        #expect(count == 10)
        #expect(try await api.call(.post, "/v1/answers", phone.answer(to: first.body), by: .user("zoe")).status == 404)
        let other = try await api.call(.post, "/v1/answers", phone.answer(to: foreign.body), by: .user("amara"))
        #expect(other.status == 200)
    }
}
