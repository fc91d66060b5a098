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
        let parts = [
            ("a month", month, 1...12), ("a day", day, 1...longestMonth), ("a weekday", weekday, 1...7),
            ("an hour", hour, 0...23), ("a minute", minute, 0...59), ("a second", second, 0...59),
        ]
        for (name, value, range) in parts {
            if let value, !range.contains(value) {
                return "\(name) is from \(range.lowerBound) to \(range.upperBound), and this is \(value)"
            }
        }
        return nil
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
