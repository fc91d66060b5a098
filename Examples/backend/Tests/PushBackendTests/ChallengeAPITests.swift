import BackendTestSupport
import Foundation
import HTTPTypes
import NIOConcurrencyHelpers
import Testing

@testable import PushBackend

@Suite("answers to challenges") struct ChallengeAPITests {
    private let offset = NIOLockedValueBox<Int64>(0)
    private let api: TestAPI
    private let phone: PhoneKeys

    init() throws {
        api = try TestAPI(milliseconds: { [offset] in
            Int64(Date().timeIntervalSince1970 * 1_000) + offset.withLockedValue { $0 }
        })
        phone = try PhoneKeys(trusting: api.keys)
    }

    private func answer(_ body: String, by user: String = "zoe") async throws -> TestAPI.Answer {
        try await api.call(.post, "/v1/answers", body, by: .user(user))
    }

    @Test("a second answer to a challenge is refused with 404 and challengeAnswered")
    func answered() async throws {
        let body = try phone.answer(to: try await api.upload(phone, by: "zoe").body)
        #expect(try await answer(body).status == 200)
        let second = try await answer(body)
        #expect(second.status == 404 && second.text("error") == "challengeAnswered")
    }

    @Test(
        "an answer after ten minutes is refused with 404 and challengeExpired, before and after the store is tidied",
        arguments: [false, true])
    func expired(isTidied: Bool) async throws {
        let body = try phone.answer(to: try await api.upload(phone, by: "zoe").body)
        offset.withLockedValue { $0 += 601_000 }
        if isTidied { try await api.test.store.tidy(at: Int64(Date().timeIntervalSince1970 * 1_000) + 601_000) }
        let late = try await answer(body)
        #expect(late.status == 404 && late.text("error") == "challengeExpired")
    }

    @Test("a tidied store keeps nothing of an upload that wasn't answered, and its id for a day")
    func tidied() async throws {
        let body = try phone.answer(to: try await api.upload(phone, by: "zoe").body)
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        try await api.test.store.tidy(at: now + 601_000)
        #expect(try await api.pendingBytes() == [0])
        try await api.test.store.tidy(at: now + 86_401_000)
        #expect(try await api.pendingBytes() == [])
        #expect(try await answer(body).text("error") == "challengeUnknown")
    }

    @Test("another user's challenge and one that never existed get the same answer, 404 and challengeUnknown")
    func foreign() async throws {
        let body = try phone.answer(to: try await api.upload(phone, by: "zoe").body)
        let foreign = try await answer(body, by: "amara")
        let invented = try await answer(
            #"{"registration":"AAAAAAAAAAAAAAAAAAAAAA","answer":"\#(String(repeating: "A", count: 43))"}"#)
        #expect(foreign.status == 404 && foreign.text("error") == "challengeUnknown")
        #expect(foreign.body == invented.body)
        #expect(try await answer(body).status == 200)
    }

    @Test("an answer for another host is refused with 403, and the answer names the host that is expected")
    func otherHost() async throws {
        let challenge = try await api.upload(phone, by: "zoe").body
        let refused = try await answer(try phone.answer(to: challenge, host: "other.example.com"))
        #expect(refused.status == 403 && refused.text("message")?.hasSuffix(TestAPI.host) == true)
    }

    @Test("an answer without the member answer is refused with 400, which names it")
    func incomplete() async throws {
        let refused = try await answer(#"{"registration":"AAAAAAAAAAAAAAAAAAAAAA"}"#)
        #expect(refused.status == 400 && refused.text("message")?.contains("registration and answer") == true)
    }
}
