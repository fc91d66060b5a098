import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptExtension
import Testing

/// Unencrypted files whose addresses are in members of the sealed payload.
@Suite struct PlainAttachmentTests {
    private static let address = LoopbackTransport.origin + "a?b=c"

    private static let payloads = [
        ("image_url", #"{"aps":{"alert":"x"},"image_url":"\#(address)"}"#),
        ("image-url", #"{"aps":{"alert":"x"},"image-url":"\#(address)"}"#),
        ("aps.alert.image", #"{"aps":{"alert":{"body":"x","image":"\#(address)"}}}"#),
        ("a.b", #"{"aps":{"alert":"x"},"a.b":"\#(address)","a":{"b":"https://files.example/other"}}"#),
    ]

    @Test("the file named by a configured member is fetched without decryption", arguments: payloads)
    func attached(member: String, payload: String) async throws {
        let run = try AttachmentStageRun(plainMembers: ["attachment-url", member])
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

    @Test("a member that isn't configured is not fetched", arguments: payloads)
    func notConfigured(member: String, payload: String) async throws {
        try await RawServer.serving([.body(TestFile.jpeg)]) { server in
            for members in [[], ["image"], ["aps.alert.title"], [member + ".x"], [""]] {
                let push = try StagePush.opened(payload)
                let content = try await AttachmentStageRun(plainMembers: members).process(push, from: server)
                #expect(content == push.content)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test(
        "a member that isn't a non-empty string is ignored",
        arguments: ["5", "null", "{}", "[\"\(address)\"]", "\"\"", "true"])
    func noAddress(value: String) async throws {
        try await RawServer.serving([.body(TestFile.jpeg)]) { server in
            let push = try StagePush.opened(#"{"aps":{"alert":"x"},"image_url":\#(value)}"#)
            let content = try await AttachmentStageRun(plainMembers: ["image_url"]).process(push, from: server)
            #expect(content == push.content)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(
        "an address that the policy refuses makes the attachment missing",
        arguments: [
            "http://files.example/a", "https://other.example/a", "file:///etc/passwd", "/etc/passwd", "a.png",
            "ftp://a/b",
        ])
    func refusedAddress(address: String) async throws {
        let run = try AttachmentStageRun(plainMembers: ["image_url"])
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
        ("tooLarge", [.head("200 OK", "Connection: close"), .send(TestFile.png), .flood(TestFile.png, limit: .max)]),
    ]

    @Test("a broken unencrypted file is missing and leaves no file", arguments: failures.indices)
    func missing(index: Int) async throws {
        let run = try AttachmentStageRun(plainMembers: ["image_url"])
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

    @Test("encrypted attachments are before unencrypted ones")
    func besidesBlobs() async throws {
        let (run, file) = try (AttachmentStageRun(plainMembers: ["image_url"]), TestFile(id: "blob"))
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
