import PushCryptPrimitives

/// A moment in whole seconds since 1970-01-01T00:00:00Z.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Whole seconds since 1970-01-01T00:00:00Z; negative before.
    public let seconds: Int64

    /// Makes a time from seconds since 1970-01-01T00:00:00Z.
    public init(_ seconds: Int64) { self.seconds = seconds }

    /// The time of the system's clock, the default of the `clock` parameters. No other code in this module reads the clock.
    public static var now: UnixTime { UnixTime(SystemClock.secondsSince1970) }

    /// Whether `left` is before `right`.
    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    /// The sum, clamped to the range of `Int64`.
    public static func + (time: UnixTime, seconds: Int64) -> UnixTime {
        let (sum, isBeyond) = time.seconds.addingReportingOverflow(seconds)
        return UnixTime(isBeyond ? (seconds < 0 ? .min : .max) : sum)
    }

    /// The difference, clamped to the range of `Int64`.
    public static func - (time: UnixTime, seconds: Int64) -> UnixTime {
        let (difference, isBeyond) = time.seconds.subtractingReportingOverflow(seconds)
        return UnixTime(isBeyond ? (seconds < 0 ? .max : .min) : difference)
    }

    /// The integers that the protocol allows: 0...2^53-1.
    package static let protocolRange: ClosedRange<Int64> = 0...(1 << 53 - 1)
}

/// RFC 3339 section 5.6, strictly: a day that the month doesn't have and a missing offset are refused.
///
/// ```
/// date-time   = full-date "T" full-time
/// full-date   = 4DIGIT "-" 2DIGIT "-" 2DIGIT
/// full-time   = 2DIGIT ":" 2DIGIT ":" 2DIGIT ["." 1*DIGIT] ("Z" / ("+" / "-") 2DIGIT ":" 2DIGIT)
/// ```
/// Fractions of a second are dropped; a leap second counts as the second after it.
extension UnixTime: CustomStringConvertible {
    /// The times whose year in UTC has four digits: all that can be written as RFC 3339.
    package static let rfc3339Range = UnixTime(-62_167_219_200)...UnixTime(253_402_300_799)

    /// Reads an RFC 3339 time; nil for another form, or if the offset moves the time out of the years 0 to 9999.
    public init?(rfc3339 text: String) {
        var scanner = DateScanner(text)
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let day = scanner.digits(2), scanner.skip("T") || scanner.skip("t"),
            let hour = scanner.digits(2), scanner.skip(":"), let minute = scanner.digits(2), scanner.skip(":"),
            let second = scanner.digits(2), scanner.skipFraction(), let offset = scanner.offsetInSeconds(),
            scanner.isAtEnd, hour < 24, minute < 60, second <= 60
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        let days = date.daysSince1970
        // A day that the month doesn't have is computed as one of the next month.
        guard CivilDate(daysSince1970: days) == date else { return nil }
        seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
        guard Self.rfc3339Range.contains(self) else { return nil }
    }

    /// RFC 3339 in UTC, as in `2026-03-01T09:00:00Z`, or the seconds since 1970 for other years, as in `300000000000 s`.
    public var description: String {
        guard Self.rfc3339Range.contains(self) else { return "\(seconds) s" }
        let days = seconds >= 0 ? seconds / 86_400 : (seconds + 1) / 86_400 - 1
        let second = seconds - days * 86_400
        let date = CivilDate(daysSince1970: days)
        let time = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(time)Z"
    }

    private func padded(_ number: Int64, _ width: Int) -> String { String("000\(number)".suffix(width)) }
}

/// A day of the proleptic Gregorian calendar.
package struct CivilDate: Equatable {
    package let year: Int64
    package let month: Int64
    package let day: Int64
    /// Years begin in March, so that the leap day is the last of its year. The first year is -400, so that no number is
    /// negative. It begins 865,565 days before 1970-01-01.
    private static let daysBefore1970: Int64 = 865_565

    package init(year: Int64, month: Int64, day: Int64) { (self.year, self.month, self.day) = (year, month, day) }

    package var daysSince1970: Int64 {
        let marchYear = (month > 2 ? year : year - 1) + 400
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return marchYear * 365 + leapDays + dayOfYear - Self.daysBefore1970
    }
}

extension CivilDate {
    package init(daysSince1970: Int64) {
        let (era, dayOfEra) = (daysSince1970 + Self.daysBefore1970).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = (era - 1) * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    }
}

private struct DateScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }
    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Character) -> Bool {
        guard rest.first == character.asciiValue else { return false }
        rest.removeFirst()
        return true
    }

    mutating func digits(_ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy(\.isDigit) else { return nil }
        rest.removeFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }

    mutating func skipFraction() -> Bool {
        guard skip(".") else { return true }
        let digits = rest.prefix(while: \.isDigit)
        rest.removeFirst(digits.count)
        return !digits.isEmpty
    }

    mutating func offsetInSeconds() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int64 = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hour = digits(2), skip(":"), let minute = digits(2), hour < 24, minute < 60
        else { return nil }
        return sign * (hour * 3_600 + minute * 60)
    }
}
