import BackendTestSupport
import HTTPTypes
import Testing

@testable import PushBackend

@Suite("identifiers from outside") struct IdentifierTests {
    private let api: TestAPI

    init() async throws { api = try await TestAPI() }

    /// JSON escapes of characters that end or change a text elsewhere.
    private static let controls = ["\\u0000", "\\u0000mallory", "\\n", "\\u001b", "\\u007f", "\\u0085"]

    @Test(
        "a token whose user is empty, too long, or has NUL or another control character registers nothing",
        arguments: [
            "alice\0mallory", "alice\0", "\0", "alice\n", "alice\u{85}", String(repeating: "a", count: 257), "",
        ])
    func user(_ user: String) async throws {
        #expect(try await api.upload(try Phone(trusting: api.keys), by: user).status == 401)
        #expect(try await api.test.count("pending") == 0)
        #expect(api.log.lines.contains { $0.metadata["reason"] == "badUser" })
    }

    @Test("a message to a user with a control character is refused with 422", arguments: controls)
    func receiver(_ control: String) async throws {
        let body = #"{"user":"alice\#(control)","payload":\#(TestAPI.payload)}"#
        #expect(try await api.call(.post, "/v1/messages", body, by: .service).status == 422)
    }

    @Test("a collapse id or a push_id has 0x21 to 0x7E, and is refused with 422 with any other character")
    func ids() async throws {
        func status(_ members: String, in payload: String = "") async throws -> Int {
            try await api.send(#"{"aps":{"alert":"Hi"}\#(payload)}"#, more: members).status
        }
        for text in Self.controls + [" ", "a b", "\u{e9}", "\\u202e", ""] {
            #expect(try await status(#","collapseID":"\#(text)""#) == 422, "\(text)")
            #expect(try await status("", in: #","push_id":"\#(text)""#) == 422, "\(text)")
        }
        for (id, pushID, expected) in [(64, 256, 202), (65, 256, 422), (64, 257, 422)] {
            let (id, pushID) = (String(repeating: "~", count: id), String(repeating: "!", count: pushID))
            #expect(try await status(#","collapseID":"\#(id)""#, in: #","push_id":"\#(pushID)""#) == expected)
        }
        #expect(try await status("", in: #","push_id":17"#) == 202)
        #expect(try await api.send(key: "a b").status == 422)
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
