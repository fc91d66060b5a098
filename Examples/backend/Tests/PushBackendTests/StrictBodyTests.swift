import BackendTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import PushBackend

@Suite("bodies of requests") struct StrictBodyTests {
    private let api: TestAPI

    init() throws { api = try TestAPI() }

    private func send(_ body: String) async throws -> TestAPI.Answer {
        try await api.call(.post, "/v1/messages", body, by: .service)
    }

    @Test(
        "a misspelt member is refused with 400, and the answer names it and the nearest member",
        arguments: [("expiresafter", "expiresAfter"), ("priorty", "priority"), ("collapseId", "collapseID")])
    func misspelt(member: String, nearest: String) async throws {
        let answer = try await send(#"{"to":{"user":"zoe"},"payload":{"aps":{"alert":"Hi"}},"\#(member)":5}"#)
        #expect(answer.status == 400 && answer.text("error") == "unknownMember")
        #expect(answer.text("message") == "the body has no member \(member); did you mean \(nearest)?")
    }

    @Test("a member that resembles none is refused with 400, and the answer lists the members")
    func unknown() async throws {
        let answer = try await send(#"{"to":{"user":"zoe"},"payload":{"aps":{"alert":"Hi"}},"badge":5}"#)
        #expect(answer.status == 400)
        #expect(
            answer.text("message")
                == "the body has no member badge; its members are to, payload, priority, collapseID, expiresAfter")
    }

    @Test("a member whose name has another form than the interface's isn't quoted")
    func unquoted() async throws {
        let answer = try await send(#"{"to":{"user":"zoe"},"payload":{"aps":{"alert":"Hi"}},"<b>\u0007":5}"#)
        #expect(answer.status == 400)
        #expect(
            answer.text("message") == "the members of the body are to, payload, priority, collapseID, expiresAfter")
    }

    @Test(
        "two members of one name, a trailing comma and text after the object are refused with 400",
        arguments: [
            (#"{"to":{"user":"zoe"},"to":{"user":"amara"},"payload":{"aps":{"alert":"Hi"}}}"#, "to is there twice"),
            (#"{"to":{"user":"zoe","user":"amara"},"payload":{"aps":{"alert":"Hi"}}}"#, "user is there twice"),
            (#"{"to":{"user":"zoe"},"payload":{"aps":{"alert":"Hi"}},}"#, "name of a member is missing, at byte 54"),
            (#"{"to":{"user":"zoe"},"payload":{"aps":{"alert":"Hi"}}} 1"#, "more text after the JSON value"),
        ])
    func ambiguous(body: String, reason: String) async throws {
        let answer = try await send(body)
        #expect(answer.status == 400 && answer.text("error") == "malformed")
        #expect(try #require(answer.text("message")).contains(reason))
    }

    @Test(
        "a member that is missing or has another type is named",
        arguments: [
            (#"{"payload":{"aps":{"alert":"Hi"}}}"#, "the member to is missing"),
            (#"{"to":{"user":"zoe"}}"#, "the member payload is missing"),
            (
                #"{"to":{"user":"zoe"},"payload":{"aps":{"alert":"Hi"}},"priority":"high"}"#,
                "the member priority has another type or form than documented"
            ), (#"{"to":{"user":1},"payload":{}}"#, "the member to.user has another type or form than documented"),
            ("[]", "the body isn't a JSON object"),
        ])
    func named(body: String, message: String) async throws {
        let answer = try await send(body)
        #expect(answer.status == 400 && answer.text("message") == message)
    }

    @Test("a payload that is too large is refused, and the answer says by how many bytes")
    func tooLarge() async throws {
        func excess(_ count: Int) async throws -> Int? {
            let answer = try await api.send(#"{"aps":{"alert":"\#(String(repeating: "x", count: count))"}}"#)
            #expect(answer.status == 422)
            let message = try #require(answer.text("message"))
            return message.firstMatch(of: #/which is ([0-9]+) bytes too many/#).flatMap { Int($0.1) }
        }
        let first = try #require(try await excess(3_500))
        #expect(try #require(try await excess(3_800)) > first)
    }

    @Test("a record that can't be used is refused, and the answer names the member record")
    func record() async throws {
        let answer = try await api.call(
            .post, "/v1/registrations", #"{"token":"aa11","environment":"production","record":"{}"}"#, by: .user("zoe"))
        #expect(answer.status == 422 && answer.text("message")?.hasPrefix("record: ") == true)
    }

    @Test("a path that the service doesn't have is answered with 404, and a message that doesn't exist in other words")
    func paths() async throws {
        let path = try await api.call(.get, "/v2/nothing", by: .service)
        #expect(path.status == 404 && path.text("message") == "the service has no such path")
        let message = try await api.call(.get, "/v1/messages/\(UUID().uuidString)", by: .service)
        #expect(message.status == 404 && message.text("message")?.hasPrefix("there is no message of this id") == true)
    }
}
