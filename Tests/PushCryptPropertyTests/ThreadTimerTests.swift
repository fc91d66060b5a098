import PushCryptExtension
import Testing

/// The timer that devices use. No test waits: a deadline of no length comes at once, a long one is given up.
@Suite struct ThreadTimerTests {
    @Test(arguments: [Duration.zero, .nanoseconds(1), .seconds(-5)])
    func fires(duration: Duration) async {
        await withCheckedContinuation { continuation in
            _ = ThreadTimer().schedule(after: duration) { continuation.resume() }
        }
    }

    /// Whoever gives the wait up gets everything back that the body held.
    @Test func givenUp() async {
        await withCheckedContinuation { continuation in
            let end = EndOfLife { continuation.resume() }
            let cancel = ThreadTimer().schedule(after: .seconds(86_400)) {
                withExtendedLifetime(end) { _ = Issue.record("the deadline came though it was given up") }
            }
            cancel()
        }
    }

    @Test func givenUpTwice() async {
        await withCheckedContinuation { continuation in
            let end = EndOfLife { continuation.resume() }
            let cancel = ThreadTimer().schedule(after: .seconds(86_400)) { withExtendedLifetime(end) {} }
            cancel()
            cancel()
        }
    }

    /// A real session on the real timer.
    @Test func ofASession() async throws {
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
