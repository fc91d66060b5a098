import Foundation
import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// The simulated system. `HostContractTests` of `PushCryptAppleTests` run sessions in it.
@Suite struct NotificationHostTests {
    /// An extension that runs closures of the test.
    private struct Scripted: HostedExtension {
        var receive: @Sendable ([UInt8], HostExchange) -> Void = { _, _ in }
        var expire: @Sendable () -> Void = {}

        func didReceive(_ payload: [UInt8], _ exchange: HostExchange) { receive(payload, exchange) }
        func timeWillExpire() { expire() }
    }

    private static let original = Array(#"{"aps":{"alert":"original","mutable-content":1}}"#.utf8)

    private static func content(_ title: String?, sound: String? = nil) -> NotificationContent {
        var content = NotificationContent()
        content.title.literal = title
        content.sound = sound.map { .init(name: $0) }
        return content
    }

    /// What an extension hands over, nil if its process ends, and what is shown.
    private static let outcomes: [(NotificationContent?, Bool, PresentedContent.Origin)] = [
        (content("mine"), false, .handedOver), (content(nil), false, .emptied), (content(""), false, .emptied),
        (content(nil), true, .suppressed), (content(nil, sound: "default"), true, .emptied), (nil, false, .died),
    ]

    @Test("the host shows the extension's text, nothing if it may filter, or the original", arguments: outcomes)
    func handedOver(content: NotificationContent?, isEntitled: Bool, origin: PresentedContent.Origin) async throws {
        let hosted = Scripted { _, exchange in
            if let content { exchange.hand(over: content) } else { exchange.processDied() }
        }
        let host = NotificationHost(hosted, hasFilteringEntitlement: isEntitled)
        let shown = try #require(await host.deliver(Self.original))
        #expect(shown.origin == origin)
        switch origin {
        case .handedOver: #expect(shown.content == content)
        case .suppressed: #expect(shown.content == nil)
        default: #expect(shown.content?.body.literal == "original")
        }
        #expect(host.presentations == [shown])
        #expect((host.handlerCallCount, host.breachCount) == (content == nil ? 0 : 1, 0))
    }

    @Test(
        "a push without mutable-content 1 is shown without running the extension, and without an alert not at all",
        arguments: [
            (#"{"aps":{"alert":"original"}}"#, true), (#"{"aps":{"alert":"original","mutable-content":0}}"#, true),
            (#"{"aps":{"alert":"original","mutable-content":true}}"#, true), ("{", false), ("{}", false),
            (#"{"aps":{"mutable-content":1}}"#, false), (#"{"aps":{"alert":"","mutable-content":1}}"#, false),
        ])
    func notRun(payload: String, isShown: Bool) async {
        let host = NotificationHost(Scripted { _, _ in Issue.record("run") })
        let shown = await host.deliver(Array(payload.utf8))
        #expect(shown?.origin == (isShown ? .notRun : nil))
        #expect(shown?.content?.body.literal == (isShown ? "original" : nil))
    }

    @Test("after the time limit the extension is warned and may still answer", arguments: [true, false])
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
                for title in ["first", "second"] { exchange.hand(over: Self.content(title)) }
            })
        #expect(await host.deliver(Self.original)?.content == Self.content("first"))
        #expect((host.handlerCallCount, host.breachCount) == (2, 1))
    }
}

/// An extension in its own process, run by the simulated system.
@Suite struct ProcessTests {
    /// Runs the tests' executable for each push.
    private struct ProcessExtension: HostedExtension {
        let folder: TemporaryFolder
        let kills: Bool

        func didReceive(_ payload: [UInt8], _ exchange: HostExchange) {
            do {
                let line = try ProcessTests.deliver(payload, in: folder, kills: kills).first
                guard let line else { return exchange.processDied() }
                var content = NotificationContent()
                content.title.literal = line
                exchange.hand(over: content)
            } catch {
                Issue.record(error)
                exchange.processDied()
            }
        }

        func timeWillExpire() {}
    }

    private static func deliver(_ payload: [UInt8], in folder: TemporaryFolder, kills: Bool) throws -> [String] {
        try Data(ReferenceVectors.shared.jwk("p256")).write(to: folder.file("key.json"))
        try Data(payload).write(to: folder.file("payload.json"))
        let arguments = [
            "deliver", folder.file("key.json").path, folder.file("payload.json").path, TestPush.topic,
            "\(TestPush.now.seconds)",
        ]
        let command = try ExtensionCommand(arguments + (kills ? ["kill"] : []))
        #expect(try command.process.wait() == (kills ? .signal(9) : .exit(0)))
        return try command.lines()
    }

    @Test("the original push is shown if the process is killed", arguments: [false, true])
    func crash(kills: Bool) async throws {
        let host = NotificationHost(ProcessExtension(folder: try TemporaryFolder(), kills: kills))
        let shown = try #require(await host.deliver(TestPush().sealed()))
        #expect(shown.origin == (kills ? .died : .handedOver))
        #expect(shown.content?.title.literal == (kills ? "New message" : "Zoë"))
        #expect(host.handlerCallCount == (kills ? 0 : 1))
    }

    @Test(
        "a process grows by less than 4 MB in 1,000 pushes",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsMemory)"))
    func thousandPushes() throws {
        let folder = try TemporaryFolder()
        try Data(ReferenceVectors.shared.jwk("p256")).write(to: folder.file("key.json"))
        let payloads = try (0..<1_000).map { _ in try TestPush().sealed() }
        try Data(payloads.joined(separator: [UInt8(ascii: "\n")])).write(to: folder.file("payloads"))
        let output = try #require(
            try ExtensionCommand.output([
                "open-all", folder.file("key.json").path, folder.file("payloads").path, TestPush.topic,
                "\(TestPush.now.seconds)",
            ]))
        #expect(output.first == "restored 1000")
        let peak = output.first { $0.hasPrefix("peak ") }.flatMap { Int($0.dropFirst(5)) }
        #expect(try #require(peak) < 4_096, "\(output)")
    }
}
