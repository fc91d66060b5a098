public import Foundation
import PushCryptCore
public import PushCryptNotifications
public import PushCryptSimulator

/// The Gregorian calendar with the time zones of Foundation: `UNCalendarNotificationTrigger`.
public struct GregorianCalendar: NotificationCalendar {
    private let timeZone: TimeZone

    /// Creates the calendar of a user.
    ///
    /// - Parameter timeZone: the user's; triggers without a time zone use it.
    public init(timeZone: TimeZone) { self.timeZone = timeZone }

    /// The first time after `time` that matches. A time that a change to summer time skips is moved to the next one that
    /// exists; of a time that occurs twice in autumn it is the first. A month without the day, such as the 31st, is skipped.
    ///
    /// - Throws: `NotificationError` with `invalidTrigger` for an unknown time zone.
    public func next(after time: UnixTime, matching match: CalendarMatch) throws -> UnixTime? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        if let name = match.timeZone {
            guard let named = TimeZone(identifier: name) else {
                throw NotificationError(.invalidTrigger, "the time zone isn't known; a name is like Europe/Zurich")
            }
            calendar.timeZone = named
        }
        let components = DateComponents(
            year: match.year, month: match.month, day: match.day, hour: match.hour, minute: match.minute,
            second: match.second, weekday: match.weekday)
        var date = Date(timeIntervalSince1970: TimeInterval(time.seconds))
        // The day of a found time may be another one: Foundation moves the 31st of a shorter month to the 1st of the next.
        for _ in 1...Self.searchLimit {
            guard
                let next = calendar.nextDate(
                    after: date, matching: components, matchingPolicy: .nextTime, repeatedTimePolicy: .first)
            else { return nil }
            let found = calendar.dateComponents([.month, .day, .weekday], from: next)
            if (match.month ?? found.month, match.day ?? found.day) == (found.month, found.day),
                (match.weekday ?? found.weekday) == found.weekday
            {
                return UnixTime(Int64(next.timeIntervalSince1970.rounded()))
            }
            date = next
        }
        return nil
    }

    /// The longest search: 29 February of a century year without one, on a certain weekday.
    private static let searchLimit = 100
}
