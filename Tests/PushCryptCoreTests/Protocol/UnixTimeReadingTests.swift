import Testing

@testable import PushCryptCore

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

    @Test("times are added, subtracted and compared in seconds")
    func arithmetic() {
        #expect(UnixTime(5) + 3 == UnixTime(8))
        #expect(UnixTime(5) - 8 == UnixTime(-3))
        #expect(UnixTime(4) < UnixTime(5))
    }

    @Test("sums and differences are clamped to the range of Int64")
    func saturatingArithmetic() {
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
}
