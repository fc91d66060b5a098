import PushCryptApple
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

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

    @Test(
        "an attachment whose server doesn't complete its response is missing, and the others are fetched",
        arguments: stalls)
    func oneStalls(stall: String) async throws {
        let run = try AttachmentStageRun()
        let files = try ["a", "b", "c"].map { try TestFile(id: $0, path: $0) }
        let (asked, closed) = (Signal(), Signal())
        let scripts: [[RawServer.Step]] = [
            .body(files[0].blob), Self.steps(stall, files[1]) + [.give(asked), .hold(closed)], .body(files[2].blob),
        ]
        try await RawServer.serving(scripts) { server in
            let push = try StagePush.opened(attachments: files.map(\.reference))
            async let processed = run.process(push, from: server)
            await asked.wait()
            run.timer.fire()
            let content = try await processed
            #expect(content.attachments.map(\.identifier) == ["a", "c"])
            #expect(content.missingAttachmentCount == 1)
            #expect(run.failed == ["b cancelled"])
            #expect(try run.names().count == 2)
            await closed.wait()
            // Of 14 seconds, 2 are reserved for each attachment that waits.
            #expect(run.timer.durations == [.seconds(10), .seconds(12), .seconds(14)])
            #expect(!run.timer.isPending)
        }
    }

    @Test("eight attachments share the time, and unused time is used by the next ones")
    func shares() async throws {
        let run = try AttachmentStageRun()
        let files = try (0..<8).map { try TestFile(id: "\($0)", path: "\($0)") }
        let missing = [RawServer.Step.head("404 X", "Content-Length: 0", "Connection: close")]
        try await RawServer.serving(Array(repeating: missing, count: 8)) { server in
            _ = try await run.process(try StagePush.opened(attachments: files.map(\.reference)), from: server)
            // The first limit is 14 / 8. No time passes, so each later one is 14 less 2 for each attachment that waits.
            #expect(run.timer.durations.first == .milliseconds(1_750))
            #expect(Array(run.timer.durations.dropFirst()) == [2, 4, 6, 8, 10, 12, 14].map { Duration.seconds($0) })
        }
    }

    @Test("at the stage's time limit complete attachments are shown and the others are missing", arguments: stalls)
    func timeLimit(stall: String) async throws {
        let run = try AttachmentStageRun()
        let files = try ["a", "b", "c"].map { try TestFile(id: $0, path: $0) }
        let (asked, closed) = (Signal(), Signal())
        let scripts: [[RawServer.Step]] = [
            .body(files[0].blob), Self.steps(stall, files[1]) + [.give(asked), .hold(closed)],
        ]
        try await RawServer.serving(scripts) { server in
            let push = try StagePush.opened(attachments: files.map(\.reference))
            async let processed = run.process(push, from: server)
            await asked.wait()
            run.elapsed.withLock { $0 = .seconds(14) }
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

    @Test("a cancelled stage throws and leaves no file, not even a complete one", arguments: stalls)
    func cancelled(stall: String) async throws {
        let run = try AttachmentStageRun()
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
