import Foundation
import PushCryptSimulator
import Testing

/// The calendar against Foundation's own search in the time zone.
@Suite("the Gregorian calendar") struct GregorianCalendarTests {
    private static let matches: [CalendarMatch] = [
        CalendarMatch(hour: 7, minute: 30), CalendarMatch(hour: 2, minute: 30), CalendarMatch(weekday: 2, hour: 0),
        CalendarMatch(day: 31, hour: 12), CalendarMatch(month: 2, day: 29),
        CalendarMatch(month: 10, weekday: 1, hour: 3),
        CalendarMatch(year: 2027, month: 1, day: 1, hour: 9, minute: 0, second: 5),
    ]

    @Test(
        "the next time is Foundation's, through two years of changes of summer time",
        arguments: ["Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Antarctica/Troll"])
    func nextTime(_ name: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        let calendar = GregorianCalendar(timeZone: zone)
        for match in Self.matches {
            for seconds in stride(from: Int64(1_767_225_600), to: 1_830_297_600, by: 13 * 86_400 + 4_003) {
                let found = try calendar.next(after: UnixTime(seconds), matching: match)
                #expect(found?.seconds == Self.foundation(zone, after: seconds, match), "\(match) after \(seconds)")
            }
        }
    }

    @Test(
        "around a change of summer time the next time is Foundation's at every quarter of an hour",
        arguments: [7, 2, 3])
    func changes(_ hour: Int) throws {
        let zone = try #require(TimeZone(identifier: "Europe/Zurich"))
        let match = CalendarMatch(hour: hour, minute: 30)
        // 29 March and 25 October 2026, 1:00 UTC.
        for change in [Int64(1_774_746_000), 1_792_890_000] {
            for seconds in stride(from: change - 10_800, through: change + 10_800, by: 900) {
                let found = try GregorianCalendar(timeZone: zone).next(after: UnixTime(seconds), matching: match)
                var expected = Self.foundation(zone, after: seconds, match)
                // Foundation also finds the second 2:30 of a day, but only if it begins between the two.
                if expected == 1_792_891_800 { expected = 1_792_978_200 }
                #expect(found?.seconds == expected, "\(seconds)")
            }
        }
    }

    /// Foundation's search in the local time of the zone. It moves the 31st of a shorter month to the 1st of the next one.
    private static func foundation(_ zone: TimeZone, after seconds: Int64, _ match: CalendarMatch) -> Int64? {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let components = DateComponents(
            year: match.year, month: match.month, day: match.day, hour: match.hour, minute: match.minute,
            second: match.second, weekday: match.weekday)
        var date = Date(timeIntervalSince1970: Double(seconds))
        while let next = calendar.nextDate(
            after: date, matching: components, matchingPolicy: .nextTime, repeatedTimePolicy: .first)
        {
            let found = calendar.dateComponents([.month, .day, .weekday], from: next)
            if match.month ?? found.month == found.month, match.day ?? found.day == found.day,
                match.weekday ?? found.weekday == found.weekday
            {
                return Int64(next.timeIntervalSince1970)
            }
            date = next
        }
        return nil
    }
}
