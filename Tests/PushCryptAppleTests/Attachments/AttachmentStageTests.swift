import Foundation
import PushCryptApple
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import Testing

@Suite struct AttachmentStageTests {
    private static func contents(_ attachment: NotificationContent.Attachment) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: attachment.path)))
    }

    @Test("an encrypted attachment is fetched, opened and added to the content")
    func attached() async throws {
        let (run, file) = try (AttachmentStageRun(), TestFile(id: "picture"))
        try await RawServer.serving([.body(file.blob)]) { server in
            let push = try StagePush.opened(attachments: [file.reference])
            let content = try await run.process(push, from: server)
            var expected = push.content
            expected.attachments = content.attachments
            #expect(content == expected)
            let attachment = try #require(content.attachments.first)
            #expect(attachment.identifier == "picture")
            #expect(attachment.type == .png)
            #expect(try Self.contents(attachment) == file.plaintext)
            #expect(try run.names() == [URL(fileURLWithPath: attachment.path).lastPathComponent])
            #expect(!run.timer.isPending)
        }
    }

    @Test("a push without attachments makes no request")
    func nothing() async throws {
        let run = try AttachmentStageRun(plainMembers: ["image_url"])
        try await RawServer.serving([]) { server in
            let push = try StagePush.opened()
            #expect(try await run.process(push, from: server) == push.content)
            #expect(server.requests.isEmpty)
            return
        }
    }

    @Test("an attachment that can't be fetched is counted and the others are added in order", arguments: 0..<3)
    func oneOfThree(missing: Int) async throws {
        let run = try AttachmentStageRun()
        let files = try ["a", "b", "c"].map { try TestFile(id: $0, path: $0) }
        var scripts = files.map { [RawServer.Step].body($0.blob) }
        scripts[missing] = [.head("404 X", "Content-Length: 0", "Connection: close")]
        try await RawServer.serving(scripts) { server in
            let content = try await run.process(
                try StagePush.opened(attachments: files.map(\.reference)), from: server)
            var identifiers = ["a", "b", "c"]
            let gone = identifiers.remove(at: missing)
            #expect(content.attachments.map(\.identifier) == identifiers)
            #expect(content.missingAttachmentCount == 1)
            #expect(run.failed == ["\(gone) status"])
            #expect(try run.names().count == 2)
        }
    }

    @Test("attachments without an id are numbered, and those over the limit are missing")
    func identifiers() async throws {
        let run = try AttachmentStageRun(maximumCount: 2)
        let files = try (0..<3).map { _ in try TestFile() }
        try await RawServer.serving(files.map { .body($0.blob) }) { server in
            let content = try await run.process(
                try StagePush.opened(attachments: files.map(\.reference)), from: server)
            #expect(Set(content.attachments.map(\.identifier)).count == 2)
            #expect(content.missingAttachmentCount == 1)
            #expect(server.requests.count == 2)
        }
    }

    struct Broken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: String
        var type = "image/png"
        var plaintext = TestFile.png
        let script: @Sendable (TestFile) throws -> [RawServer.Step]
    }

    private static let endless = "Transfer-Encoding: chunked"

    private static let broken = [
        Broken(testDescription: "shorter than its declared length", code: "network") { file in
            [.head("200 OK", "Content-Length: \(file.blob.count)"), .send(Array(file.blob.dropLast()))]
        },
        Broken(testDescription: "one byte short", code: "damaged") { .body($0.blob.dropLast()) },
        Broken(testDescription: "without its last chunk", code: "damaged") { .body(Array($0.blob[..<(4 + 65_552)])) },
        Broken(testDescription: "one byte longer", code: "damaged") { .body($0.blob + [0]) },
        Broken(testDescription: "one bit flipped", code: "damaged") { file in
            var blob = file.blob
            blob[100_000] ^= 1
            return .body(blob)
        },
        Broken(testDescription: "another blob", code: "damaged") { .body(try TestFile($0.plaintext).blob) },
        Broken(testDescription: "not encrypted", code: "damaged") { .body($0.plaintext) },
        Broken(testDescription: "sealed as a payload", code: "damaged") { file in
            .body(try SealedBlob(file.plaintext, for: .payload).bytes)
        },
        Broken(testDescription: "empty", code: "damaged") { _ in .body([]) },
        Broken(testDescription: "endless", code: "damaged") { file in
            [.head("200 OK", "Connection: close"), .send(file.blob), .flood([UInt8](repeating: 0, count: 65_536))]
        },
        Broken(testDescription: "HTML", code: "wrongType", plaintext: TestFile.html) { .body($0.blob) },
        Broken(testDescription: "another type", code: "wrongType", plaintext: TestFile.jpeg) { .body($0.blob) },
        Broken(testDescription: "a short file", code: "wrongType", plaintext: Array(TestFile.png[..<15])) {
            .body($0.blob)
        },
        Broken(testDescription: "404", code: "status") { _ in [.head("404 X", "Content-Length: 9"), .hold()] },
        Broken(testDescription: "500", code: "status") { _ in [.head("500 X", "Content-Length: 9"), .hold()] },
        Broken(testDescription: "redirect", code: "addressRefused") { _ in
            [.redirect(to: "http://example.com/a")]
        },
        Broken(testDescription: "gzip", code: "encoding") { _ in
            [.head("200 OK", "Content-Encoding: gzip", "Content-Length: 900"), .send([0x1f, 0x8b, 8, 0]), .hold()]
        },
    ]

    @Test("a broken attachment is missing, leaves no file and keeps the text", arguments: broken)
    func missing(broken: Broken) async throws {
        let run = try AttachmentStageRun()
        let file = try TestFile(broken.plaintext, type: broken.type, id: "a")
        try await RawServer.serving([broken.script(file)]) { server in
            let push = try StagePush.opened(attachments: [file.reference])
            var expected = push.content
            expected.missingAttachmentCount = 1
            #expect(try await run.process(push, from: server) == expected)
            #expect(run.failed == ["a \(broken.code)"])
            #expect(try run.names().isEmpty)
        }
    }

    @Test(
        "an attachment with an unsupported type or size is refused without a request",
        arguments: [("image/png", 10_000_001, "tooLarge"), ("image/webp", 100, "wrongType")])
    func notAskedFor(type: String, byteCount: Int, code: String) async throws {
        let run = try AttachmentStageRun()
        let file = try TestFile()
        let blob = file.reference.blob
        let size = try #require(BlobReference(blob.purpose, key: blob.key, size: Int64(byteCount), sha256: blob.sha256))
        let reference = try AttachmentReference(url: file.reference.url, blob: size, type: type, id: "a")
        try await RawServer.serving([.body(file.blob)]) { server in
            let content = try await run.process(try StagePush.opened(attachments: [reference]), from: server)
            #expect(content.missingAttachmentCount == 1)
            #expect(run.failed == ["a \(code)"])
            #expect(server.requests.isEmpty)
            #expect(try run.names().isEmpty)
        }
    }
}
