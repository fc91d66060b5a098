import Foundation
import PushCryptApple
import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing

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

    @Test("a relative redirect is followed")
    func relative() async throws {
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

    @Test(
        "a redirect to a file or data address passes on nothing of that address",
        arguments: ["file:///etc/passwd", "data:,x"])
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
            let transfer = Task {
                try await URLSessionTransport.loopback(timer: timer).get(server.address) { _ in }
            }
            await asked.wait()
            timer.fire(.seconds(10))
            await expectFailure(.cancelled) { try await transfer.value }
            #expect(server.requests.count == 1)
        }
    }

    @Test("as many redirects as the policy allows are followed", arguments: [0, 1, 5])
    func asManyAsAllowed(limit: Int) async throws {
        let redirects = [[RawServer.Step]](repeating: [.redirect(to: "/x")], count: limit)
        try await RawServer.serving(redirects + [Self.body]) { server in
            let transport = URLSessionTransport.loopback(maximumRedirects: limit)
            try await transport.expectBody(Array("good".utf8), of: server.address)
        }
    }

    @Test("a redirect loop ends at the limit with addressRefused", arguments: [1, 5])
    func loop(limit: Int) async throws {
        let redirects = [[RawServer.Step]](repeating: [.redirect(to: "/x")], count: limit + 1)
        try await RawServer.serving(redirects + [Self.body]) { server in
            let transport = URLSessionTransport.loopback(maximumRedirects: limit)
            await expectFailure(.addressRefused) { try await transport.get(server.address) { _ in } }
            #expect(server.requests.count == limit + 1)
        }
    }
}
