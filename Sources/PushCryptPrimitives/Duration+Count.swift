package import Dispatch

extension Duration {
    /// The number of units in the duration, rounded to the nearest integer. A number that `Number` can't hold becomes the
    /// smallest or the largest one: no duration traps, whatever the word size of the system.
    package func count<Number: FixedWidthInteger>(of unit: Duration, as: Number.Type = Number.self) -> Number {
        let count = (self / unit).rounded()
        return Number(exactly: count) ?? (count < 0 ? .min : .max)
    }

    /// The same for Dispatch, to the nanosecond.
    package var dispatchInterval: DispatchTimeInterval { dispatchInterval(Int.self) }

    /// - Parameter word: the system's `Int`. Where it has 32 bits, nanoseconds end after two seconds: what is longer is
    ///   rounded to the millisecond, and ends after 24 days.
    func dispatchInterval<Word: FixedWidthInteger>(_ word: Word.Type) -> DispatchTimeInterval {
        let nanoseconds = count(of: .nanoseconds(1), as: Word.self)
        guard Word.bitWidth < 64, nanoseconds == .min || nanoseconds == .max else {
            return .nanoseconds(Int(nanoseconds))
        }
        return .milliseconds(Int(count(of: .milliseconds(1), as: Word.self)))
    }
}
