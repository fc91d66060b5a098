import ArgumentParser
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

    @Test(
        "a port that another program uses is refused, and the error names the options and the address",
        .enabled(if: RunningStandIn.isAvailable, RunningStandIn.requirement))
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
    func address(address: String) async throws {
        #expect(await refusedOption { $0.apns[.production] = address } == "production")
        try await start { $0.apns[.production] = "https://[::1]:7" }
    }

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

    // MARK: The command line

    private func parse(_ more: String...) throws -> PushService {
        let names = [
            "topic", "registration-host", "database", "signing-keys", "provider-key", "provider-key-id", "team-id",
            "user-token-key", "service-tokens",
        ]
        return try PushService.parse(names.flatMap { ["--\($0)", "x"] } + more)
    }

    @Test("a log level that doesn't exist is refused, and the message names the option")
    func logLevel() {
        let error = #expect(throws: (any Error).self) { try parse("--log-level", "loud") }
        #expect(error.map { PushService.fullMessage(for: $0) }?.contains("--log-level") == true)
    }

    private func watcher(_ path: String) throws -> KeysetWatcher {
        var program = try parse()
        program.signingKeys = path
        return try program.keysetWatcher(Logger(label: "tests"))
    }

    @Test("a keyset of another kind as signing keys is refused, and the message says which kind is needed")
    func sharedKeyset() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Data(TestStore.Key.shared.rawValue.utf8), to: "keys")
        let error = #expect(throws: ConfigurationError.self) { try watcher(path) }
        #expect(error?.option == "signing-keys \(path)")
        #expect(error?.reason.contains("a keyset of sender keys is needed") == true)
    }

    @Test("a secret that is mounted as links is accepted, and an exchanged link loads the next keys")
    func mountedKeyset() throws {
        let keys = SigningKeys()
        let mount = try TemporaryFolder()
        let data = "\(mount.path)/..data"
        func link(to version: String) throws {
            let folder = "\(mount.path)/\(version)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: keys.path, toPath: "\(folder)/senders")
            if version == "..2" { try FileManager.default.removeItem(atPath: data) }
            try FileManager.default.createSymbolicLink(atPath: data, withDestinationPath: version)
        }
        try link(to: "..1")
        let path = "\(mount.path)/senders"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "..data/senders")
        let watcher = try watcher(path)
        #expect(watcher.status.sequence == 1)
        keys.add()
        try link(to: "..2")
        watcher.checkNow()
        #expect(watcher.status.sequence == 2 && watcher.status.isHealthy)
    }
}
