import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@Suite struct AttachmentStageTests {
    @Test func `an encrypted attachment is fetched, opened and added to the content`() async throws {
        let (run, file) = try (AttachmentStageRun(), TestFile(id: "picture"))
        try await RawServer.serving([.body(file.blob)]) { server in
            let push = try StagePush.opened(attachments: [file.reference])
            let content = try await run.process(push, from: server)
            var expected = push.content
            expected.attachments = content.attachments
            #expect(content == expected)
            let attachment = try #require(content.attachments.first)
            #expect(attachment.identifier == "picture" && attachment.type == .png)
            #expect(try Data(contentsOf: URL(fileURLWithPath: attachment.path)) == Data(file.plaintext))
            #expect(try run.names() == [URL(fileURLWithPath: attachment.path).lastPathComponent])
            #expect(!run.timer.isPending)
        }
    }

    @Test func `a push without attachments makes no request`() async throws {
        let run = try AttachmentStageRun(plainMembers: ["image_url"])
        try await RawServer.serving([]) { server in
            let push = try StagePush.opened()
            #expect(try await run.process(push, from: server) == push.content)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("an attachment that can't be fetched is counted and the others are added in order", arguments: 0..<3)
    func oneOfThree(missing: Int) async throws {
        let run = try AttachmentStageRun()
        let files = try ["a", "b", "c"].map { try TestFile(id: $0, path: $0) }
        var scripts = files.map { [RawServer.Step].body($0.blob) }
        scripts[missing] = .notFound
        try await RawServer.serving(scripts) { server in
            let push = try StagePush.opened(attachments: files.map(\.reference))
            let content = try await run.process(push, from: server)
            var identifiers = ["a", "b", "c"]
            let gone = identifiers.remove(at: missing)
            #expect(content.attachments.map(\.identifier) == identifiers && content.missingAttachmentCount == 1)
            #expect(run.failed == ["\(gone) status"])
            #expect(try run.names().count == 2)
        }
    }

    @Test func `attachments without an id are numbered, and those over the limit are missing`() async throws {
        let run = try AttachmentStageRun(maximumCount: 2)
        let files = try (0..<3).map { _ in try TestFile() }
        try await RawServer.serving(files.map { .body($0.blob) }) { server in
            let push = try StagePush.opened(attachments: files.map(\.reference))
            let content = try await run.process(push, from: server)
            #expect(Set(content.attachments.map(\.identifier)).count == 2 && content.missingAttachmentCount == 1)
            #expect(server.requests.count == 2)
        }
    }

    struct Broken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let code: String
        let plaintext: [UInt8]
        let script: @Sendable (TestFile) throws -> [RawServer.Step]

        init(
            _ testDescription: String, _ code: String, plaintext: [UInt8] = TestFile.png,
            script: @escaping @Sendable (TestFile) throws -> [RawServer.Step]
        ) {
            (self.testDescription, self.code, self.plaintext, self.script) = (testDescription, code, plaintext, script)
        }
    }

    private static let broken = [
        Broken("shorter than its declared length", "network") { file in
            [.head("200 OK", "Content-Length: \(file.blob.count)"), .send(Array(file.blob.dropLast()))]
        },
        Broken("one byte short", "damaged") { .body($0.blob.dropLast()) },
        Broken("without its last chunk", "damaged") { .body(Array($0.blob[..<(4 + 65_552)])) },
        Broken("one byte longer", "damaged") { .body($0.blob + [0]) },
        Broken("one bit flipped", "damaged") { .body($0.blob.flipping(bit: 800_000)) },
        Broken("another blob", "damaged") { .body(try TestFile($0.plaintext).blob) },
        Broken("not encrypted", "damaged") { .body($0.plaintext) },
        Broken("sealed as a payload", "damaged") { .body(try SealedBlob($0.plaintext, for: .payload).bytes) },
        Broken("empty", "damaged") { _ in .body([]) },
        Broken("endless", "damaged") { file in
            [.head("200 OK", "Connection: close"), .send(file.blob), .flood([UInt8](repeating: 0, count: 65_536))]
        },
        Broken("HTML", "wrongType", plaintext: TestFile.html) { .body($0.blob) },
        Broken("another type", "wrongType", plaintext: TestFile.jpeg) { .body($0.blob) },
        Broken("a short file", "wrongType", plaintext: Array(TestFile.png[..<15])) { .body($0.blob) },
        Broken("404", "status") { _ in [.head("404 X", "Content-Length: 9"), .hold()] },
        Broken("500", "status") { _ in [.head("500 X", "Content-Length: 9"), .hold()] },
        Broken("redirect", "addressRefused") { _ in [.redirect(to: "http://example.com/a")] },
        Broken("gzip", "encoding") { _ in
            [.head("200 OK", "Content-Encoding: gzip", "Content-Length: 900"), .send([0x1f, 0x8b, 8, 0]), .hold()]
        },
    ]

    @Test("a broken attachment is missing, leaves no file and keeps the text", arguments: broken)
    func missing(broken: Broken) async throws {
        let run = try AttachmentStageRun()
        let file = try TestFile(broken.plaintext, id: "a")
        try await RawServer.serving([broken.script(file)]) { server in
            let push = try StagePush.opened(attachments: [file.reference])
            try await run.expectMissing("a \(broken.code)", of: push, from: server)
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
            let push = try StagePush.opened(attachments: [reference])
            try await run.expectMissing("a \(code)", of: push, from: server)
            #expect(server.requests.isEmpty)
        }
    }
}

/// An attachment stage that waits for a server that never completes its response.
@Suite struct StageEndTests {
    private static let stalls = ["at once", "in the head", "before the body", "in the body", "in a redirect"]

    private static func steps(_ stall: String, _ file: TestFile) -> [RawServer.Step] {
        switch stall {
        case "at once": []
        case "in the head": [.text("HTTP/1.1 200 OK\r\nContent-")]
        case "before the body": [.head("200 OK", "Content-Length: \(file.blob.count)")]
        case "in the body":
            [.head("200 OK", "Content-Length: \(file.blob.count)"), .send(Array(file.blob[..<150_000]))]
        default: [.head("302 X", "Location: /b", "Content-Length: 9")]
        }
    }

    private let run: AttachmentStageRun
    private let asked = Signal()
    private let closed = Signal()

    init() throws { run = try AttachmentStageRun() }

    /// Serves three attachments, of which the server doesn't complete the second one.
    private func serving(_ stall: String, _ body: @Sendable (RawServer, OpenedPush) async throws -> Void) async throws {
        let files = try ["a", "b", "c"].map { try TestFile(id: $0, path: $0) }
        let push = try StagePush.opened(attachments: files.map(\.reference))
        let scripts: [[RawServer.Step]] = [
            .body(files[0].blob), Self.steps(stall, files[1]) + [.give(asked), .hold(closed)], .body(files[2].blob),
        ]
        try await RawServer.serving(scripts) { try await body($0, push) }
    }

    @Test("an attachment whose server stalls is missing, and the others are fetched", arguments: stalls)
    func oneStalls(stall: String) async throws {
        try await serving(stall) { server, push in
            async let processed = run.process(push, from: server)
            await asked.wait()
            run.timer.fire()
            let content = try await processed
            #expect(content.attachments.map(\.identifier) == ["a", "c"] && content.missingAttachmentCount == 1)
            #expect(run.failed == ["b cancelled"])
            #expect(try run.names().count == 2)
            await closed.wait()
            // Of 14 seconds, 2 are reserved for each attachment that waits.
            #expect(run.timer.durations == [.seconds(10), .seconds(12), .seconds(14)])
            #expect(!run.timer.isPending)
        }
    }

    @Test func `eight attachments share the time, and unused time is used by the next ones`() async throws {
        let files = try (0..<8).map { try TestFile(id: "\($0)", path: "\($0)") }
        try await RawServer.serving(Array(repeating: .notFound, count: 8)) { server in
            _ = try await run.process(try StagePush.opened(attachments: files.map(\.reference)), from: server)
            // The first limit is 14 / 8. No time passes, so each later one is 14 less 2 for each attachment that waits.
            #expect(run.timer.durations.first == .milliseconds(1_750))
            #expect(Array(run.timer.durations.dropFirst()) == [2, 4, 6, 8, 10, 12, 14].map { Duration.seconds($0) })
        }
    }

    @Test("at the stage's time limit complete attachments are shown and the others are missing", arguments: stalls)
    func timeLimit(stall: String) async throws {
        try await serving(stall) { server, push in
            async let processed = run.process(push, from: server)
            await asked.wait()
            run.elapsed.withLock { $0 = .seconds(14) }
            run.timer.fire()
            let content = try await processed
            #expect(content.attachments.map(\.identifier) == ["a"] && content.missingAttachmentCount == 2)
            #expect(run.failed == ["b cancelled", "c cancelled"])
            #expect(try run.names().count == 1)
            await closed.wait()
            #expect(server.requests.count == 2)
        }
    }

    @Test("a cancelled stage throws and leaves no file, not even a complete one", arguments: stalls)
    func cancelled(stall: String) async throws {
        try await serving(stall) { server, push in
            let process = Task { try await run.process(push, from: server) }
            await asked.wait()
            process.cancel()
            await #expect(throws: CancellationError.self) { try await process.value }
            let names = try run.names()
            #expect(names.isEmpty && !run.timer.isPending)
            await closed.wait()
        }
    }
}
