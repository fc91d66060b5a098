import Dispatch
import Foundation
import PushCryptSimulator
import PushCryptTestSupport
import Testing
import UserNotifications

@testable import PushCryptApple

/// Calls of `serviceExtensionTimeWillExpire` at different times. Each handler is called once.
@Suite struct ExpiryTests {
    private let channel: Channel

    init() throws { channel = try Channel() }

    private func service(_ stage: StuckStage? = nil) -> TestService {
        TestService { [channel] in try channel.configuration { $0.stages = stage.map { [$0] } ?? [] } }
    }

    private func receive(_ service: TestService, _ alert: String = #""Hi""#) throws -> RecordedContents {
        try service.receive(channel.seal(#"{"aps":{"alert":\#(alert)}}"#))
    }

    @Test func `an expiry without a running push does nothing`() async throws {
        let service = service()
        service.serviceExtensionTimeWillExpire()
        let shown = try receive(service)
        #expect(await shown.content().body == "Hi")
        service.serviceExtensionTimeWillExpire()
        #expect(shown.count == 1)
    }

    @Test func `a stuck push doesn't delay the next one and is shown at the expiry`() async throws {
        let stage = StuckStage()
        let service = service(stage)
        let stuck = try receive(service, #"{"title":"stuck"}"#)
        await stage.started.wait()
        let next = try receive(service)
        #expect(await next.content().body == "Hi")
        #expect(stuck.count == 0)
        service.serviceExtensionTimeWillExpire()
        #expect(await stuck.content().title == "stuck")
        stage.release.give()
        service.serviceExtensionTimeWillExpire()
        #expect((stuck.count, next.count) == (1, 1))
    }

    @Test func `an expiry delivers all stuck pushes of the service`() async throws {
        let stages = [StuckStage(), StuckStage()]
        let service = TestService { [channel] in try channel.configuration { $0.stages = [stages[0]] } }
        var stuck = [try receive(service, #"{"title":"stuck","body":"1"}"#)]
        await stages[0].started.wait()
        service.cache = ConfigurationCache()
        service.make = { [channel] in try channel.configuration { $0.stages = [stages[1]] } }
        stuck.append(try receive(service, #"{"title":"stuck","body":"2"}"#))
        await stages[1].started.wait()
        service.serviceExtensionTimeWillExpire()
        #expect(stuck.map(\.count) == [1, 1])
        #expect(await [stuck[0].content().body, stuck[1].content().body] == ["1", "2"])
        for stage in stages { stage.release.give() }
    }

    @Test func `an expiry of one service doesn't end the pushes of another`() async throws {
        let stage = StuckStage()
        let services = [service(stage), service()]
        let stuck = try receive(services[0], #"{"title":"stuck"}"#)
        await stage.started.wait()
        services[1].serviceExtensionTimeWillExpire()
        #expect(stuck.count == 0)
        stage.release.give()
        #expect(await stuck.content().title == "too late")
    }

    @Test func `an expiry during configure shows the service's own text once`() async throws {
        let timer = ManualTimer()
        let service = TestService { throw CancellationError() }
        service.make = { [channel, unowned service] in
            service.serviceExtensionTimeWillExpire()
            return try channel.configuration(timer: timer)
        }
        let shown = try receive(service)
        let content = await shown.content()
        #expect(content.title == "New message" && content.failure == "timedOut")
        service.serviceExtensionTimeWillExpire()
        #expect(shown.count == 1)
        // No session was started: the message isn't claimed and can be shown when it is received again.
        #expect(timer.durations == [])
    }

    @Test func `an expiry inside the handler doesn't call the handler again`() async throws {
        let service = service()
        let shown = RecordedContents()
        let payload = try channel.seal(#"{"aps":{"alert":"Hi"}}"#)
        let unsafe = Unchecked(service: service)
        service.didReceive(try Channel.request(payload)) { content in
            unsafe.service.serviceExtensionTimeWillExpire()
            shown.handle(content)
        }
        #expect(await shown.content().body == "Hi")
        #expect(shown.count == 1)
    }

    @Test func `the same request delivered twice calls each handler once`() async throws {
        let service = service()
        let request = try Channel.request(channel.seal(#"{"aps":{"alert":"Hi"}}"#))
        let shown = [service.receive(request), service.receive(request)]
        for shown in shown { #expect(await shown.content().body == "Hi") }
        #expect(shown.map(\.count) == [1, 1])
    }

    @Test func `races of pushes, deadlines and expiries call each handler once and release the service`() async throws {
        let payloads = try [
            channel.seal(#"{"aps":{"alert":"Hi"}}"#), Array(#"{"aps":{"alert":"x"}}"#.utf8), Array("{}".utf8),
        ]
        let gone = Signal()
        let shown = (0..<300).map { _ in RecordedContents() }
        try race(payloads, shown, Witness(gone: gone))
        // The service and its sessions were released, so no further call can come.
        await gone.wait()
        #expect(shown.allSatisfy { $0.count == 1 })
    }

    private func race(_ payloads: [[UInt8]], _ shown: [RecordedContents], _ witness: Witness) throws {
        let timer = ManualTimer()
        let service = TestService { [channel] in
            var configuration = try channel.configuration(timer: timer)
            configuration.clock = { [witness] in
                _ = witness
                return Channel.now
            }
            return configuration
        }
        let requests = try payloads.map { try Channel.request($0) }
        let unsafe = Unchecked(service: service)
        let end = DispatchQueue(label: "expiry")
        for (index, shown) in shown.enumerated() {
            end.async {
                unsafe.service.serviceExtensionTimeWillExpire()
                timer.fire()
            }
            service.didReceive(requests[index % requests.count]) { shown.handle($0) }
        }
        end.sync {}
        service.serviceExtensionTimeWillExpire()
    }

    // Unchecked: the system also calls one service from several threads.
    private struct Unchecked: @unchecked Sendable {
        let service: TestService
    }

    private final class Witness: Sendable {
        private let gone: Signal

        init(gone: Signal) { self.gone = gone }

        deinit { gone.give() }
    }
}

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
        "a push is handed over with one handler call and its title, or the placeholder's if it can't be opened",
        arguments: [
            (#"{"aps":{"alert":{"title":"T","body":"B"},"badge":2},"n":1}"#, true, "T"),
            (#"{"aps":{"alert":{"title":"é 🧶"}}}"#, true, "é 🧶"), (#"{"aps":{"alert":"x"}}"#, false, "New message"),
        ])
    func handedOver(_ json: String, isOwn: Bool, _ title: String) async throws {
        let payload = isOwn ? try channel.seal(json) : try Channel().seal(json)
        let shown = try #require(await host.deliver(payload))
        #expect(shown.origin == .handedOver && shown.content?.title.literal == title)
        #expect((host.handlerCallCount, host.breachCount) == (1, 0))
    }

    @Test func `a stuck push is handed over at the time limit while others are delivered`() async throws {
        async let stuck = host.deliver(channel.seal(#"{"aps":{"alert":{"title":"stuck","body":"B"}}}"#))
        await stage.started.wait()
        #expect(try await host.deliver(channel.seal(#"{"aps":{"alert":"Hi"}}"#))?.content?.body.literal == "Hi")
        timer.fire(.seconds(29))
        let shown = try #require(try await stuck)
        #expect(shown.origin == .handedOver && shown.content?.title.literal == "stuck")
        stage.release.give()
        #expect((host.handlerCallCount, host.breachCount) == (2, 0))
    }
}
