public import PushCryptNotifications

/// Finds the times of calendar triggers. `GregorianCalendar` of PushCryptSimulatorCalendar does it with time zones, for which it
/// needs Foundation.
public protocol NotificationCalendar: Sendable {
    /// The first time after `time` that matches; nil if there is none.
    ///
    /// - Throws: `NotificationError` with `invalidTrigger` for an unknown time zone.
    func next(after time: UnixTime, matching match: CalendarMatch) throws -> UnixTime?
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

extension NotificationError {
    package static let unknownTimeZone = NotificationError(
        .invalidTrigger, "the time zone isn't known; a name is like Europe/Zurich")
}
