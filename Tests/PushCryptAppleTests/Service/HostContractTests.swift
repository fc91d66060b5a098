import Foundation
import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

/// The service, run by the simulated system.
@Suite struct HostContractTests {
    // Unchecked: the system also calls one service from several threads.
    private struct Hosted: HostedExtension, @unchecked Sendable {
        let service: TestService

        func didReceive(_ payload: [UInt8], _ exchange: HostExchange) {
            guard let request = try? Channel.request(payload) else { return exchange.processDied() }
            service.didReceive(request) { exchange.hand(over: NotificationContent($0)) }
        }

        func timeWillExpire() { service.serviceExtensionTimeWillExpire() }
    }

    private let channel: Channel
    private let stage = StuckStage()
    private let timer = ManualTimer()
    private let host: NotificationHost

    init() throws {
        channel = try Channel()
        let service = TestService { [channel, stage] in
            try channel.configuration(timer: ManualTimer()) { $0.stages = [stage] }
        }
        host = NotificationHost(Hosted(service: service), timer: timer)
    }

    @Test(
        "a sealed push is handed over with its title and one handler call",
        arguments: [
            (#"{"aps":{"alert":{"title":"T","body":"B"},"badge":2},"n":1}"#, "T"),
            (#"{"aps":{"alert":{"title":"é 🧶"}}}"#, "é 🧶"),
        ])
    func restored(_ payload: String, _ title: String) async throws {
        let shown = try #require(try await host.deliver(channel.seal(payload)))
        #expect(shown.origin == .handedOver)
        #expect(shown.content?.title.literal == title)
        #expect((host.handlerCallCount, host.breachCount) == (1, 0))
    }

    @Test("a push that can't be opened is handed over as a placeholder with one handler call")
    func placeholder() async throws {
        let foreign = try Channel().seal(#"{"aps":{"alert":"x"}}"#)
        let shown = try #require(await host.deliver(foreign))
        #expect(shown.origin == .handedOver)
        #expect(shown.content?.title.literal == "New message")
        #expect((host.handlerCallCount, host.breachCount) == (1, 0))
    }

    @Test("a stuck push is handed over at the time limit while others are delivered")
    func stuck() async throws {
        async let stuck = host.deliver(channel.seal(#"{"aps":{"alert":{"title":"stuck","body":"B"}}}"#))
        await stage.started.wait()
        let next = try await host.deliver(channel.seal(#"{"aps":{"alert":"Hi"}}"#))
        #expect(next?.content?.body.literal == "Hi")
        timer.fire(.seconds(29))
        let shown = try #require(try await stuck)
        #expect(shown.origin == .handedOver)
        #expect(shown.content?.title.literal == "stuck")
        stage.release.give()
        #expect((host.handlerCallCount, host.breachCount) == (2, 0))
    }
}
