import PushCryptExtension

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The Gregorian calendar in a user's time zone: when the times of `UNCalendarNotificationTrigger` are.
public struct GregorianCalendar: Sendable {
    /// The longest search: 29 February of a century year without one, on a certain weekday.
    private static let searchLimit = 100

    /// The calendar without a time zone.
    public static let gmt = GregorianCalendar()

    /// nil for GMT.
    private let timeZone: TimeZone?

    private init() { timeZone = nil }

    /// Creates the calendar of a user.
    ///
    /// - Parameter timeZone: the user's; triggers without a time zone use it.
    public init(timeZone: TimeZone) { self.timeZone = timeZone }

    /// The first time after `time` that matches. A time that a change to summer time skips is moved to the next one that
    /// exists; of a time that occurs twice in autumn it is the first. A month without the day, such as the 31st, is skipped.
    ///
    /// - Throws: `NotificationError` with `invalidTrigger` for an unknown time zone.
    package func next(after time: UnixTime, matching match: CalendarMatch) throws -> UnixTime? {
        let named = try match.timeZone.map { name in
            guard let named = TimeZone(identifier: name) else {
                throw NotificationError(.invalidTrigger, "the time zone isn't known; a name is like Europe/Zurich")
            }
            return named
        }
        let zone = named ?? timeZone
        return Self.next(after: time, matching: match) { time in
            zone.map { Int64($0.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.seconds)))) } ?? 0
        }
    }

    /// - Parameter offset: how many seconds local time is ahead of UTC at a time.
    private static func next(
        after time: UnixTime, matching match: CalendarMatch, offset: (UnixTime) -> Int64
    ) -> UnixTime? {
        guard let utc = TimeZone(secondsFromGMT: 0) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = utc
        let components = DateComponents(
            year: match.year, month: match.month, day: match.day, hour: match.hour, minute: match.minute,
            second: match.second, weekday: match.weekday)
        // The digits of the local clock, as if they were those of UTC.
        var local = Date(timeIntervalSince1970: Double((time + offset(time)).seconds))
        for _ in 1...searchLimit {
            guard let next = calendar.nextDate(after: local, matching: components, matchingPolicy: .nextTime) else {
                return nil
            }
            local = next
            let found = self.time(local: Int64(next.timeIntervalSince1970.rounded()), offset: offset)
            // The day may be another one: Foundation moves the 31st of a shorter month to the 1st of the next.
            let date = calendar.dateComponents([.month, .day, .weekday], from: next)
            if found > time, match.month ?? date.month == date.month, match.day ?? date.day == date.day,
                match.weekday ?? date.weekday == date.weekday
            {
                return found
            }
        }
        return nil
    }

    /// The first time at which the local clock shows these digits, or the first one after them if it skips them.
    private static func time(local: Int64, offset: (UnixTime) -> Int64) -> UnixTime {
        let day: Int64 = 86_400
        let offsets = [-day, day].map { offset(UnixTime(local + $0)) }.sorted()
        // The larger offset belongs to the earlier time.
        for ahead in offsets.reversed() where offset(UnixTime(local - ahead)) == ahead {
            return UnixTime(local - ahead)
        }
        var (early, late) = (local - offsets[1], local - offsets[0])
        while early < late {
            let middle = early + (late - early) / 2
            if middle + offset(UnixTime(middle)) < local { early = middle + 1 } else { late = middle }
        }
        return UnixTime(late)
    }
}

extension CalendarMatch {
    /// Why no date can match; nil if one can. The documentation of `UNCalendarNotificationTrigger` doesn't say what becomes of
    /// such a trigger; the strictest reading is that the system refuses it.
    var mistake: String? {
        Self.mistake("a month", month, 1...12) ?? Self.mistake("a day", day, 1...longestMonth)
            ?? Self.mistake("a weekday", weekday, 1...7) ?? Self.mistake("an hour", hour, 0...23)
            ?? Self.mistake("a minute", minute, 0...59) ?? Self.mistake("a second", second, 0...59)
    }

    private static func mistake(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) -> String? {
        guard let value, !range.contains(value) else { return nil }
        return "\(name) is from \(range.lowerBound) to \(range.upperBound), and this is \(value)"
    }

    private var longestMonth: Int {
        switch month {
        case 2: 29
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
