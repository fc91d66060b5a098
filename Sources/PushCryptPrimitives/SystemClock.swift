package import Dispatch

/// The system's clock: the default of every `clock` parameter.
public enum SystemClock {
    /// Whole seconds since 1970-01-01T00:00:00Z.
    public static var secondsSince1970: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }

    /// Whole seconds since the device was started, also while it slept. Nobody sets this clock.
    package static var secondsSinceStart: Int64 {
        var time = timespec()
        #if canImport(Darwin)
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        #else
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return Int64(time.tv_sec)
    }
}

extension Duration {
    /// The number of units in the duration, rounded to the nearest integer and clamped to the range of `Number`.
    package func count<Number: FixedWidthInteger>(of unit: Duration, as: Number.Type = Number.self) -> Number {
        let count = (self / unit).rounded()
        return Number(exactly: count) ?? (count < 0 ? .min : .max)
    }

    /// The duration as a Dispatch interval, to the nanosecond.
    package var dispatchInterval: DispatchTimeInterval { dispatchInterval(Int.self) }

    /// - Parameter word: the system's `Int`. An `Int` of 32 bits holds only two seconds in nanoseconds, so a longer
    ///   duration is rounded to the millisecond and clamped to 24 days.
    func dispatchInterval<Word: FixedWidthInteger>(_ word: Word.Type) -> DispatchTimeInterval {
        let nanoseconds = count(of: .nanoseconds(1), as: Word.self)
        guard Word.bitWidth < 64, nanoseconds == .min || nanoseconds == .max else {
            return .nanoseconds(Int(nanoseconds))
        }
        return .milliseconds(Int(count(of: .milliseconds(1), as: Word.self)))
    }
}
