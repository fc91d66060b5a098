import Dispatch
import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing

/// Sessions that start, end and get their keys at the same time on several threads.
@Suite struct InterleavingTests {
    private enum Event: CaseIterable {
        case start, expire, fire, releaseKeyring

        func happen(to session: TestSession) {
            switch self {
            case .start: session.start()
            case .expire: session.expire()
            case .fire: session.timer.fire()
            case .releaseKeyring: session.releaseKeyring()
            }
        }
    }

    /// The events of one thread after a delay.
    private struct Part {
        let delay: Int
        var events: [Event] = []

        func run(_ session: TestSession, _ seed: UInt64) {
            var idle = SplitMix64(seed: seed)
            var sum: UInt64 = 0
            for _ in 0..<delay { sum &+= idle.next() }
            withExtendedLifetime(sum) {
                for event in events { event.happen(to: session) }
            }
        }
    }

    /// Distributes the events in random order over three threads.
    private static func parts(_ random: inout SplitMix64) -> [Part] {
        var parts = (0..<3).map { _ in Part(delay: Int.random(in: 0..<400, using: &random)) }
        var events = Event.allCases.shuffled(using: &random)
        // In a third of the sessions only the key ends the session; in another third the timer doesn't fire.
        switch Int.random(in: 0..<3, using: &random) {
        case 0: events.removeAll { $0 == .expire || $0 == .fire }
        case 1: events.removeAll { $0 == .fire }
        default: break
        }
        for event in events { parts[Int.random(in: 0..<3, using: &random)].events.append(event) }
        return parts
    }

    private static let sessionCount = LongTests.value(1_000, short: 300)

    @Test("sessions that start, end and get their keys on three threads at once each call their handler once")
    func interleavedSessions() async throws {
        var random = SplitMix64(seed: 11)
        let payload = try TestPush(key: "shared").sealed()
        let restored = try TestPush.open(payload, key: "shared").get().content
        let placeholder = Fallback.outerAlert(orElse: .standard).content(for: payload, .timedOut)
        var count = 0
        for seed in 0..<Self.sessionCount {
            let parts = Self.parts(&random)
            let session = try TestSession(payload: payload, key: "shared")
            DispatchQueue.concurrentPerform(iterations: parts.count) { index in
                parts[index].run(session, UInt64(seed))
            }
            let deliveries = await session.finish()
            count += deliveries.count
            for delivery in deliveries {
                #expect(delivery.content == (delivery.failure == nil ? restored : placeholder))
                #expect(delivery.failure == nil || delivery.failure == .timedOut)
            }
            #expect(session.timer.cancelCount == session.timer.durations.count, "session \(seed)")
            #expect(!session.timer.isPending, "session \(seed)")
        }
        #expect(count == Self.sessionCount)
    }
}
