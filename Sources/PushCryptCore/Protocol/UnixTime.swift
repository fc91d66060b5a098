import PushCryptPrimitives

/// A moment in whole seconds since 1970-01-01T00:00:00Z.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// Whole seconds since 1970-01-01T00:00:00Z; negative before.
    public let seconds: Int64

    /// - Parameter seconds: since 1970-01-01T00:00:00Z.
    public init(_ seconds: Int64) {
        self.seconds = seconds
    }

    /// The time of the system's clock: the default of the `clock` parameters. Nothing in this module reads it.
    public static var now: UnixTime { UnixTime(SystemClock.secondsSince1970) }

    /// Whether one moment is before another.
    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    /// The sum, or the first or last moment where it would overflow: no clock can make this trap.
    public static func + (time: UnixTime, seconds: Int64) -> UnixTime {
        let (sum, isBeyond) = time.seconds.addingReportingOverflow(seconds)
        return UnixTime(isBeyond ? (seconds < 0 ? .min : .max) : sum)
    }

    /// The difference, or the first or last moment where it would overflow.
    public static func - (time: UnixTime, seconds: Int64) -> UnixTime {
        let (difference, isBeyond) = time.seconds.subtractingReportingOverflow(seconds)
        return UnixTime(isBeyond ? (seconds < 0 ? .max : .min) : difference)
    }

    /// The numbers that the protocol's integers hold: 0...2^53-1.
    public static let protocolRange: ClosedRange<Int64> = 0...(1 << 53 - 1)
}

/// RFC 3339 section 5.6, strictly: a day that the month doesn't have is refused, and so is a missing offset.
///
/// ```
/// date-time   = full-date "T" full-time
/// full-date   = 4DIGIT "-" 2DIGIT "-" 2DIGIT
/// full-time   = 2DIGIT ":" 2DIGIT ":" 2DIGIT ["." 1*DIGIT] ("Z" / ("+" / "-") 2DIGIT ":" 2DIGIT)
/// ```
/// Fractions of a second are dropped; a leap second counts as the second after it.
extension UnixTime: CustomStringConvertible {
    /// The times whose year in UTC has four digits: what is written can be read again.
    package static let rfc3339Range = UnixTime(-62_167_219_200)...UnixTime(253_402_300_799)

    /// - Returns: nil for another form, and for a time that is outside of the years 0 to 9999 because of its offset.
    public init?(rfc3339 text: String) {
        var scanner = DateScanner(text)
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let day = scanner.digits(2), scanner.skip("T") || scanner.skip("t"),
            let hour = scanner.digits(2), scanner.skip(":"), let minute = scanner.digits(2), scanner.skip(":"),
            let second = scanner.digits(2), scanner.skipFraction(), let offset = scanner.offsetInSeconds(),
            scanner.isAtEnd,
            (1...12).contains(month), (1...CivilDate.dayCount(month: month, year: year)).contains(day),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
        guard Self.rfc3339Range.contains(self) else { return nil }
    }

    /// RFC 3339 in UTC, as in `2026-03-01T09:00:00Z`; for other years the seconds since 1970, as in `300000000000 s`.
    public var description: String {
        guard Self.rfc3339Range.contains(self) else { return "\(seconds) s" }
        let days = seconds >= 0 ? seconds / 86_400 : (seconds + 1) / 86_400 - 1
        let second = seconds - days * 86_400
        let date = CivilDate(daysSince1970: days)
        let time = [second / 3_600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))T\(time)Z"
    }

    private func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
}

/// A day of the proleptic Gregorian calendar.
private struct CivilDate {
    let year: Int64
    let month: Int64
    let day: Int64

    init(year: Int64, month: Int64, day: Int64) {
        (self.year, self.month, self.day) = (year, month, day)
    }

    static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    static func dayCount(month: Int64, year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days of the years before `year`, counted from year 0.
    private static func daysBefore(year: Int64) -> Int64 {
        let past = year - 1
        return year * 365 + past / 4 - past / 100 + past / 400 + (year > 0 ? 1 : 0)
    }

    private static let epoch = daysBefore(year: 1970)

    var daysSince1970: Int64 {
        let monthDays = (1..<month).reduce(0) { $0 + Self.dayCount(month: $1, year: year) }
        return Self.daysBefore(year: year) + monthDays + day - 1 - Self.epoch
    }

    init(daysSince1970: Int64) {
        var year = max((daysSince1970 + Self.epoch) / 366, 0)
        while Self.daysBefore(year: year + 1) - Self.epoch <= daysSince1970 { year += 1 }
        var rest = daysSince1970 + Self.epoch - Self.daysBefore(year: year)
        var month: Int64 = 1
        while rest >= Self.dayCount(month: month, year: year) {
            rest -= Self.dayCount(month: month, year: year)
            month += 1
        }
        self.init(year: year, month: month, day: rest + 1)
    }
}

private struct DateScanner {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Character) -> Bool {
        guard rest.first == character.asciiValue else { return false }
        rest.removeFirst()
        return true
    }

    mutating func digits(_ count: Int) -> Int64? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        rest.removeFirst(count)
        return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }

    mutating func skipFraction() -> Bool {
        guard skip(".") else { return true }
        let digits = rest.prefix { (48...57).contains($0) }
        rest.removeFirst(digits.count)
        return !digits.isEmpty
    }

    mutating func offsetInSeconds() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int64 = skip("+") ? 1 : skip("-") ? -1 : 0
        guard sign != 0, let hour = digits(2), skip(":"), let minute = digits(2), hour < 24, minute < 60 else {
            return nil
        }
        return sign * (hour * 3_600 + minute * 60)
    }
}
