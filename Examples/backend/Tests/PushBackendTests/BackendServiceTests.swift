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
        _ keys: SigningKeys = SigningKeys(), _ change: (inout BackendService.Configuration) -> Void = { _ in }
    ) async throws -> BackendService {
        var configuration = BackendService.Configuration(
            topic: Sending.topic, registrationHost: TestAPI.host,
            providerKey: try ProviderKey(pem: P256.Signing.PrivateKey().pemRepresentation), providerKeyID: "",
            teamID: "", apns: [.production: "https://api.push.apple.com"])
        change(&configuration)
        return try BackendService(
            configuration, store: TestStore().store, signingKeys: KeysetWatcher(file: keys.path),
            userTokens: try await UserTokens(key: Data(repeating: 7, count: 32)),
            serviceTokens: ServiceTokens([TestAPI.serviceToken]), logger: Logger(label: "tests"))
    }

    private func refusedOption(_ change: (inout BackendService.Configuration) -> Void) async -> String? {
        await #expect(throws: ConfigurationError.self) { try await start(SigningKeys(), change) }?.option
    }

    @Test("a port that another program uses is refused, and the error names the options and the address")
    func usedPort() async throws {
        try await RunningStandIn.with { other in
            let port = try #require(UInt16(other.base.split(separator: ":").last ?? ""))
            let service = try await start { $0.port = port }
            let client = try APNsClient.httpClient()
            let error = await #expect(throws: ConfigurationError.self) {
                try await service.run(client: client) { _ in }
            }
            try await client.shutdown()
            #expect(error?.option == "host 127.0.0.1 --port \(port)")
            #expect(error?.reason.contains("in use") == true)
        }
    }

    @Test("a host, a topic and a placeholder of another form are refused, and the error names the option")
    func forms() async throws {
        for host in ["push.example.com:443", "Push.example.com", ""] {
            #expect(await refusedOption { $0.registrationHost = host } == "registration-host")
        }
        #expect(await refusedOption { $0.topic = "com.example. app" } == "topic")
        #expect(await refusedOption { $0.placeholder = Placeholder(title: " ") } == "placeholder-title")
    }

    @Test(
        "an address of a server without https, or with a path, is refused, and the error names the option",
        arguments: [
            "127.0.0.1:1", "localhost:1", "http://127.0.0.1:1", "https://", "https://127.0.0.1:70000",
            "https://127.0.0.1/3/device", "https://user@127.0.0.1", "https://127.0.0.1?x", "",
        ])
    func address(address: String) async {
        #expect(await refusedOption { $0.apns[.production] = address } == "production")
    }

    @Test(
        "an address of a server with and without a port is accepted",
        arguments: ["https://127.0.0.1:1", "https://[::1]"])
    func validAddress(address: String) async throws { try await start { $0.apns[.production] = address } }

    @Test("a service whose only key is revoked starts, so that pushes wait for the next key")
    func noSigningKey() async throws {
        let keys = SigningKeys()
        let watcher = try KeysetWatcher(file: keys.path)
        keys.revoke()
        watcher.checkNow()
        func sealer(_ host: String) throws -> PushSealer {
            try PushSealer(topic: Sending.topic, host: host, signingKeys: watcher) { 1_790_000_000_000 }
        }
        _ = try sealer("push.example.com")
        #expect(throws: ConfigurationError.self) { try sealer("push.example.com:443") }
    }
}
