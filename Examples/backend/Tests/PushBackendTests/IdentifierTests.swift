import BackendTestSupport
import Foundation
import HTTPTypes
import Testing

@testable import PushBackend

@Suite("identifiers from outside") struct IdentifierTests {
    private let api: TestAPI

    init() throws { api = try TestAPI() }

    /// JSON escapes of characters that end or change a text elsewhere.
    private static let controls = ["\\u0000", "\\u0000mallory", "\\n", "\\u001b", "\\u007f", "\\u0085"]

    @Test(
        "a token whose user has NUL or another control character, or isn't UTF-8, registers nothing",
        arguments: [
            "alice\0mallory", "alice\0", "\0", "alice\n", "alice\u{85}", String(repeating: "a", count: 257), "",
        ])
    func user(_ user: String) async throws {
        let phone = try PhoneKeys(trusting: api.keys)
        let answer = try await api.upload(phone, by: user)
        #expect(answer.status == 401)
        #expect(try await api.pendingBytes().isEmpty)
        #expect(api.log.lines.contains { $0.metadata["reason"] == "badUser" })
    }

    @Test("a user whose bytes aren't UTF-8 is refused, so that two of them aren't one user")
    func bytes() throws {
        let tokens = try UserToken(key: Data(repeating: 7, count: 32))
        let good = tokens.token(for: "zoë", until: .max)
        #expect(try tokens.user(of: good, at: 0) == "zoë")
        for user in [Data([0xFF]), Data([0xFE]), Data([0x61, 0xC3])] {
            #expect(throws: TokenRefusal.badUser) { try tokens.user(of: tokens.token(of: user, until: .max), at: 0) }
        }
    }

    @Test("a message to a user or segment with a control character is refused with 422", arguments: controls)
    func audience(_ control: String) async throws {
        for kind in ["user", "segment"] {
            let answer = try await api.send(#"{"aps":{"alert":"Hi"}}"#, to: #"{"\#(kind)":"alice\#(control)"}"#)
            #expect(answer.status == 422, "\(answer)")
        }
    }

    @Test(
        "segments of a user with an escaped control character are refused with 422",
        arguments: ["%00", "%0a", "%7f", "%c2%85"])
    func segments(_ escaped: String) async throws {
        let answer = try await api.call(
            .put, "/v1/users/alice\(escaped)mallory/segments", #"{"segments":["a"]}"#, by: .service)
        #expect(answer.status == 422)
        #expect(
            try await api.call(.put, "/v1/users/zo%C3%AB/segments", #"{"segments":["a"]}"#, by: .service).status == 204)
    }

    @Test("a collapse id or a push_id has 0x21 to 0x7E, and is refused with 422 with any other character")
    func ids() async throws {
        func status(_ members: String, in payload: String = "") async throws -> Int {
            let body = #"{"to":{"user":"zoe"},"payload":{"aps":{"alert":"Hi"}\#(payload)}\#(members)}"#
            return try await api.call(.post, "/v1/messages", body, by: .service).status
        }
        for text in Self.controls + [" ", "a b", "\u{e9}", "\\u202e", ""] {
            #expect(try await status(#","collapseID":"\#(text)""#) == 422, "\(text)")
            #expect(try await status("", in: #","push_id":"\#(text)""#) == 422, "\(text)")
        }
        #expect(
            try await status(
                #","collapseID":"!~visit-7""#, in: #","push_id":"!~\#(String(repeating: "x", count: 254))""#) == 202)
        #expect(try await status(#","collapseID":"\#(String(repeating: "x", count: 65))""#) == 422)
        #expect(try await status("", in: #","push_id":"\#(String(repeating: "x", count: 257))""#) == 422)
        #expect(try await status("", in: #","push_id":17"#) == 202)
    }

    @Test(
        "a name in a path that this service can't have made is answered with 404",
        arguments: ["a%00b", "a%20b", "%F0%9F%A7%B6"])
    func names(_ name: String) async throws {
        for method in [.get, .delete] as [HTTPRequest.Method] {
            #expect(try await api.call(method, "/v1/registrations/\(name)", by: .user("zoe")).status == 404)
        }
        #expect(try await api.call(.get, "/v1/messages/\(name)", by: .service).status == 404)
    }
}
