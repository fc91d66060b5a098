import PushCryptExtension
import Testing

/// The timer that the extension uses on devices. No test waits: a deadline passes at once or is cancelled.
@Suite struct ThreadTimerTests {
    @Test(
        "a timer with a zero, tiny or negative duration calls its body",
        arguments: [Duration.zero, .nanoseconds(1), .seconds(-5)])
    func fires(duration: Duration) async {
        await withCheckedContinuation { continuation in
            _ = ThreadTimer().schedule(after: duration) { continuation.resume() }
        }
    }

    @Test("a cancelled timer releases everything that its body has captured")
    func givenUp() async {
        await withCheckedContinuation { continuation in
            let end = EndOfLife { continuation.resume() }
            let cancel = ThreadTimer().schedule(after: .seconds(86_400)) {
                withExtendedLifetime(end) { _ = Issue.record("the deadline passed although it was cancelled") }
            }
            cancel()
        }
    }

    @Test("a timer that is cancelled twice releases everything that its body has captured")
    func givenUpTwice() async {
        await withCheckedContinuation { continuation in
            let end = EndOfLife { continuation.resume() }
            let cancel = ThreadTimer().schedule(after: .seconds(86_400)) { withExtendedLifetime(end) {} }
            cancel()
            cancel()
        }
    }

    @Test("a delivery session on the real timer shows the restored content")
    func ofASession() async throws {
        let payload = try Channel.simple.seal()
        var configuration = ExtensionConfiguration(
            opener: try Channel.simple.opener(), fallback: .bundled(.standard))
        configuration.clock = { Channel.now }
        let chosen = configuration
        let delivery = await withCheckedContinuation { continuation in
            DeliverySession(payload: payload, configuration: chosen) { continuation.resume(returning: $0) }.start()
        }
        #expect(delivery.failure == nil)
        #expect(delivery.content.body.literal == "x")
    }
}

final class EndOfLife: Sendable {
    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }

    deinit {
        body()
    }
}
