import PushCryptExtension
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// The simulated system, and sessions that it runs.
@Suite struct NotificationHostTests {
    /// An extension that runs closures of the test.
    private struct Scripted: HostedExtension {
        var receive: @Sendable ([UInt8], HostExchange) -> Void = { _, _ in }
        var expire: @Sendable () -> Void = {}

        func didReceive(_ payload: [UInt8], _ exchange: HostExchange) { receive(payload, exchange) }
        func timeWillExpire() { expire() }
    }

    private static let original = Array(#"{"aps":{"alert":"original","mutable-content":1}}"#.utf8)

    private static func content(_ title: String?) -> NotificationContent {
        var content = NotificationContent()
        content.title.literal = title
        return content
    }

    @Test("the host shows the content that the extension hands over")
    func handedOver() async throws {
        let host = NotificationHost(Scripted { $1.hand(over: Self.content("mine")) })
        let shown = try #require(await host.deliver(Self.original))
        #expect(shown.content == Self.content("mine"))
        #expect(shown.origin == .handedOver)
        #expect(host.presentations == [shown])
        #expect((host.handlerCallCount, host.breachCount) == (1, 0))
    }

    @Test(
        "a push without mutable-content 1 is shown without running the extension",
        arguments: [
            #"{"aps":{"alert":"original"}}"#, #"{"aps":{"alert":"original","mutable-content":0}}"#,
            #"{"aps":{"alert":"original","mutable-content":true}}"#,
        ])
    func notRun(payload: String) async throws {
        let host = NotificationHost(Scripted { _, _ in Issue.record("run") })
        let shown = try #require(await host.deliver(Array(payload.utf8)))
        #expect(shown.origin == .notRun)
        #expect(shown.content?.body.literal == "original")
    }

    @Test(
        "a push without an alert runs no extension and shows nothing",
        arguments: ["{", "{}", #"{"aps":{"mutable-content":1}}"#, #"{"aps":{"alert":"","mutable-content":1}}"#])
    func nothingToShow(payload: String) async {
        let host = NotificationHost(Scripted { _, _ in Issue.record("run") })
        #expect(await host.deliver(Array(payload.utf8)) == nil)
    }

    @Test("content without text makes the host show the original", arguments: [nil, ""])
    func emptied(title: String?) async throws {
        let host = NotificationHost(Scripted { $1.hand(over: Self.content(title)) })
        let shown = try #require(await host.deliver(Self.original))
        #expect(shown.origin == .emptied)
        #expect(shown.content?.body.literal == "original")
    }

    @Test("with the entitlement for filtering empty content shows nothing, and the original if it has a sound")
    func filtered() async throws {
        for (sound, origin) in [(nil, .suppressed), (NotificationContent.Sound(name: "default"), .emptied)]
            as [(NotificationContent.Sound?, PresentedContent.Origin)]
        {
            let hosted = Scripted {
                var content = Self.content(nil)
                content.sound = sound
                $1.hand(over: content)
            }
            let host = NotificationHost(hosted, hasFilteringEntitlement: true)
            #expect(await host.deliver(Self.original)?.origin == origin)
        }
    }

    @Test("the host shows the original if the extension's process ends")
    func died() async throws {
        let host = NotificationHost(Scripted { $1.processDied() })
        #expect(await host.deliver(Self.original)?.origin == .died)
    }

    @Test(
        "after the time limit the extension is warned and may still answer; otherwise the original is shown",
        arguments: [true, false])
    func timeIsUp(answers: Bool) async throws {
        let timer = ManualTimer()
        let (begun, warned) = (Signal(), Signal())
        let exchange = Locked<HostExchange?>(nil)
        let hosted = Scripted { _, given in
            exchange.withLock { $0 = given }
            begun.give()
        } expire: {
            if answers { exchange.withLock { $0 }?.hand(over: Self.content("late")) }
            warned.give()
        }
        let host = NotificationHost(hosted, timer: timer)
        async let shown = host.deliver(Self.original)
        await begun.wait()
        #expect(timer.durations == [.seconds(29)])
        timer.fire()
        await warned.wait()
        if !answers { timer.fire(.seconds(1)) }
        #expect(await shown?.origin == (answers ? .handedOver : .expired))
        #expect(!timer.isPending)
    }

    @Test("a second handler call for a push is counted as a breach")
    func secondCallIsABreach() async throws {
        let host = NotificationHost(
            Scripted { _, exchange in
                exchange.hand(over: Self.content("first"))
                exchange.hand(over: Self.content("second"))
            })
        #expect(await host.deliver(Self.original)?.content == Self.content("first"))
        #expect((host.handlerCallCount, host.breachCount) == (2, 1))
    }

    private static func host(
        timer: ManualTimer = ManualTimer(), _ stages: [any ContentStage] = []
    ) throws -> NotificationHost {
        var configuration = try ExtensionConfiguration.test()
        configuration.timer = ManualTimer()
        configuration.stages = stages
        let chosen = configuration
        let hosted = SessionExtension { payload, handler in
            DeliverySession(payload: payload, configuration: chosen, handler: handler)
        }
        return NotificationHost(hosted, timer: timer)
    }

    @Test("a sealed push is delivered with its restored title")
    func sealedPush() async throws {
        let host = try Self.host()
        let shown = try #require(await host.deliver(TestPush().sealed()))
        #expect(shown.origin == .handedOver)
        #expect(shown.content?.title.literal == "Zoë")
    }

    @Test("a push is shown while another push is stuck until the time limit")
    func secondPushDoesNotWait() async throws {
        let (timer, held) = (ManualTimer(), HeldStage(.blocking))
        let host = try Self.host(timer: timer, [held])
        let quick = try Self.host()
        async let stuck = host.deliver(try TestPush().sealed())
        await held.begun.wait()
        #expect(try await quick.deliver(TestPush().sealed())?.content?.title.literal == "Zoë")
        timer.fire()
        #expect(try await stuck?.origin == .handedOver)
        held.release()
        #expect((host.handlerCallCount, host.breachCount) == (1, 0))
    }
}
