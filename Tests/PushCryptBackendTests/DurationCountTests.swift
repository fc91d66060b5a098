import Dispatch
import Testing

@testable import PushCryptPrimitives

@Suite struct DurationCountTests {
    private static let extremes: [Duration] = [
        .seconds(10_000_000_000), .seconds(Int64.max), .seconds(Int64.min), .seconds(-10_000_000_000),
    ]

    @Test(
        "a duration is counted in units and rounded to the nearest integer",
        arguments: [
            (.zero, 0), (.nanoseconds(1), 0), (.microseconds(499), 0), (.microseconds(501), 1), (.seconds(25), 25_000),
            (.seconds(-3), -3_000), (.seconds(100_000_000), 100_000_000_000),
        ] as [(Duration, Int64)])
    func count(duration: Duration, milliseconds: Int64) {
        #expect(duration.count(of: .milliseconds(1), as: Int64.self) == milliseconds)
    }

    @Test("a duration outside the number's range is clamped to it", arguments: extremes)
    func extreme(duration: Duration) {
        #expect(duration.count(of: .nanoseconds(1), as: Int64.self) == (duration > .zero ? .max : .min))
        #expect(duration.count(of: .milliseconds(1), as: Int32.self) == (duration > .zero ? .max : .min))
        #expect(duration.count(of: .nanoseconds(1), as: Int8.self) == (duration > .zero ? .max : .min))
    }

    @Test("a dispatch interval is in nanoseconds and clamped to the range of Int")
    func dispatch() {
        #expect(Duration.milliseconds(1_500).dispatchInterval == .nanoseconds(1_500_000_000))
        #expect(Duration.seconds(10_000_000_000).dispatchInterval == .nanoseconds(.max))
        #expect(Duration.seconds(-10_000_000_000).dispatchInterval == .nanoseconds(.min))
        #expect(DispatchTime.now() + Duration.seconds(Int64.max).dispatchInterval == .distantFuture)
    }

    @Test("with a 32-bit Int, a dispatch interval of 25 seconds is in milliseconds and a year is clamped to 24 days")
    func smallWord() {
        #expect(Duration.milliseconds(1_500).dispatchInterval(Int32.self) == .nanoseconds(1_500_000_000))
        #expect(Duration.seconds(25).dispatchInterval(Int32.self) == .milliseconds(25_000))
        #expect(Duration.seconds(365 * 86_400).dispatchInterval(Int32.self) == .milliseconds(Int(Int32.max)))
        #expect(Duration.seconds(Int64.min).dispatchInterval(Int32.self) == .milliseconds(Int(Int32.min)))
    }
}
