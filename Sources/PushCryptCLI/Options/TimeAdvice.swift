/// Says what is wrong with a text that is meant as a time.
enum TimeAdvice {
    /// A sentence about the first wrong part; nil for a text that doesn't begin with a date.
    static func flaw(of text: String) -> String? {
        guard let match = text.prefixMatch(of: /(\d{4})-(\d\d)-(\d\d)/), let year = Int(match.1),
            let month = Int(match.2), let day = Int(match.3)
        else { return nil }
        guard (1...12).contains(month) else { return "There is no month \(match.2): months are 01 to 12." }
        let days = dayCount(year, month)
        guard (1...days).contains(day) else {
            return "There is no day \(match.3) in \(match.1)-\(match.2): days are 01 to \(days)."
        }
        return flaw(ofTime: String(text[match.range.upperBound...]), date: String(match.0))
    }

    private static func flaw(ofTime text: String, date: String) -> String? {
        guard !text.isEmpty else { return "A TIME needs a time of day, as in \(date)T00:00:00Z." }
        guard let match = text.wholeMatch(of: /([Tt ])(\d\d):(\d\d):(\d\d)(.*)/) else { return nil }
        guard match.1 != " " else { return "A TIME has a T before its hour, as in \(date)T\(text.dropFirst())." }
        // RFC 3339 has a second 60, a leap second.
        let parts = [("hour", match.2, 23), ("minute", match.3, 59), ("second", match.4, 60)]
        for (name, value, last) in parts where Int(value).map({ $0 > last }) ?? true {
            return "There is no \(name) \(value): \(name)s are 00 to \(last)."
        }
        guard !match.5.isEmpty else {
            return
                "A TIME needs a time zone: Z for UTC, as in \(date)\(text)Z, or an offset, as in \(date)\(text)+01:00."
        }
        return nil
    }

    private static func dayCount(_ year: Int, _ month: Int) -> Int {
        let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
    }
}
