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

/// Days since 1970-01-01 of the proleptic Gregorian calendar, counted year by year and month by month: another way than
/// the library's, for comparison.
private func referenceDays(year: Int, month: Int, day: Int) -> Int {
    func daysBefore(_ year: Int) -> Int {
        let past = year - 1
        return year * 365 + past / 4 - past / 100 + past / 400 + (year > 0 ? 1 : 0)
    }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let months = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return daysBefore(year) - daysBefore(1970) + months[..<(month - 1)].reduce(0, +) + day - 1
}

@Suite struct UnixTimeReadingTests {
    @Test(
        "texts with offsets, fractions and leap seconds are read as RFC 3339 defines",
        arguments: [
            // Offsets.
            ("2026-03-01T09:00:00+00:00", "2026-03-01T09:00:00Z"),
            ("2026-03-01T09:00:00-00:00", "2026-03-01T09:00:00Z"),
            ("2026-03-01T09:00:00+05:30", "2026-03-01T03:30:00Z"),
            ("2026-03-01T00:00:00+00:01", "2026-02-28T23:59:00Z"),
            ("2024-02-28T23:30:00-01:00", "2024-02-29T00:30:00Z"),
            ("1970-01-01T00:00:00+23:59", "1969-12-31T00:01:00Z"),
            ("1969-12-31T23:59:00-23:59", "1970-01-01T23:58:00Z"),
            // Small letters, RFC 3339 section 5.6.
            ("2026-03-01t09:00:00z", "2026-03-01T09:00:00Z"),
            // Fractions are dropped.
            ("2026-03-01T09:00:00.0Z", "2026-03-01T09:00:00Z"), ("2026-03-01T09:00:00.999Z", "2026-03-01T09:00:00Z"),
            ("1969-12-31T23:59:59.999999999999999999999Z", "1969-12-31T23:59:59Z"),
            ("2026-03-01T09:00:00.5+01:00", "2026-03-01T08:00:00Z"),
            // A leap second counts as the second after it: RFC 3339 section 5.8.
            ("1990-12-31T23:59:60Z", "1991-01-01T00:00:00Z"), ("1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00Z"),
            // The other examples there.
            ("1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50Z"), ("1996-12-19T16:39:57-08:00", "1996-12-20T00:39:57Z"),
            ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27Z"),
        ])
    func read(text: String, same: String) {
        #expect(UnixTime(rfc3339: text)?.description == same)
    }

    @Test(
        "texts outside the grammar of RFC 3339 are refused",
        arguments: [
            "", "Z", "2026", "2026-03-01", "2026-03-01T09:00:00", "2026-03-01T09:00Z", "2026-03-01T09:00:00+0100",
            "2026-03-01T09:00:00+01", "2026-03-01T09:00:00+1:00", "2026-03-01T09:00:00+01:0",
            "2026-03-01T09:00:00+24:00",
            "2026-03-01T09:00:00+01:60", "2026-03-01T09:00:00 Z", "2026-03-01 09:00:00Z", "2026-03-01T09:00:00Z ",
            " 2026-03-01T09:00:00Z", "2026-03-01T09:00:00ZZ", "2026-03-01T09:00:00.Z", "2026-03-01T09:00:00,5Z",
            "2026-03-01T09:00:00.5.5Z", "2026-03-01T24:00:00Z", "2026-03-01T23:60:00Z", "2026-03-01T23:59:61Z",
            "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
            "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2000-02-30T00:00:00Z",
            "26-03-01T09:00:00Z", "02026-03-01T09:00:00Z", "+2026-03-01T09:00:00Z", "-001-03-01T09:00:00Z",
            "2026-3-01T09:00:00Z", "2026-03-1T09:00:00Z", "2026-03-01T9:00:00Z", "20260301T090000Z",
            "2026-W09-7T09:00:00Z", "2026-060T09:00:00Z", "2026/03/01T09:00:00Z", "2026-03-01T09.00.00Z",
            "2026-03-01T09:00:00\u{2212}01:00", "２０２６-03-01T09:00:00Z", "2026-03-01T0\u{0669}:00:00Z",
            "2026-03-01T09:00:00Z\n", "2026-03-01T09:00:00\0Z", "1772355600", "2026-03-01T-9:00:00Z",
        ])
    func refused(text: String) {
        #expect(UnixTime(rfc3339: text) == nil)
    }

    @Test("times are added, subtracted and compared in seconds, and clamped to the range of Int64")
    func arithmetic() {
        #expect(UnixTime(5) + 3 == UnixTime(8))
        #expect(UnixTime(5) - 8 == UnixTime(-3))
        #expect(UnixTime(4) < UnixTime(5))
        #expect(UnixTime(.max) + 1 == UnixTime(.max))
        #expect(UnixTime(.min) + -1 == UnixTime(.min))
        #expect(UnixTime(.min) - 1 == UnixTime(.min))
        #expect(UnixTime(.max) - -1 == UnixTime(.max))
        #expect(UnixTime(0) - .min == UnixTime(.max))
        #expect(UnixTime(.max) + .min == UnixTime(-1))
    }

    @Test("a moment outside of the years 0 to 9999 is described by its seconds", arguments: [.min, .max] as [Int64])
    func farDescription(seconds: Int64) {
        #expect(UnixTime(seconds).description == "\(seconds) s")
        #expect(UnixTime(-62_167_219_200).description == "0000-01-01T00:00:00Z")
        #expect(UnixTime(-62_167_219_201).description == "-62167219201 s")
        #expect(UnixTime(253_402_300_800).description == "253402300800 s")
    }

    @Test("UnixTime.now is between two readings of Foundation's clock")
    func agreesWithFoundation() {
        let before = Int64(Date().timeIntervalSince1970)
        let now = UnixTime.now.seconds
        let after = Int64(Date().timeIntervalSince1970)
        #expect((before...max(before, after)).contains(now))
    }
}
