import FlyingFox
import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

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

    @Test func `a chunked body is received completely`() async throws {
        let steps: [RawServer.Step] = [
            .head("200 OK", "Transfer-Encoding: chunked"), .text("3\r\nabc\r\n"), .text("4\r\ndefg\r\n0\r\n\r\n"),
        ]
        try await RawServer.serving([steps]) { try await transport.expectBody(Array("abcdefg".utf8), of: $0.address) }
    }

    @Test func `the pieces of a slow server are received as they arrive`() async throws {
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

    @Test func `a request has no cookies, cache or credentials and asks for the identity encoding`() async throws {
        let head = RawServer.Step.head(
            "200 OK", "Content-Length: 1", "Set-Cookie: a=b; Path=/", "Cache-Control: max-age=600", "Connection: close")
        let answer = [head, .text("x")]
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

    @Test func `consecutive transfers use the same connection`() async throws {
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

    @Test func `12 concurrent transfers each receive their own body`() async throws {
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

    @Test func `an error of the receiver ends the transfer and is rethrown`() async throws {
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
    @Test func `refused transfers whose last bytes arrive meanwhile end without a crash`() async throws {
        let count = LongTests.value(20_000, short: 1000)
        let server = try FloodServer(head: "HTTP/1.1 200 OK\r\nContent-Length: 131072\r\n\r\n", limit: 131_072)
        let lines = try await ExtensionCommand.outputFromThread(["refuse", server.address, "\(count)"])
        withExtendedLifetime(server) {}
        #expect(lines == ["refused \(count)"])
    }
    #endif
}

/// The policy is checked for every redirect, as for the first address.
@Suite struct RedirectTests {
    private static let body: [RawServer.Step] = [.head("200 OK", "Content-Length: 4"), .text("good"), .hold()]

    @Test("a redirect to an allowed address is followed", arguments: ["301 X", "302 X", "303 X", "307 X", "308 X"])
    func toGoodPlace(status: String) async throws {
        try await RawServer.serving([Self.body]) { good in
            try await RawServer.serving([[.redirect(to: good.address("y"), status)]]) { server in
                try await URLSessionTransport.loopback().expectBody(Array("good".utf8), of: server.address)
                #expect(good.requests.first?.hasPrefix("GET /y ") == true)
            }
        }
    }

    @Test func `a relative redirect is followed`() async throws {
        try await RawServer.serving([[.redirect(to: "/y?z=1")], Self.body]) { server in
            try await URLSessionTransport.loopback().expectBody(Array("good".utf8), of: server.address)
            #expect(server.requests.last?.hasPrefix("GET /y?z=1 ") == true)
        }
    }

    @Test(
        "a redirect to a refused address throws addressRefused without a request to it",
        arguments: [
            "http://pictures.example/x", "ftp://127.0.0.1/x", "http://10.0.0.1/x",
            "https://user@127.0.0.1/x", "http://localhost:PORT/x", "//localhost:PORT/x", "http://127.0.0.2:PORT/x",
            "http://127.0.0.1:PORT@localhost:PORT/x",
        ])
    func toForbiddenPlace(location: String) async throws {
        let transport = URLSessionTransport.loopback(allowedHosts: ["127.0.0.1"])
        try await RawServer.serving([Self.body]) { forbidden in
            let location = location.replacingOccurrences(of: "PORT", with: "\(forbidden.port)")
            try await RawServer.serving([[.redirect(to: location)], Self.body]) { server in
                let received = Received()
                await expectFailure(.addressRefused) { try await transport.get(server.address) { received.take($0) } }
                #expect(received.bytes.isEmpty)
                #expect(server.requests.count == 1)
            }
            #expect(forbidden.requests.isEmpty)
        }
    }

    @Test("a redirect to a file or data address passes nothing on", arguments: ["file:///etc/passwd", "data:,x"])
    func toPlaceWithoutHost(location: String) async throws {
        try await RawServer.serving([[.redirect(to: location)], Self.body]) { server in
            let received = Received()
            try? await URLSessionTransport.loopback().get(server.address) { received.take($0) }
            #expect(received.bytes == (server.requests.count == 2 ? Array("good".utf8) : []))
        }
    }

    @Test(
        "a first address that the policy refuses throws addressRefused without a request",
        arguments: ["http://127.0.0.1:PORT/x", "http://localhost:PORT/x", "http://[::1]:PORT/x", "x", ""])
    func firstAddress(address: String) async throws {
        try await RawServer.serving([Self.body]) { server in
            let address = address.replacingOccurrences(of: "PORT", with: "\(server.port)")
            await expectFailure(.addressRefused) { try await URLSessionTransport().get(address) { _ in } }
            await expectFailure(.addressRefused) {
                try await URLSessionTransport().post(HTTPPost([1], contentType: "text/plain", to: address))
            }
            #expect(server.requests.isEmpty)
        }
    }

    @Test(
        "a redirect with an endless body is cancelled at the time limit for the response head",
        arguments: [[.hold()], [.flood([UInt8](repeating: 0, count: 4_096))]] as [[RawServer.Step]])
    func endlessBody(body: [RawServer.Step]) async throws {
        let (asked, timer) = (Signal(), ManualTimer())
        let head = RawServer.Step.head("302 Found", "Location: /y", "Connection: close")
        try await RawServer.serving([[head, .text("a"), .give(asked)] + body]) { server in
            let transfer = Task { try await URLSessionTransport.loopback(timer: timer).get(server.address) { _ in } }
            await asked.wait()
            timer.fire(.seconds(10))
            await expectFailure(.cancelled) { try await transfer.value }
            #expect(server.requests.count == 1)
        }
    }

    @Test("as many redirects as the policy allows are followed, and not one more", arguments: [0, 1, 5])
    func limit(_ limit: Int) async throws {
        let redirects = [[RawServer.Step]](repeating: [.redirect(to: "/x")], count: limit + 1)
        let transport = URLSessionTransport.loopback(maximumRedirects: limit)
        try await RawServer.serving(redirects.dropLast() + [Self.body]) { server in
            try await transport.expectBody(Array("good".utf8), of: server.address)
        }
        guard limit > 0 else { return }
        try await RawServer.serving(redirects + [Self.body]) { server in
            await expectFailure(.addressRefused) { try await transport.get(server.address) { _ in } }
            #expect(server.requests.count == limit + 1)
        }
    }
}

#if os(Linux)

/// The memory of a process that fetches the largest file. The system kills an extension at about 24 MB.
@Suite(.enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsMemory)")) struct MemoryTests {
    /// The short form transfers less, but still more than the limit of memory.
    private static let byteCount = LongTests.value(50_000_000, short: 16_000_000)
    private static let attachmentByteCount = LongTests.value(20_000_000, short: 8_000_000)
    /// The memory in addition to the network library, which needs about 8 MiB in a debug build.
    private static let limitInKiB = 4 * 1024

    private static func growth(_ lines: [String]?) throws -> Int {
        let line = try #require(lines?.first { $0.hasPrefix("growth ") })
        return try #require(Int(line.dropFirst("growth ".count)))
    }

    @Test("a long body is received in constant memory", arguments: [0, LongTests.value(3, short: 1)])
    func stream(rounds: Int) async throws {
        let body = Data(count: Self.byteCount)
        try await WebServer.serving { request in
            HTTPResponse(statusCode: .ok, body: request.path == "/small" ? Data([1]) : body)
        } _: { server in
            let arguments = ["receive", server.address("small"), server.address("a"), "\(rounds)"]
            let lines = try await ExtensionCommand.outputFromThread(arguments)
            #expect(lines?.first == "bytes \(Self.byteCount)")
            #expect(try Self.growth(lines) < Self.limitInKiB)
        }
    }

    @Test func `receipts to a server that streams endless responses are sent in constant memory`() async throws {
        let folder = try TemporaryFolder()
        // In the short form each response is longer than the limit of memory, too.
        let limit = LongTests.value(Int.max, short: Self.byteCount)
        let server = try FloodServer(head: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", limit: limit)
        let lines = try await ExtensionCommand.outputFromThread(["flush", folder.path + "/store", server.address, "10"])
        withExtendedLifetime(server) {}
        #expect(lines?.prefix(2) == ["sent 10", "left 0"])
        // This growth includes the network library.
        #expect(try Self.growth(lines) < 3 * Self.limitInKiB)
    }

    @Test func `a large attachment is fetched in constant memory`() async throws {
        let folder = try TemporaryFolder()
        let head = [UInt8](hex: "0000002066747970 69736F6D00000200")
        let file = try TestFile(head + [UInt8](repeating: 7, count: Self.attachmentByteCount), type: "video/mp4")
        var jwk: [UInt8] = []
        try StagePush.channel.get().record.appendJWK(to: &jwk)
        try Data(jwk).write(to: folder.file("jwk"))
        try Data(StagePush.sealed(attachments: [file.reference])).write(to: folder.file("payload"))
        let blob = Data(file.blob)
        try await WebServer.serving { request in
            HTTPResponse(statusCode: .ok, body: request.path == "/small" ? Data([1]) : blob)
        } _: { server in
            let arguments = [
                "attach", folder.file("jwk").path, folder.file("payload").path, Channel.topic,
                "\(Channel.now.seconds)", server.address(""), folder.path + "/attachments",
            ]
            let lines = try await ExtensionCommand.outputFromThread(arguments)
            #expect(lines?.prefix(2) == ["attached 1", "missing 0"])
            #expect(try Self.growth(lines) < Self.limitInKiB)
        }
        #expect(try folder.names(in: "attachments").count == 1)
    }
}

#endif
