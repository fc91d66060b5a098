import Dispatch
import Testing

@testable import PushCryptPrimitives

@Suite struct DurationCountTests {
    private static let extremes: [Duration] = [
        .seconds(10_000_000_000), .seconds(Int64.max), .seconds(Int64.min), .seconds(-10_000_000_000),
    ]

    @Test(
        "a duration is counted in a unit, to the nearest number",
        arguments: [
            (.zero, 0), (.nanoseconds(1), 0), (.microseconds(499), 0), (.microseconds(501), 1), (.seconds(25), 25_000),
            (.seconds(-3), -3_000), (.seconds(100_000_000), 100_000_000_000),
        ] as [(Duration, Int64)])
    func count(duration: Duration, milliseconds: Int64) {
        #expect(duration.count(of: .milliseconds(1), as: Int64.self) == milliseconds)
    }

    @Test("a duration that the number can't hold is the largest or smallest number", arguments: extremes)
    func extreme(duration: Duration) {
        #expect(duration.count(of: .nanoseconds(1), as: Int64.self) == (duration > .zero ? .max : .min))
        #expect(duration.count(of: .milliseconds(1), as: Int32.self) == (duration > .zero ? .max : .min))
        #expect(duration.count(of: .nanoseconds(1), as: Int8.self) == (duration > .zero ? .max : .min))
    }

    @Test("Dispatch gets nanoseconds, and the most that there are for ten thousand million seconds")
    func dispatch() {
        #expect(Duration.milliseconds(1_500).dispatchInterval == .nanoseconds(1_500_000_000))
        #expect(Duration.seconds(10_000_000_000).dispatchInterval == .nanoseconds(.max))
        #expect(Duration.seconds(-10_000_000_000).dispatchInterval == .nanoseconds(.min))
        #expect(DispatchTime.now() + Duration.seconds(Int64.max).dispatchInterval == .distantFuture)
    }

    @Test("where Int has 32 bits, 25 seconds are milliseconds and a year is 24 days")
    func smallWord() {
        #expect(Duration.milliseconds(1_500).dispatchInterval(Int32.self) == .nanoseconds(1_500_000_000))
        #expect(Duration.seconds(25).dispatchInterval(Int32.self) == .milliseconds(25_000))
        #expect(Duration.seconds(365 * 86_400).dispatchInterval(Int32.self) == .milliseconds(Int(Int32.max)))
        #expect(Duration.seconds(Int64.min).dispatchInterval(Int32.self) == .milliseconds(Int(Int32.min)))
    }
}
