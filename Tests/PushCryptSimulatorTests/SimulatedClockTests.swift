import PushCryptPrimitives
import Testing

@testable import PushCryptSimulator

@Suite struct SimulatedClockTests {
    @Test("events fire in the order of their times when the clock passes them, and cancelled ones never")
    func order() {
        let clock = SimulatedClock()
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
}
