import PushCryptPrimitives

/// A moment in whole seconds since 1970-01-01T00:00:00Z.
public struct UnixTime: Hashable, Comparable, Sendable {
    public let seconds: Int64

    public init(_ seconds: Int64) {
        self.seconds = seconds
    }

    /// The time of the system's clock: the default of the `clock` parameters. Nothing in this module reads it.
    public static var now: UnixTime { UnixTime(SystemClock.secondsSince1970) }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    /// The first or the last moment where the sum is beyond it: whatever a clock says, no sum traps.
    public static func + (time: UnixTime, seconds: Int64) -> UnixTime {
        let (sum, isBeyond) = time.seconds.addingReportingOverflow(seconds)
        return UnixTime(isBeyond ? (seconds < 0 ? .min : .max) : sum)
    }

    /// The same for differences.
    public static func - (time: UnixTime, seconds: Int64) -> UnixTime {
        let (difference, isBeyond) = time.seconds.subtractingReportingOverflow(seconds)
        return UnixTime(isBeyond ? (seconds < 0 ? .max : .min) : difference)
    }

    /// The numbers that the protocol's integers hold: 0...2^53-1.
    public static let protocolRange: ClosedRange<Int64> = 0...(1 << 53 - 1)
}
