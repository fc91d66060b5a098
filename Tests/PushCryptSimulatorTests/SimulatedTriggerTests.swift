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

    @Test("around a change of summer time each quarter of an hour has Foundation's next time", arguments: [7, 2, 3])
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
            let isDay = match.month ?? found.month == found.month && match.day ?? found.day == found.day
            if isDay, match.weekday ?? found.weekday == found.weekday { return Int64(next.timeIntervalSince1970) }
            date = next
        }
        return nil
    }
}

@Suite("regions by name") struct SimulatedPositionTests {
    private let center = SimulatedNotificationCenter(SimulatedClock())

    private func schedule(_ id: String, latitude: Double, longitude: Double = 8.5, radius: Double) async throws {
        _ = try await center.requestAuthorization([.alert])
        var content = NotificationContent()
        content.title.literal = id
        let region = NotificationTrigger.Region(id: id, latitude: latitude, longitude: longitude, radius: radius)
        try await center.add(NotificationRequest(id: id, content: content, trigger: .location(region, repeats: true)))
    }

    private var shown: [String] { center.presentations.map(\.notification.id) }

    @Test(
        "a device enters and leaves a region by its name, anywhere on the earth",
        arguments: [(47.4, 200), (-90, 200), (90, 1), (0, 5_000_000), (89.99, 10_000_000), (-45, 19_000_000)])
    func enterAndLeave(_ latitude: Double, radius: Double) async throws {
        try await schedule("a", latitude: latitude, radius: radius)
        try await center.enterRegion("a")
        #expect(shown == ["a"])
        try await center.leaveRegion("a")
        #expect(shown == ["a", "a"])
    }

    @Test func `a device without a position is inside of a region that it leaves`() async throws {
        try await schedule("a", latitude: 1, radius: 200)
        try await center.leaveRegion("a")
        #expect(shown == ["a"])
    }

    @Test func `a region can't be entered from inside, nor left from outside`() async throws {
        try await schedule("a", latitude: 1, radius: 200)
        try await center.enterRegion("a")
        await #expect(throws: ResponseError.inRegion) { try await center.enterRegion("a") }
        try await center.leaveRegion("a")
        await #expect(throws: ResponseError.notInRegion) { try await center.leaveRegion("a") }
        await #expect(throws: ResponseError.noRegion) { try await center.enterRegion("b") }
        await #expect(throws: ResponseError.noRegion) { try await center.leaveRegion("b") }
        #expect(shown == ["a", "a"])
    }

    @Test func `a region that covers the earth can't be left, nor entered`() async throws {
        try await schedule("a", latitude: 1, radius: 30_000_000)
        await #expect(throws: ResponseError.notInRegion) { try await center.leaveRegion("a") }
        await #expect(throws: ResponseError.inRegion) { try await center.enterRegion("a") }
    }

    @Test func `other regions on the way are entered and left, and those with both places aren't`() async throws {
        try await schedule("a", latitude: 1, radius: 200)
        try await schedule("near", latitude: 1, radius: 300)
        try await schedule("far", latitude: 1, radius: 1_000)
        try await center.enterRegion("a")
        #expect(shown == ["a", "near"])
        try await center.leaveRegion("a")
        #expect(shown == ["a", "near", "a", "near"])
    }
}
