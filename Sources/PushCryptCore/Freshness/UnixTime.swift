/// A moment in whole seconds since 1970-01-01T00:00:00Z.
public struct UnixTime: Hashable, Comparable, Sendable {
    public let seconds: Int64

    public init(_ seconds: Int64) {
        self.seconds = seconds
    }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }
    public static func + (time: UnixTime, seconds: Int64) -> UnixTime { UnixTime(time.seconds + seconds) }
    public static func - (time: UnixTime, seconds: Int64) -> UnixTime { UnixTime(time.seconds - seconds) }

    /// The numbers that the protocol's integers hold: 0...2^53-1.
    public static let protocolRange: ClosedRange<Int64> = 0...(1 << 53 - 1)
}
