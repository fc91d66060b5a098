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
        let named = try match.timeZone.map { name in
            guard let named = TimeZone(identifier: name) else { throw NotificationError.unknownTimeZone }
            return named
        }
        let zone = named ?? timeZone
        return LocalTime { Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0.seconds)))) }
            .next(after: time, matching: match)
    }
}
