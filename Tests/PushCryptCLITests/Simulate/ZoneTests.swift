import Foundation
import PushCryptCore
import PushCryptNotifications
import Testing

@testable import pushcrypt

/// The tool's time zones against those of Foundation, which has its own data.
@Suite("time zones of simulate") struct ZoneTests {
    private static let zones = [
        "Europe/Zurich", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Casablanca",
        "America/Sao_Paulo",
        "Pacific/Apia", "Europe/Dublin", "Asia/Tokyo", "Antarctica/Troll", "UTC",
    ]

    @Test("a zone has Foundation's offset at every week until 2037", arguments: zones)
    func offsets(_ name: String) throws {
        let zone = try Self.zone(name)
        let foundation = try #require(TimeZone(identifier: name))
        // Releases of the time zones differ in Casablanca's offsets after 2025: Morocco changed its law in 2026.
        let end: Int64 = name == "Africa/Casablanca" ? 1_767_225_600 : 2_114_380_800
        for seconds in stride(from: Int64(0), to: end, by: 7 * 86_400 + 3_607) {
            let expected = foundation.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
            #expect(zone.offset(at: UnixTime(seconds)) == Int64(expected), "\(seconds)")
        }
    }

    @Test(
        "a rule has the offsets of its zone's file",
        arguments: [
            ("CET-1CEST,M3.5.0,M10.5.0/3", "Europe/Zurich"), ("EST5EDT,M3.2.0,M11.1.0", "America/New_York"),
            ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "Australia/Lord_Howe"), ("IST-5:30", "Asia/Kolkata"),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "Europe/Dublin"), ("<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", "Antarctica/Troll"),
        ])
    func rules(_ text: String, _ name: String) throws {
        let (rule, zone) = (try #require(ZoneRule(text)), try Self.zone(name))
        for seconds in stride(from: Int64(1_700_000_000), to: 2_114_380_800, by: 86_400 / 2 + 1_801) {
            #expect(rule.offset(at: seconds) == zone.offset(at: UnixTime(seconds)), "\(seconds)")
        }
    }

    @Test("days of a rule are counted with and without 29 February")
    func days() throws {
        // J60 is 1 March in every year, and 60 only in a leap year.
        for (rule, march) in [("AAA0BBB,J60,J300", 1_835_481_600), ("AAA0BBB,60,300", 1_835_481_600)]
            as [(String, Int64)]
        {
            let leap = try #require(ZoneRule(rule))
            #expect(leap.offset(at: march + 7_199) == 0 && leap.offset(at: march + 7_200) == 3_600, "\(rule)")
        }
        let common = try #require(ZoneRule("AAA0BBB,60,300"))
        let second = Int64(1_803_945_600)
        #expect(common.offset(at: second + 7_199) == 0 && common.offset(at: second + 7_200) == 3_600)
    }

    @Test(
        "a text that is no rule is refused",
        arguments: [
            "", "CE-1", "CET", "CET-1CEST", "CET-1CEST,M13.1.0,M10.5.0", "CET-1CEST,M3.5.0", "<+03-3",
            "CET-1CEST,M3.5.0,M10.5.0/3x",
        ])
    func wrongRules(_ text: String) { #expect(ZoneRule(text) == nil) }

    @Test("a file that was cut anywhere, and one that isn't of this form, is no zone")
    func wrongFiles() throws {
        let bytes = try Self.bytes("Europe/Zurich")
        for count in 0..<(bytes.count - 40) { #expect(ZoneFile(Array(bytes.prefix(count))) == nil, "\(count)") }
        #expect(ZoneFile(Array("TZif".utf8) + [UInt8](repeating: 0xFF, count: 100)) == nil)
        var old = bytes
        old[4] = 0
        #expect(ZoneFile(old) == nil)
    }

    @Test(
        "a name that leaves the folder of the zones isn't one",
        arguments: ["../zoneinfo/UTC", "/etc/passwd", "", "Europe", "."])
    func names(_ name: String) {
        #expect(throws: Failure.self) { try ZoneCalendar(option: name) }
    }

    private static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/" + name)))
    }

    private static func zone(_ name: String) throws -> ZoneFile { try #require(ZoneFile(bytes(name))) }
}
