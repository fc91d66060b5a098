import BackendTestSupport
import Foundation
import Logging
import PushCryptSender
import Testing

@testable import PushBackend

@Suite("the start of the service") struct BackendServiceTests {
    @Test(
        "a host with a port or in upper case, and a time limit as long as a claim, are refused",
        arguments: [
            ("push.example.com", 15, true), ("push.example.com", 59, true), ("push.example.com", 60, false),
            ("push.example.com", 0, false), ("push.example.com:443", 15, false), ("Push.example.com", 15, false),
        ] as [(String, Int64, Bool)])
    func configuration(host: String, timeout: Int64, isValid: Bool) throws {
        let keys = try SigningKeys()
        var configuration = BackendService.Configuration(
            topic: Sending.topic, registrationHost: host, providerKey: "", providerKeyID: "", teamID: "")
        configuration.requestTimeoutInSeconds = timeout
        func start() throws {
            _ = try BackendService(
                configuration, store: TestStore().store, signingKeys: KeysetWatcher(folder: keys.folder),
                userTokens: UserToken(key: Data(repeating: 7, count: 32)),
                serviceTokens: ServiceTokens(["a-token-of-another-part-of-the-backend"]), senderSet: nil,
                metrics: PrometheusMetrics(), logger: Logger(label: "tests"))
        }
        if isValid { try start() } else { #expect(throws: ConfigurationError.self) { try start() } }
    }

    @Test("a host is checked also while no key signs")
    func noSigningKey() throws {
        let keys = try SigningKeys()
        let watcher = try KeysetWatcher(folder: keys.folder)
        let sealer = try PushSealer(topic: Sending.topic, signingKeys: watcher) {
            Int64(Date().timeIntervalSince1970 * 1_000)
        }
        try keys.revoke()
        watcher.checkNow()
        try sealer.check(host: "push.example.com")
        #expect(throws: SenderError.self) { try sealer.check(host: "push.example.com:443") }
    }
}
