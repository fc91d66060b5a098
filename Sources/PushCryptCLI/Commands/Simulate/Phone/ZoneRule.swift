import PushCryptCore

/// The rule of a time zone's changes to and from summer time: POSIX.1, "Other Environment Variables", TZ, with the extension of
/// RFC 9636, section 3.3.1.
///
/// ```
/// rule   = name offset [name [offset] "," change "," change]         as in CET-1CEST,M3.5.0,M10.5.0/3
/// name   = 3*ALPHA / "<" *(ALPHA / DIGIT / "+" / "-") ">"
/// offset = ["+" / "-"] hours [":" minutes [":" seconds]]              west of Greenwich
/// change = date ["/" offset]                                          local time; 2:00 if it isn't given
/// date   = "M" month "." week "." weekday / "J" day / day
/// ```
struct ZoneRule {
    private static let daySeconds: Int64 = 86_400

    private let standard: Int64
    private let summer: (offset: Int64, begin: Change, end: Change)?

    /// - Returns: nil for a text that is no rule, also for an empty one.
    init?(_ text: String) {
        var reader = Reader(rest: text.utf8[...])
        guard reader.skipName(), let offset = reader.offset() else { return nil }
        standard = -offset
        guard !reader.rest.isEmpty else {
            summer = nil
            return
        }
        guard reader.skipName() else { return nil }
        let ahead = reader.offset().map { -$0 } ?? standard + 3_600
        guard let begin = reader.change(), let end = reader.change(), reader.rest.isEmpty else { return nil }
        summer = (ahead, begin, end)
    }

    /// How many seconds local time is ahead of UTC.
    func offset(at time: Int64) -> Int64 {
        guard let summer else { return standard }
        let days = Int64((Double(time + standard) / Double(Self.daySeconds)).rounded(.down))
        let year = CivilDate(daysSince1970: days).year
        let begin = summer.begin.localTime(in: year) - standard
        let end = summer.end.localTime(in: year) - summer.offset
        let isSummer = begin < end ? begin <= time && time < end : !(end <= time && time < begin)
        return isSummer ? summer.offset : standard
    }

    struct Change {
        enum Date {
            /// The weekday is from 0 for Sunday; week 5 is the last one of the month.
            case weekday(month: Int64, week: Int64, weekday: Int64)
            /// From 1; 29 February isn't counted.
            case day(Int64)
            /// From 0; 29 February is counted.
            case dayWithLeapDay(Int64)
        }

        let date: Date
        let time: Int64

        /// In seconds since 1970-01-01T00:00:00 of local time.
        func localTime(in year: Int64) -> Int64 {
            func day(_ month: Int64, _ day: Int64) -> Int64 {
                CivilDate(year: year, month: month, day: day).daysSince1970
            }
            let days: Int64
            switch date {
            case .weekday(let month, let week, let weekday):
                let first = day(month, 1)
                let next = month == 12 ? first + 31 : day(month + 1, 1)
                // 1 January 1970 was a Thursday.
                var found = first + (weekday - (first + 4) % 7 + 7) % 7 + (week - 1) * 7
                if found >= next { found -= 7 }
                days = found
            case .day(let number):
                let isAfterLeapDay = number > 59 && day(3, 1) - day(2, 1) == 29
                days = day(1, 1) + number - 1 + (isAfterLeapDay ? 1 : 0)
            case .dayWithLeapDay(let number): days = day(1, 1) + number
            }
            return days * ZoneRule.daySeconds + time
        }
    }

    private struct Reader {
        var rest: Substring.UTF8View

        mutating func skip(_ character: UInt8) -> Bool {
            guard rest.first == character else { return false }
            rest.removeFirst()
            return true
        }

        mutating func skipName() -> Bool {
            let isQuoted = skip(UInt8(ascii: "<"))
            let name = rest.prefix { isQuoted ? $0 != UInt8(ascii: ">") : $0.isAlphanumeric && !$0.isDigit }
            rest = rest.dropFirst(name.count)
            return name.count >= 3 && (!isQuoted || skip(UInt8(ascii: ">")))
        }

        mutating func number() -> Int64? {
            let digits = rest.prefix(while: \.isDigit)
            guard !digits.isEmpty, digits.count <= 3 else { return nil }
            rest = rest.dropFirst(digits.count)
            return digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }

        mutating func offset() -> Int64? {
            let isNegative = skip(UInt8(ascii: "-"))
            if !isNegative { _ = skip(UInt8(ascii: "+")) }
            guard var seconds = number().map({ $0 * 3_600 }) else { return nil }
            for unit: Int64 in [60, 1] where skip(UInt8(ascii: ":")) {
                guard let part = number() else { return nil }
                seconds += part * unit
            }
            return isNegative ? -seconds : seconds
        }

        mutating func change() -> Change? {
            guard skip(UInt8(ascii: ",")), let date = date() else { return nil }
            guard skip(UInt8(ascii: "/")) else { return Change(date: date, time: 7_200) }
            return offset().map { Change(date: date, time: $0) }
        }

        private mutating func date() -> Change.Date? {
            if skip(UInt8(ascii: "M")) {
                guard let month = number(), skip(UInt8(ascii: ".")), let week = number(), skip(UInt8(ascii: ".")),
                    let weekday = number(), (1...12).contains(month), (1...5).contains(week), (0...6).contains(weekday)
                else { return nil }
                return .weekday(month: month, week: week, weekday: weekday)
            }
            if skip(UInt8(ascii: "J")) { return number().map(Change.Date.day) }
            return number().map(Change.Date.dayWithLeapDay)
        }
    }
}
