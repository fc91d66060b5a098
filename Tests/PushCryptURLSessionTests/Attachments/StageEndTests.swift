import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import PushCryptURLSession
import Testing

/// What becomes of a stage that waits for a server that never ends its answer.
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

    /// The stage's own time is up: what is complete is shown, and the rest is left.
    @Test(arguments: stalls)
    func timeLimit(stall: String) async throws {
        let run = try StageRun()
        let files = try ["a", "b", "c"].map { try TestFile(id: $0, path: $0) }
        let (asked, closed) = (Signal(), Signal())
        let scripts: [[RawServer.Step]] = [
            .body(files[0].blob), Self.steps(stall, files[1]) + [.give(asked), .hold(closed)],
        ]
        try await RawServer.serving(scripts) { server in
            let push = try StagePush.opened(attachments: files.map(\.reference))
            async let processed = run.process(push, from: server)
            await asked.wait()
            run.timer.fire()
            let content = try await processed
            #expect(content.attachments.map(\.identifier) == ["a"])
            #expect(content.missingAttachmentCount == 2)
            #expect(run.failed == ["b cancelled", "c cancelled"])
            #expect(try run.names().count == 1)
            await closed.wait()
            #expect(server.requests.count == 2)
        }
    }

    /// The session's time is up: nothing of the stage is used, and no file is left, not even a complete one.
    @Test(arguments: stalls)
    func cancelled(stall: String) async throws {
        let run = try StageRun()
        let files = try ["a", "b", "c"].map { try TestFile(id: $0, path: $0) }
        let (asked, closed) = (Signal(), Signal())
        let scripts: [[RawServer.Step]] = [
            .body(files[0].blob), Self.steps(stall, files[1]) + [.give(asked), .hold(closed)],
        ]
        try await RawServer.serving(scripts) { server in
            let push = try StagePush.opened(attachments: files.map(\.reference))
            let process = Task { try await run.process(push, from: server) }
            await asked.wait()
            process.cancel()
            await #expect(throws: CancellationError.self) { try await process.value }
            #expect(try run.names().isEmpty)
            #expect(!run.timer.isPending)
            await closed.wait()
        }
    }
}
