import FlyingFox
import Foundation
import PushCryptApple
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Transfers from a correct server.
@Suite struct TransportTests {
    private let transport = URLSessionTransport.loopback()

    @Test("a body of any length is received completely", arguments: [0, 1, 65_536, 3_000_000])
    func wholeBody(byteCount: Int) async throws {
        var random = SplitMix64(seed: 1)
        let body = random.bytes(byteCount)
        try await WebServer.serving { _ in
            HTTPResponse(statusCode: .ok, body: Data(body))
        } _: { server in
            try await transport.expectBody(body, of: server.address("a"))
        }
    }

    @Test("a chunked body is received completely")
    func chunkedBody() async throws {
        let steps: [RawServer.Step] = [
            .head("200 OK", "Transfer-Encoding: chunked"), .text("3\r\nabc\r\n"), .text("4\r\ndefg\r\n0\r\n\r\n"),
        ]
        try await RawServer.serving([steps]) { server in
            try await transport.expectBody(Array("abcdefg".utf8), of: server.address)
        }
    }

    @Test("the pieces of a slow server are received as they arrive")
    func slowServer() async throws {
        let first = Signal()
        let steps: [RawServer.Step] = [
            .head("200 OK", "Content-Length: 6"), .text("abc"), .wait(first), .text("def"), .hold(),
        ]
        try await RawServer.serving([steps]) { server in
            let received = Received()
            try await transport.get(server.address) { piece in
                received.take(piece)
                if received.bytes == Array("abc".utf8) { first.give() }
            }
            #expect(received.bytes == Array("abcdef".utf8))
        }
    }

    @Test("a request has no cookies, cache or credentials and asks for the identity encoding")
    func request() async throws {
        let answer: [RawServer.Step] = [
            .head(
                "200 OK", "Content-Length: 1", "Set-Cookie: a=b; Path=/", "Cache-Control: max-age=600",
                "Connection: close"), .text("x"),
        ]
        try await RawServer.serving([answer, answer]) { server in
            for _ in 0..<2 { try await transport.expectBody(Array("x".utf8), of: server.address) }
            #expect(server.requests.count == 2)
            for head in server.requests {
                let lines = head.lowercased().split(separator: "\r\n")
                #expect(lines.first == "get /x http/1.1")
                #expect(lines.contains("accept-encoding: identity"))
                #expect(!lines.contains { $0.hasPrefix("cookie:") || $0.hasPrefix("authorization:") })
            }
        }
    }

    @Test("consecutive transfers use the same connection")
    func connectionsAreKept() async throws {
        let addresses = Locked<Set<String>>([])
        try await WebServer.serving { request in
            let address = "\(request.remoteAddress, default: "")"
            addresses.withLock { _ = $0.insert(address) }
            return HTTPResponse(statusCode: .ok, body: Data("x".utf8))
        } _: { server in
            for path in ["a", "b", "c"] { _ = try await transport.body(of: server.address(path)) }
        }
        #expect(addresses.withLock { $0.count } == 1)
    }

    @Test("12 concurrent transfers each receive their own body")
    func manyAtOnce() async throws {
        try await WebServer.serving { request in
            HTTPResponse(statusCode: .ok, body: Data(repeating: UInt8(request.path.utf8.count), count: 200_000))
        } _: { server in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for count in 1...12 {
                    group.addTask {
                        let path = String(repeating: "p", count: count)
                        let body = try await transport.body(of: server.address(path))
                        return body.count == 200_000 && body.allSatisfy { $0 == UInt8(count + 1) }
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }

    @Test("an error of the receiver ends the transfer and is rethrown")
    func receiverThrows() async throws {
        struct Enough: Error {}
        let steps: [RawServer.Step] = [.head("200 OK", "Content-Length: 9000000"), .text("abc"), .hold()]
        let closed = Signal()
        try await RawServer.serving([steps + [.give(closed)]]) { server in
            let calls = Locked(0)
            await #expect(throws: Enough.self) {
                try await transport.get(server.address) { _ in
                    calls.withLock { $0 += 1 }
                    throw Enough()
                }
            }
            #expect(calls.withLock { $0 } == 1)
        }
    }

    #if os(Linux)
    /// Foundation on Linux stops the process if a task is cancelled twice while it ends.
    @Test("refused transfers whose last bytes arrive meanwhile end without a crash")
    func refusedAtTheEnd() async throws {
        let count = LongTests.value(20_000, short: 1000)
        let byteCount = 131_072
        let server = try FloodServer(
            head: "HTTP/1.1 200 OK\r\nContent-Length: \(byteCount)\r\n\r\n", limit: byteCount)
        let lines = try await ExtensionCommand.outputFromThread(["refuse", server.address, "\(count)"])
        withExtendedLifetime(server) {}
        #expect(lines == ["refused \(count)"])
    }
    #endif
}
