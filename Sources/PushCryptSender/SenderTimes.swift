public import PushCryptCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension UnixTime {
    /// Makes a time from a date. Fractions of a second are dropped, and times outside of `Int64` are clamped.
    public init(_ date: Date) {
        self.init(Int64(clamping: date.timeIntervalSince1970.rounded(.down)))
    }

    /// The time as Foundation's `Date`.
    public var date: Date { Date(timeIntervalSince1970: Double(seconds)) }
}

extension Recipient {
    /// How long after its sealing a push to this device may expire at the latest: 30 days, or the flight of its device set.
    public var longestLifetime: Duration { .seconds(deviceSet?.flightInSeconds ?? MessageHeader.windowInSeconds) }
}

extension Int64 {
    /// The nearest number to `value`; 0 for NaN.
    fileprivate init(clamping value: Double) {
        self = Int64(exactly: value) ?? (value.isNaN ? 0 : value < 0 ? .min : .max)
    }
}
