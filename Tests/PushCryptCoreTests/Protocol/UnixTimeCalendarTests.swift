import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct UnixTimeCalendarTests {
    @Test("the days around each year's ends and February agree with the reference calendar")
    func everyYear() {
        let days = [(1, 1), (1, 31), (2, 28), (3, 1), (6, 30), (7, 1), (12, 31)]
        for year in 1...9999 {
            let leapDay = Self.isLeap(year) ? [(2, 29)] : []
            for (month, day) in days + leapDay {
                let text = Self.text(year, month, day)
                let expected = UnixTime(Int64(referenceDays(year: year, month: month, day: day)) * 86_400)
                #expect(UnixTime(rfc3339: text) == expected, "\(text)")
                #expect(expected.description == text)
            }
        }
    }

    @Test(
        "every day of a selected year agrees with the reference calendar",
        arguments: [1, 1582, 1900, 1969, 1970, 1999, 2000, 2026, 2038, 2100, 9999])
    func everyDay(year: Int) {
        var next = referenceDays(year: year, month: 1, day: 1)
        for month in 1...12 {
            for day in 1...31 {
                let read = UnixTime(rfc3339: Self.text(year, month, day))
                guard day <= Self.dayCount(month, year) else {
                    #expect(read == nil, "\(year)-\(month)-\(day)")
                    continue
                }
                #expect(read == UnixTime(Int64(next) * 86_400))
                next += 1
            }
        }
        #expect(next == referenceDays(year: year + 1, month: 1, day: 1))
    }

    @Test("random times are written and read again")
    func randomMomentsRoundTrip() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<5_000 {
            let time = UnixTime(.random(in: -62_135_596_800...253_402_300_799, using: &random))
            #expect(UnixTime(rfc3339: time.description) == time)
        }
    }

    @Test("times from 1582 on are written as Foundation writes them")
    func foundationAgrees() throws {
        var random = SplitMix64(seed: 2)
        for _ in 0..<500 {
            let time = UnixTime(.random(in: -12_000_000_000...253_402_300_799, using: &random))
            let date = Date(timeIntervalSince1970: TimeInterval(time.seconds))
            #expect(date.formatted(.iso8601) == time.description)
            #expect(try Date(time.description, strategy: .iso8601) == date)
        }
    }

    @Test(
        "known times are written and read as their published texts",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (1, "1970-01-01T00:00:01Z"),
            (-86_400, "1969-12-31T00:00:00Z"), (-86_401, "1969-12-30T23:59:59Z"), (86_399, "1970-01-01T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"), (2_147_483_648, "2038-01-19T03:14:08Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"), (-62_135_596_800, "0001-01-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ])
    func known(seconds: Int64, text: String) {
        #expect(UnixTime(seconds).description == text)
        #expect(UnixTime(rfc3339: text) == UnixTime(seconds))
    }

    private static func text(_ year: Int, _ month: Int, _ day: Int) -> String {
        func padded(_ number: Int, _ width: Int) -> String {
            String(repeating: "0", count: width - String(number).count) + String(number)
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T00:00:00Z"
    }

    private static func isLeap(_ year: Int) -> Bool {
        referenceDays(year: year + 1, month: 1, day: 1) - referenceDays(year: year, month: 1, day: 1) == 366
    }

    private static func dayCount(_ month: Int, _ year: Int) -> Int {
        let next = month == 12 ? (year + 1, 1) : (year, month + 1)
        return referenceDays(year: next.0, month: next.1, day: 1) - referenceDays(year: year, month: month, day: 1)
    }
}
