import Dispatch
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

    @Test("a timer calls a body whose time comes before that of earlier ones")
    func earlier() async {
        let timer = ThreadTimer()
        let cancel = timer.schedule(after: .seconds(86_400)) { Issue.record("the later deadline passed") }
        for _ in 0..<100 {
            await withCheckedContinuation { continuation in
                _ = timer.schedule(after: .zero) { continuation.resume() }
            }
        }
        cancel()
    }

    @Test("a body that blocks its thread doesn't delay other bodies of the same timer")
    func blocked() async {
        let (timer, isOver) = (ThreadTimer(), DispatchSemaphore(value: 0))
        await withCheckedContinuation { continuation in
            _ = timer.schedule(after: .zero) {
                isOver.wait()
                continuation.resume()
            }
            _ = timer.schedule(after: .zero) { isOver.signal() }
        }
    }

    @Test("a timer whose body schedules the next one calls them all")
    func chain() async {
        let timer = ThreadTimer()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func next(_ count: Int) {
                guard count > 0 else { return continuation.resume() }
                _ = timer.schedule(after: .nanoseconds(count % 3)) { next(count - 1) }
            }
            next(200)
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
