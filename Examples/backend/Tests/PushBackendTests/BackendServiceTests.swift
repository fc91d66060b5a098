import AsyncHTTPClient
import BackendTestSupport
import Crypto
import Foundation
import Logging
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("the start of the service") struct BackendServiceTests {
    @discardableResult
    private func start(
        _ change: (inout BackendService.Configuration) -> Void = { _ in }
    ) throws -> BackendService {
        let keys = SigningKeys()
        var configuration = BackendService.Configuration(
            topic: Sending.topic, registrationHost: "push.example.com",
            providerKey: try ProviderKey(pem: P256.Signing.PrivateKey().pemRepresentation), providerKeyID: "",
            teamID: "")
        change(&configuration)
        return try BackendService(
            configuration, store: TestStore().store, signingKeys: KeysetWatcher(file: keys.path),
            userTokens: UserToken(key: Data(repeating: 7, count: 32)),
            serviceTokens: ServiceTokens(["a-token-of-another-part-of-the-backend"]), senderSet: nil,
            metrics: PrometheusMetrics(), logger: Logger(label: "tests"))
    }

    private func refusedOption(_ change: (inout BackendService.Configuration) -> Void) -> String? {
        #expect(throws: ConfigurationError.self) { try start(change) }?.option
    }

    @Test("a port that another program uses is refused, and the error names the options and the address")
    func usedPort() async throws {
        try await RunningStandIn.with { other in
            let port = try #require(UInt16(other.base.split(separator: ":").last ?? ""))
            let service = try start { $0.port = port }
            let client = try APNsClient.httpClient()
            let error = await #expect(throws: ConfigurationError.self) {
                try await service.run(client: client) { _ in }
            }
            try await client.shutdown()
            #expect(error?.option == "host 127.0.0.1 --port \(port)")
            #expect(error?.reason.contains("in use") == true)
        }
    }

    @Test(
        "a host with a port or in upper case is refused, and the error names the option",
        arguments: ["push.example.com:443", "Push.example.com", ""])
    func host(host: String) throws {
        #expect(refusedOption { $0.registrationHost = host } == "registration-host")
        try start { $0.registrationHost = "push2.example.com" }
    }

    @Test("a topic with a space is refused, and the error names the option")
    func topic() { #expect(refusedOption { $0.topic = "com.example. app" } == "topic") }

    @Test("a time limit as long as a claim, and none, are refused, and the error names the option")
    func timeLimit() throws {
        for seconds in [0, 60] as [Int64] {
            #expect(refusedOption { $0.requestTimeoutInSeconds = seconds } == "request-timeout")
        }
        for seconds in [1, 59] as [Int64] { try start { $0.requestTimeoutInSeconds = seconds } }
    }

    @Test("a width of 0 or less is refused, and the error names the option")
    func width() throws {
        for width in [0, -1] { #expect(refusedOption { $0.dispatch.width = width } == "width") }
        try start { $0.dispatch.width = 1 }
    }

    @Test("a longest wait that is shorter than the first one is refused, and the error names the option")
    func longestWait() { #expect(refusedOption { $0.backoff.longest = 0 } == "longest-wait") }

    @Test(
        "an address of a server without https, or with a path, is refused, and the error names the option",
        arguments: [
            "127.0.0.1:1", "localhost:1", "http://127.0.0.1:1", "https://", "https://127.0.0.1:70000",
            "https://127.0.0.1/3/device", "https://user@127.0.0.1", "https://127.0.0.1?x", "",
        ])
    func address(address: String) {
        #expect(refusedOption { $0.apns[.production] = address } == "production")
        #expect(refusedOption { $0.apns[.sandbox] = address } == "sandbox")
    }

    @Test(
        "an address of a server with and without a port is accepted",
        arguments: ["https://127.0.0.1:1", "https://[::1]", "https://api.push.apple.com"])
    func validAddress(address: String) throws { try start { $0.apns[.production] = address } }

    @Test(
        "a member that can't be exposed, and a name of another form, are refused, and the error names the option",
        arguments: ["alert", "mutable-content", "a b", ""])
    func exposed(name: String) throws {
        #expect(refusedOption { $0.visible.exposed = ["badge", name] } == "expose")
        try start { $0.visible.exposed = ["badge", "thread-id"] }
    }

    @Test("a placeholder without text is refused, and the error names the option")
    func placeholder() {
        #expect(refusedOption { $0.visible.placeholder = Placeholder(title: " ") } == "placeholder-title")
    }

    @Test("a host is checked also while no key signs")
    func noSigningKey() throws {
        let keys = SigningKeys()
        let watcher = try KeysetWatcher(file: keys.path)
        let sealer = try PushSealer(topic: Sending.topic, signingKeys: watcher) {
            Int64(Date().timeIntervalSince1970 * 1_000)
        }
        keys.revoke()
        watcher.checkNow()
        try sealer.check(host: "push.example.com")
        #expect(throws: SenderError.self) { try sealer.check(host: "push.example.com:443") }
    }
}
