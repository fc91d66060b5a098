import FlyingSocks
import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@Suite struct BrokenServerTests {
    typealias Answer = (name: String, code: TransferError.Code, steps: [RawServer.Step])

    private let transport = URLSessionTransport.loopback()
    private static let basic = "WWW-Authenticate: Basic"

    private static let answers: [Answer] = [
        ("closes at once", .network, []), ("closes in the status line", .network, [.text("HTTP/1.1 20")]),
        ("isn't HTTP", .network, [.text("220 mail.example ESMTP\r\n\r\n")]),
        ("cuts the body off", .network, [.head("200 OK", "Content-Length: 10"), .text("abc")]),
        ("cuts a chunk off", .network, [.head("200 OK", "Transfer-Encoding: chunked"), .text("8\r\nabc")]),
        ("lacks the last chunk", .network, [.head("200 OK", "Transfer-Encoding: chunked"), .text("3\r\nabc\r\n")]),
        ("has a length of -1", .network, [.head("200 OK", "Content-Length: -1"), .text("abc")]),
        ("requires a password", .status, [.head("401 X", basic + " realm=\"a\"", "Content-Length: 0"), .hold()]),
        ("redirects without a location", .status, [.head("302 Found", "Content-Length: 0"), .hold()]),
    ]

    /// Foundation on Linux stops the process ("Transfer completed, but there's no response").
    #if canImport(FoundationNetworking)
    private static let fatalOnLinux: [Answer] = []
    #else
    private static let fatalOnLinux: [Answer] = [
        ("closes in the head", .network, [.text("HTTP/1.1 200 OK\r\nA: b\r\n")]),
        ("requires a password without a realm", .status, [.head("401 X", basic, "Content-Length: 0"), .hold()]),
    ]
    #endif

    @Test("each broken response throws the expected error", arguments: answers + fatalOnLinux)
    func fails(name: String, code: TransferError.Code, steps: [RawServer.Step]) async throws {
        try await expect(code, steps)
    }

    private func expect(_ code: TransferError.Code, _ steps: [RawServer.Step]) async throws {
        try await RawServer.serving([steps]) { server in
            await expectFailure(code) { try await transport.get(server.address) { _ in } }
        }
    }

    @Test(
        "a response with another status than 200 throws status and passes on no bytes",
        arguments: ["203", "206", "300", "304", "400", "403", "404", "410", "416", "500", "503"])
    func status(code: String) async throws {
        let steps: [RawServer.Step] = [.head("\(code) X", "Content-Length: 100"), .text("abc"), .hold()]
        try await RawServer.serving([steps]) { server in
            let received = Received()
            await expectFailure(.status) { try await transport.get(server.address) { received.take($0) } }
            #expect(received.bytes.isEmpty)
        }
    }

    @Test("a body with an encoding throws encoding", arguments: ["gzip", "deflate", "br", "GZIP", "identity, gzip"])
    func encodedBody(encoding: String) async throws {
        // An empty but valid gzip member, so that decompression doesn't fail.
        let gzip: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        let head = RawServer.Step.head("200 OK", "Content-Encoding: \(encoding)", "Content-Length: 9000")
        try await expect(.encoding, [head, .send(gzip), .hold()])
    }

    @Test(
        "a response with an invalid or wrong length throws network",
        arguments: [
            "Content-Length: 10", "Content-Length: 99999999999999999999", "Content-Length: 3x", "Content-Length: 0x3",
            "Content-Length: 10, 3", "Content-Length: 3, 10", "Content-Length: 10\r\nContent-Length: 3",
            "Content-Length: 3\r\nContent-Length: 10", "Content-Length: 3 4", "Content-Length: 3.0",
        ])
    func wrongLength(line: String) async throws {
        try await expect(.network, [.head("200 OK", line, "Connection: close"), .text("abcdef")])
    }

    @Test("a chunked body whose length differs from the head throws network", arguments: [3, 20])
    func lengthOfChunks(length: Int) async throws {
        let steps: [RawServer.Step] = [
            .head("200 OK", "Content-Length: \(length)", "Transfer-Encoding: chunked"), .text("3\r\nabc\r\n0\r\n\r\n"),
        ]
        guard length == 3 else { return try await expect(.network, steps) }
        try await RawServer.serving([steps]) { try await transport.expectBody(Array("abc".utf8), of: $0.address) }
    }

    @Test func `the time limit for the head doesn't limit the body`() async throws {
        let (timer, begun, go) = (ManualTimer(), Signal(), Signal())
        let steps: [RawServer.Step] = [.head("200 OK", "Content-Length: 6"), .text("abc"), .wait(go), .text("def")]
        try await RawServer.serving([steps]) { server in
            let received = Received()
            async let got: Void = URLSessionTransport.loopback(timer: timer).get(server.address) { piece in
                received.take(piece)
                begun.give()
            }
            await begun.wait()
            timer.fire(.seconds(10))
            go.give()
            try await got
            #expect(received.bytes == Array("abcdef".utf8))
        }
    }

    @Test func `the longest possible idle timeout doesn't trap`() async throws {
        let transport = URLSessionTransport.loopback(idleTimeout: .seconds(Int64.max))
        try await RawServer.serving([.body([1])]) { try await transport.expectBody([1], of: $0.address) }
    }

    @Test func `bytes after the declared length are not received`() async throws {
        let steps: [RawServer.Step] = [.head("200 OK", "Content-Length: 3"), .text("abcdef"), .hold()]
        try await RawServer.serving([steps]) { try await transport.expectBody(Array("abc".utf8), of: $0.address) }
    }

    /// The socket is bound, so that no other test uses the port, but it doesn't listen.
    @Test func `a refused connection throws network`() async throws {
        let socket = try Socket(domain: AF_INET, type: .stream)
        defer { try? socket.close() }
        try socket.bind(to: .inet(ip4: "127.0.0.1", port: 0))
        guard case .ip4(_, let port) = try socket.sockname() else { throw CocoaError(.featureUnsupported) }
        await expectFailure(.network) { try await transport.get("http://127.0.0.1:\(port)/x") { _ in } }
    }

    @Test(
        "a server that sends nothing for the idle timeout throws cancelled",
        arguments: [[], [RawServer.Step.head("200 OK", "Content-Length: 9"), .text("abc")]])
    func idleTimeout(steps: [RawServer.Step]) async throws {
        let transport = URLSessionTransport.loopback(idleTimeout: .seconds(1))
        try await RawServer.serving([steps + [.hold()]]) { server in
            await expectFailure(.cancelled) { try await transport.get(server.address) { _ in } }
        }
    }
}

/// A cancelled task ends its transfer at once, although the servers never complete their responses.
@Suite struct CancellationTests {
    private let transport = URLSessionTransport.loopback()

    private static let stalls: [[RawServer.Step]] = [
        [], [.text("HTTP/1.1 200 OK\r\n")],
        [.head("200 OK", "Content-Length: 9")], [.head("200 OK", "Content-Length: 9"), .text("abc")],
        [.head("200 OK", "Transfer-Encoding: chunked"), .text("3\r\nabc\r\n")],
        [.head("302 Found", "Location: /", "Content-Length: 9"), .text("abc")],
    ]

    /// `hold` gives its signal only when the connection was closed.
    @Test("cancelling a stalled transfer throws cancelled and closes the connection", arguments: stalls.indices)
    func stalledServer(index: Int) async throws {
        let (asked, closed) = (Signal(), Signal())
        let steps = Self.stalls[index] + [.give(asked), .hold(closed)]
        try await RawServer.serving([steps]) { server in
            let transfer = Task { try await transport.get(server.address) { _ in } }
            await asked.wait()
            transfer.cancel()
            await expectFailure(.cancelled) { try await transfer.value }
            await closed.wait()
        }
    }

    @Test func `a transfer that is cancelled before its start makes no request`() async throws {
        try await RawServer.serving([[.hold()]]) { server in
            let go = Signal()
            let transfer = Task {
                await go.wait()
                try await transport.get(server.address) { _ in }
            }
            transfer.cancel()
            go.give()
            await expectFailure(.cancelled) { try await transfer.value }
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a transfer that is cancelled while it receives a piece receives no further piece`() async throws {
        let steps: [RawServer.Step] = [
            .head("200 OK", "Content-Length: 4000000"), .send([UInt8](repeating: 1, count: 2_000_000)), .hold(),
        ]
        try await RawServer.serving([steps]) { server in
            let transfer = Locked<Task<Void, any Error>?>(nil)
            let (started, calls) = (Signal(), Locked(0))
            let task = Task {
                await started.wait()
                try await transport.get(server.address) { _ in
                    calls.withLock { $0 += 1 }
                    transfer.withLock { $0 }?.cancel()
                }
            }
            transfer.withLock { $0 = task }
            started.give()
            await expectFailure(.cancelled) { try await task.value }
            #expect(calls.withLock { $0 } == 1)
        }
    }

    @Test func `a transfer that is cancelled at any moment ends`() async throws {
        for round in 0..<60 {
            let asked = Signal()
            let redirect = RawServer.Step.redirect(to: "/x")
            let scripts = [[.give(asked), redirect], [redirect], [.head("200 OK", "Content-Length: 1"), .text("x")]]
            try await RawServer.serving(scripts) { server in
                let transfer = Task { try await transport.get(server.address) { _ in } }
                await asked.wait()
                for _ in 0..<round * 4 { await Task.yield() }
                transfer.cancel()
                _ = try? await transfer.value
            }
        }
    }
}
