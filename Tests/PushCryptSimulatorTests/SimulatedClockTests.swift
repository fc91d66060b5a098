import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSimulator

@Suite struct SimulatedClockTests {
    private let clock = SimulatedClock()

    @Test func `events fire in the order of their times when the clock passes them, and cancelled ones never`() {
        let fired = Locked<[Int]>([])
        for (number, seconds) in [(1, 3), (2, 1), (3, 2), (4, 2)] {
            _ = clock.schedule(after: .seconds(seconds)) { fired.withLock { $0.append(number) } }
        }
        clock.schedule(after: .seconds(1)) { fired.withLock { $0.append(5) } }()
        clock.advance(by: .milliseconds(999))
        #expect(fired.withLock { $0 } == [])
        clock.advance(by: .milliseconds(1_001))
        #expect(fired.withLock { $0 } == [2, 3, 4])
        #expect(clock.elapsed == .seconds(2))
        clock.advance(by: .seconds(10))
        #expect(fired.withLock { $0 } == [2, 3, 4, 1])
    }

    @Test func `each of two waits at once ends at its own time, and so does what follows the first`() async {
        let ends = await clock.run {
            @Sendable func end(_ seconds: [Int]) async -> [Duration] {
                var ends: [Duration] = []
                for seconds in seconds where (try? await clock.sleep(for: .seconds(seconds))) != nil {
                    ends.append(clock.elapsed)
                }
                return ends
            }
            async let short = end([5, 1])
            async let long = end([20])
            return await short + long
        }
        #expect(ends == [.seconds(5), .seconds(6), .seconds(20)])
    }

    @Test func `a wait ends at its time although a deadline fires before it, without patience`() async {
        let fired = Locked<[Duration]>([])
        let isImpatient = Locked(false)
        let onImpatience: @Sendable () -> Void = { isImpatient.withLock { $0 = true } }
        await clock.run(patience: .seconds(60), onImpatience: onImpatience) {
            _ = clock.schedule(after: .seconds(1)) { fired.withLock { $0.append(clock.elapsed) } }
            try? await clock.sleep(for: .seconds(5))
        }
        #expect(clock.elapsed == .seconds(5) && fired.withLock { $0 } == [.seconds(1)])
        #expect(!isImpatient.withLock { $0 })
    }

    @Test func `work that waits for something else moves the clock only to its own deadlines`() async {
        let fired = Locked<[Int]>([])
        _ = clock.schedule(after: .seconds(365 * 86_400)) { fired.withLock { $0.append(1) } }
        let (impatience, continuation) = AsyncStream.makeStream(of: Void.self)
        let onImpatience: @Sendable () -> Void = { continuation.yield() }
        await clock.run(patience: .milliseconds(1), onImpatience: onImpatience) {
            _ = clock.schedule(after: .seconds(5)) { fired.withLock { $0.append(2) } }
            // The deadline fires on another task, and then the clock has two more reasons to move.
            for await _ in impatience where fired.withLock({ $0.contains(2) }) { break }
            for await _ in impatience.prefix(2) {}
        }
        #expect(clock.elapsed == .seconds(5))
        #expect(fired.withLock { $0 } == [2])
    }

    @Test func `the clock doesn't move for one work while another one runs`() async {
        let begun = Signal()
        async let waiting = clock.run {
            begun.give()
            try? await clock.sleep(for: .seconds(5))
            return clock.elapsed
        }
        let busy = await clock.run {
            await begun.wait()
            for _ in 1...10_000 { await Task.yield() }
            return clock.elapsed
        }
        #expect(busy == .zero)
        #expect(await waiting == .seconds(5))
    }

    @Test func `a wait from before the work moves no clock, and ends when the clock passes it`() async throws {
        let (waits, continuation) = AsyncStream.makeStream(of: Void.self)
        let foreign = Task {
            continuation.yield()
            try await clock.sleep(for: .seconds(3))
            return clock.elapsed
        }
        for await _ in waits.prefix(1) {}
        await clock.run { for _ in 1...1_000 { await Task.yield() } }
        #expect(clock.elapsed == .zero)
        await clock.run { try? await clock.sleep(for: .seconds(7)) }
        #expect(clock.elapsed == .seconds(7))
        #expect(try await foreign.value >= .seconds(3))
    }
}
