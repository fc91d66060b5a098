import Foundation
import Testing

@testable import pushcrypt

@Suite("the layout of keys list", .ownThreads)
struct TimelineLayoutTests {
    /// Weekly rotations; the last one is in the future.
    private static let twenty = (0..<20).map { index in
        func day(_ offset: Int) -> String {
            let date = Date(timeIntervalSince1970: 1_761_728_400 + Double(index * 7 + offset) * 86_400)
            return String(date.ISO8601Format().prefix(10))
        }
        var days = [("createdAt", day(-2)), ("activatesAt", day(0))]
        if index < 19 { days += [("retiresAt", day(7)), ("expiresAt", day(37))] }
        if index < 10 { days.append(("destroyedAt", day(38))) }
        return SampleLifecycles.members(days)
    }

    @Test(
        "twenty keys give twenty table rows, and timeline rows for the visible ones",
        arguments: [60, 100, 160])
    func many(_ width: Int) throws {
        let text = try Workplace().listed(Self.twenty, columns: width)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        #expect(lines.allSatisfy { $0.count <= width && $0.last != " " })
        func rows(_ lines: some Sequence<String>) -> [Int] {
            lines.compactMap { $0.firstMatch(of: /^key numbe[r]?([0-9]+)[ ]/).flatMap { Int($0.1) } }
        }
        #expect(rows(lines.prefix { !$0.isEmpty }) == Array(10..<20) + Array(0..<10))
        let lanes = lines.drop { !$0.contains("▼") }.dropFirst().prefix { !$0.contains("┴") }
        let drawn = rows(lanes)
        #expect(drawn == Array((20 - drawn.count)..<20) && (11..<20).contains(drawn.count))
        #expect(lanes.first?.contains("◂ \(20 - drawn.count) keys destroyed earlier") == true)
        let mark = try #require(lines.first { $0.contains("▼") })
        let column = mark.distance(from: mark.startIndex, to: try #require(mark.firstIndex(of: "▼")))
        #expect(lanes.allSatisfy { "│┼".contains(Array($0)[column]) })
    }

    @Test("overlapping windows are drawn in different rows")
    func windows() throws {
        let text = try Workplace().listed(Self.twenty)
        let rows = text.split(separator: "\n").drop { !$0.hasPrefix("overlap") }.prefix { !$0.contains("┴") }
        // Thirty days of opening after seven of sealing: five at a time.
        #expect(rows.count == 5)
        let starts = rows.joined().filter { "├┼".contains($0) }.count
        #expect(starts >= 10)
    }

    @Test("exactly one lane seals in every column")
    func oneSeals() throws {
        let text = try Workplace().listed(Self.twenty)
        let lanes = text.split(separator: "\n").drop { !$0.contains("▼") }.filter { $0.hasPrefix("key ") }.map {
            Array($0)
        }
        for column in 20..<99 {
            let cells = lanes.compactMap { $0.indices.contains(column) ? $0[column] : nil }
            guard !cells.contains("│") else { continue }
            #expect(cells.filter { $0 == "█" }.count == 1, "column \(column)")
        }
    }

    @Test(
        "invalid values of COLUMNS give the nearest valid width or 100",
        arguments: [("0", 100), ("x", 100), ("-5", 100), ("60", 60), ("61", 61), ("9999", 200)])
    func columns(_ given: String, _ width: Int) throws {
        #expect(StandardStreams.columns(variable: given, terminal: 0) == width)
        let text = try Workplace().listed([SampleLifecycles.primary], columns: width)
        #expect(text.split(separator: "\n").map(\.count).max() == width)
    }

    @Test("below 60 columns a sentence replaces the timeline", arguments: [("1", 40), ("39", 40), ("59", 59)])
    func narrow(_ given: String, _ width: Int) throws {
        #expect(StandardStreams.columns(variable: given, terminal: 0) == width)
        let text = try Workplace().listed([SampleLifecycles.primary], columns: width)
        #expect(text.hasSuffix("\nThe timeline needs 60 columns.\n"))
    }

    @Test(
        "extreme times keep the output within its width",
        arguments: [
            ("0000-01-01", "9999-12-31"), ("1970-01-01", "1970-01-01"), ("9999-12-30", "9999-12-31"),
            ("2026-03-01", "2026-03-01"),
        ])
    func wild(_ first: String, _ last: String) throws {
        let lifecycles = SampleLifecycles.members([
            ("createdAt", first), ("activatesAt", first), ("retiresAt", last), ("expiresAt", last),
        ])
        for time in ["0", "2026-03-01T09:00:00Z", "253402300799"] {
            let text = try Workplace().listed(
                [lifecycles, SampleLifecycles.members([("activatesAt", last)])], at: time)
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
            #expect(text.contains("▼"))
        }
    }

    @Test("piped output contains no escape codes for any TERM")
    func piped() throws {
        let place = try Workplace()
        try place.writeKeyset("Keys/app", SampleLifecycles.all)
        for command in ["keys list Keys/app", "keys list Keys", "keys show Keys/app tombstoneAA"] {
            let output = try place.shell("TERM=xterm-256color COLORTERM=truecolor \"$PUSHCRYPT\" \(command)")
            #expect(output.isSuccess && !output.text.unicodeScalars.contains("\u{1b}"), "\(output)")
        }
    }
}
