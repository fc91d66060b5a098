package import PushCryptNotifications

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The local time of a time zone, in the Gregorian calendar.
package struct LocalTime: Sendable {
    /// The longest search: 29 February of a century year without one, on a certain weekday.
    private static let searchLimit = 100

    /// How many seconds local time is ahead of UTC at a time.
    private let offset: @Sendable (UnixTime) -> Int64

    package init(offset: @escaping @Sendable (UnixTime) -> Int64) { self.offset = offset }

    /// The first time after `time` that matches. A time that a change to summer time skips is moved to the next one that
    /// exists; of a time that occurs twice in autumn it is the first. A month without the day, such as the 31st, is skipped.
    package func next(after time: UnixTime, matching match: CalendarMatch) -> UnixTime? {
        guard let utc = TimeZone(secondsFromGMT: 0) else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = utc
        let components = DateComponents(
            year: match.year, month: match.month, day: match.day, hour: match.hour, minute: match.minute,
            second: match.second, weekday: match.weekday)
        // The digits of the local clock, as if they were those of UTC.
        var local = Date(timeIntervalSince1970: Double((time + offset(time)).seconds))
        for _ in 1...Self.searchLimit {
            guard let next = calendar.nextDate(after: local, matching: components, matchingPolicy: .nextTime) else {
                return nil
            }
            local = next
            let found = self.time(local: Int64(next.timeIntervalSince1970.rounded()))
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
    private func time(local: Int64) -> UnixTime {
        let day: Int64 = 86_400
        let offsets = [-day, day].map { offset(UnixTime(local + $0)) }.sorted()
        // The larger offset belongs to the earlier time.
        for offset in offsets.reversed() where self.offset(UnixTime(local - offset)) == offset {
            return UnixTime(local - offset)
        }
        var (early, late) = (local - offsets[1], local - offsets[0])
        while early < late {
            let middle = early + (late - early) / 2
            if middle + offset(UnixTime(middle)) < local { early = middle + 1 } else { late = middle }
        }
        return UnixTime(late)
    }
}
