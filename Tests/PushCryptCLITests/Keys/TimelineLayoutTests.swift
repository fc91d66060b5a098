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

    @Test("below 60 columns a sentence replaces the timeline", arguments: [("1", 40), ("39", 40), ("59", 59)])
    func narrow(_ given: String, _ width: Int) throws {
        #expect(StandardStreams.columns(variable: given, terminal: 0) == width)
        let text = try Workplace().listed([SampleLifecycles.primary], columns: width)
        #expect(text.hasSuffix("\nThe timeline needs 60 columns.\n"))
    }
}
