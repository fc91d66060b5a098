import PushCryptPrimitives
import Testing
import UserNotifications

@testable import PushCryptApple

@Suite struct ConfigurationTests {
    private let channel: Channel
    private let payload: [UInt8]

    init() throws {
        channel = try Channel(signed: true)
        payload = try channel.seal(#"{"aps":{"alert":"Hi"}}"#)
    }

    @Test func `if configure throws, unconfiguredText is shown with internalError or the thrown class`() async throws {
        let service = TestService { throw CancellationError() }
        let shown = try service.receive(payload)
        let content = await shown.content()
        #expect(content.title == "New message" && content.failure == "internalError")
        service.serviceExtensionTimeWillExpire()
        #expect(shown.count == 1)
        let locked = TestService { throw FailureClass.keyLocked }
        #expect(try await locked.receive(payload).content().failure == "keyLocked")
    }

    private final class OwnTextService: PushCryptNotificationService {
        override var unconfiguredText: Placeholder { .literal(title: "Own", body: nil) }
    }

    @Test func `a service without a configuration shows its own text and nothing of the outer payload`() async throws {
        let hostile = Array(
            #"{"aps":{"alert":{"title":"Pay","body":"now"},"badge":9,"sound":"a.caf","category":"PAY"},"pushcrypt":0}"#
                .utf8)
        let content = try await OwnTextService().receive(hostile).content()
        #expect([content.title, content.body, content.categoryIdentifier] == ["Own", "", ""])
        #expect(content.badge == nil && content.sound == .default && content.failure == "internalError")
    }

    @Test func `a service without configure shows the default text, and all services share a cache`() async throws {
        let service = PushCryptNotificationService()
        #expect(throws: ExtensionSetupError.self) { try service.configure() }
        #expect(try await service.receive(payload).content().title == "New message")
        #expect(service.cache === PushCryptNotificationService().cache)
    }

    @Test func `configure is called again until it succeeds once`() async throws {
        var answers: [() throws -> ExtensionConfiguration] = [
            { throw CancellationError() }, { [channel] in try channel.configuration() }, { throw CancellationError() },
        ]
        let service = TestService { try answers.isEmpty ? channel.configuration() : answers.removeFirst()() }
        var failures: [String?] = []
        for _ in 0..<4 { failures.append(try await service.receive(payload).content().failure) }
        #expect(failures == ["internalError", nil, nil, nil])
        #expect(answers.count == 1)
    }

    @Test func `all services of a class use the same configuration, and other classes use their own`() async throws {
        let first = TestService { [channel] in try channel.configuration() }
        #expect(try await first.receive(payload).content().failure == nil)
        let second = TestService { throw CancellationError() }
        second.cache = first.cache
        #expect(try await second.receive(payload).content().failure == nil)
        let other = OtherService()
        other.cache = first.cache
        #expect(try await other.receive(payload).content().failure == "internalError")
    }

    private final class OtherService: PushCryptNotificationService {}

    @Test func `a configuration with an invalid topic throws`() throws {
        let keyring = try channel.keyring
        for (topic, senders) in [
            ("com.example.app ", SenderTrust.unsigned),
            ("", .current { () throws(FailureClass) in throw .internalError }),
        ] {
            #expect(throws: KeyError.self) {
                try ExtensionConfiguration(
                    topic: topic, keyring: keyring, senders: senders, fallback: Channel.fallback)
            }
        }
    }

    @Test func `pinned senders are read for each push, and a failure to read them opens nothing`() async throws {
        let senders = Locked<Result<TrustedSenders, FailureClass>>(.failure(.keyLocked))
        let service = TestService { [channel] in
            var configuration = try ExtensionConfiguration(
                topic: Channel.topic, keyring: channel.keyring,
                senders: .current { () throws(FailureClass) in try senders.withLock { $0 }.get() },
                fallback: Channel.fallback)
            configuration.clock = { Channel.now }
            configuration.unlockNotice = UnlockNotice(.literal(title: "Unlock", body: nil), marker: Always())
            return configuration
        }
        let locked = try await service.receive(payload).content()
        #expect(locked.failure == "keyLocked" && locked.title == "Unlock")
        let trusted = try #require(try channel.trustedSenders)
        senders.withLock { $0 = .success(trusted) }
        #expect(try await service.receive(payload).content().body == "Hi")
        let unsigned = try Channel(record: channel.record, signer: nil).seal(#"{"aps":{"alert":"Hi"}}"#)
        #expect(try await service.receive(unsigned).content().failure == "undecryptable")
    }

    private struct Always: BootMarker {
        func markThisBoot() -> Bool { true }
    }
}
