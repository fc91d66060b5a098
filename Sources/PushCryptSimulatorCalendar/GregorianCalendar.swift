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
    /// exists; of a time that occurs twice in autumn it is the first.
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
        let date = Date(timeIntervalSince1970: TimeInterval(time.seconds))
        let next = calendar.nextDate(
            after: date, matching: components, matchingPolicy: .nextTime, repeatedTimePolicy: .first)
        return next.map { UnixTime(Int64($0.timeIntervalSince1970.rounded())) }
    }
}
