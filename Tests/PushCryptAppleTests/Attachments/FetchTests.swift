import Foundation
import PushCryptApple
import PushCryptSender
import PushCryptTestSupport
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
            #expect(content.attachments.count == 1 && content.missingAttachmentCount == 0)
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
                #expect(try await AttachmentStageRun(plainMembers: members).process(push, from: server) == push.content)
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test("a member that isn't text is ignored", arguments: ["5", "null", "{}", "[\"\(address)\"]", "\"\"", "true"])
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
            try await run.expectMissing("member.image_url addressRefused", of: push, from: server)
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
            try await run.expectMissing("member.image_url \(code)", of: push, from: server)
        }
    }

    @Test func `encrypted attachments are before unencrypted ones`() async throws {
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

@Suite struct OffloadFetcherTests {
    private static let text = #"{"aps":{"alert":"\#(String(repeating: "long ", count: 20_000))"},"a":1}"#

    private static let zeros = [UInt8](repeating: 0, count: 65_536)

    private static func reference(_ blob: SealedBlob) throws -> OffloadReference {
        try OffloadReference(url: LoopbackTransport.origin + "a", blob: blob.reference)
    }

    @Test func `an offloaded payload is fetched and replaces the short one`() async throws {
        let blob = try Sealer.offload(Array(Self.text.utf8))
        try await RawServer.serving([.body(blob.bytes)]) { server in
            let push = try StagePush.opened(offload: try Self.reference(blob))
            let offload = try #require(push.offload)
            let json = try await OffloadFetcher(transport: LoopbackTransport(server)).payload(offload)
            let whole = try push.replacing(offloaded: json)
            #expect(whole.payload == Array(Self.text.utf8))
            #expect(whole.content.body.literal?.count == 100_000)
        }
    }

    private static let broken: [(TransferError.Code, @Sendable (SealedBlob) throws -> [RawServer.Step])] = [
        (.damaged, { .body($0.bytes.dropLast()) }), (.damaged, { .body($0.bytes + [0]) }),
        (.damaged, { .body($0.bytes.flipping(bit: 0)) }), (.damaged, { .body([1] + $0.bytes.dropFirst()) }),
        (.damaged, { .body($0.bytes.flipping(bit: $0.bytes.bitCount - 1)) }), (.damaged, { _ in .body([]) }),
        (.damaged, { _ in .body(try Sealer.offload(Array(text.utf8)).bytes) }),
        (.damaged, { [.head("200 OK", "Connection: close"), .send($0.bytes), .flood(zeros)] }),
        (.status, { _ in [.head("404 X", "Content-Length: 9"), .hold()] }),
    ]

    @Test("a cut, extended, changed or foreign blob throws damaged, a missing one status", arguments: broken.indices)
    func damaged(index: Int) async throws {
        let blob = try Sealer.offload(Array(Self.text.utf8))
        let (code, script) = Self.broken[index]
        try await RawServer.serving([try script(blob)]) { server in
            let fetcher = OffloadFetcher(transport: LoopbackTransport(server))
            await expectFailure(code) { _ = try await fetcher.payload(try Self.reference(blob)) }
        }
    }

    @Test func `a blob over the limit is refused without a request`() async throws {
        let blob = try Sealer.offload(Array(Self.text.utf8))
        try await RawServer.serving([.body(blob.bytes)]) { server in
            let fetcher = OffloadFetcher(transport: LoopbackTransport(server), limitInBytes: 65_536)
            await expectFailure(.tooLarge) { _ = try await fetcher.payload(try Self.reference(blob)) }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a cancelled fetch throws cancelled and closes its connection`() async throws {
        let blob = try Sealer.offload(Array(Self.text.utf8))
        let (asked, closed) = (Signal(), Signal())
        let steps: [RawServer.Step] = [
            .head("200 OK", "Content-Length: \(blob.bytes.count)"), .send(Array(blob.bytes[..<70_000])), .give(asked),
            .hold(closed),
        ]
        try await RawServer.serving([steps]) { server in
            let fetcher = OffloadFetcher(transport: LoopbackTransport(server))
            let fetch = Task { try await fetcher.payload(try Self.reference(blob)) }
            await asked.wait()
            fetch.cancel()
            await expectFailure(.cancelled) { _ = try await fetch.value }
            await closed.wait()
        }
    }
}
