import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptExtension
import Testing

/// Files by address in members of the sealed payload.
@Suite struct PlainAttachmentTests {
    private static let address = LoopbackTransport.origin + "a?b=c"

    private static let payloads = [
        ("image_url", #"{"aps":{"alert":"x"},"image_url":"\#(address)"}"#),
        ("image-url", #"{"aps":{"alert":"x"},"image-url":"\#(address)"}"#),
        ("aps.alert.image", #"{"aps":{"alert":{"body":"x","image":"\#(address)"}}}"#),
        ("a.b", #"{"aps":{"alert":"x"},"a.b":"\#(address)","a":{"b":"https://files.example/other"}}"#),
    ]

    @Test(arguments: payloads)
    func attached(member: String, payload: String) async throws {
        let run = try StageRun(plainMembers: ["attachment-url", member])
        try await RawServer.serving([.body(TestFile.jpeg)]) { server in
            let content = try await run.process(try StagePush.opened(payload), from: server)
            let attachment = try #require(content.attachments.first)
            #expect(content.attachments.count == 1)
            #expect(content.missingAttachmentCount == 0)
            #expect(attachment.type == .jpeg)
            #expect(try Data(contentsOf: URL(fileURLWithPath: attachment.path)) == Data(TestFile.jpeg))
            #expect(server.requests.first?.hasPrefix("GET /a?b=c ") == true)
        }
    }

    /// Only what the app has named.
    @Test(arguments: payloads)
    func notConfigured(member: String, payload: String) async throws {
        try await RawServer.serving([.body(TestFile.jpeg)]) { server in
            for members in [[], ["image"], ["aps.alert.title"], [member + ".x"], [""]] {
                let push = try StagePush.opened(payload)
                let content = try await StageRun(plainMembers: members).process(push, from: server)
                #expect(content == push.content)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: ["5", "null", "{}", "[\"\(address)\"]", "\"\"", "true"])
    func noAddress(value: String) async throws {
        try await RawServer.serving([.body(TestFile.jpeg)]) { server in
            let push = try StagePush.opened(#"{"aps":{"alert":"x"},"image_url":\#(value)}"#)
            let content = try await StageRun(plainMembers: ["image_url"]).process(push, from: server)
            #expect(content == push.content)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: [
        "http://files.example/a", "https://other.example/a", "file:///etc/passwd", "/etc/passwd", "a.png", "ftp://a/b",
    ])
    func refusedAddress(address: String) async throws {
        let run = try StageRun(plainMembers: ["image_url"])
        try await RawServer.serving([]) { server in
            let push = try StagePush.opened(#"{"aps":{"alert":"x"},"image_url":"\#(address)"}"#)
            let content = try await run.process(push, from: server)
            #expect(content.attachments.isEmpty)
            #expect(content.missingAttachmentCount == 1)
            #expect(run.failed == ["member.image_url addressRefused"])
            #expect(try run.names().isEmpty)
        }
    }

    private static let failures: [(String, [RawServer.Step])] = [
        ("wrongType", .body(TestFile.html)), ("wrongType", .body([])),
        ("network", [.head("200 OK", "Content-Length: 300000"), .send(TestFile.png)]),
        ("network", [.head("200 OK", "Content-Length: 300000", "Content-Length: 100000"), .send(TestFile.png)]),
        ("network", [.head("200 OK", "Content-Length: 99999999999999999999"), .send(TestFile.png)]),
        ("status", [.head("404 X"), .hold()]),
        ("tooLarge", [.head("200 OK", "Connection: close"), .send(TestFile.png), .flood(TestFile.png)]),
    ]

    /// A server that sends without end is left when the cap of the type is reached.
    @Test(arguments: failures.indices)
    func missing(index: Int) async throws {
        let run = try StageRun(plainMembers: ["image_url"])
        let (code, script) = Self.failures[index]
        try await RawServer.serving([script]) { server in
            let push = try StagePush.opened(#"{"aps":{"alert":"x"},"image_url":"\#(Self.address)"}"#)
            var expected = push.content
            expected.missingAttachmentCount = 1
            #expect(try await run.process(push, from: server) == expected)
            #expect(run.failed == ["member.image_url \(code)"])
            #expect(try run.names().isEmpty)
        }
    }

    /// Blobs come first.
    @Test func besidesBlobs() async throws {
        let (run, file) = try (StageRun(plainMembers: ["image_url"]), TestFile(id: "blob"))
        let scripts: [[RawServer.Step]] = [.body(file.blob), .body(TestFile.jpeg)]
        try await RawServer.serving(scripts) { server in
            let push = try StagePush.opened(
                #"{"aps":{"alert":"x"},"image_url":"\#(Self.address)"}"#, attachments: [file.reference])
            let content = try await run.process(push, from: server)
            #expect(content.attachments.map(\.type) == [.png, .jpeg])
            #expect(content.attachments.map(\.identifier) == ["blob", "member.image_url"])
        }
    }
}
