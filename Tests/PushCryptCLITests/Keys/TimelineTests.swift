import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import pushcrypt

@Suite("the timeline of keys list", .ownThreads)
struct TimelineTests {
    @Test("keys list draws every state in 100 columns")
    func everyState() throws {
        let place = try Workplace()
        let kids = try place.writeKeyset("Keys/app", SampleLifecycles.all)
        let output = try place.run("keys", "list", "Keys/app", "--at", Workplace.now)
        #expect(
            Workplace.named(output.text, kids) == """
                KID          STATE      SUITE   PSK  AGE   SEALS  OPENS  NEXT CHANGE
                key number1  expired    shared  -    268d  -      -      expired 81d ago
                key number2  retiring   shared  -    178d  -      yes    expires in 9d
                key number3  revoked    shared  -    132d  -      -      revoked 106d ago
                key number4  primary    shared  -    88d   yes    yes    retires in 9d
                key number5  pending    shared  -    28d   -      yes    seals in 9d
                key number0  destroyed  shared  -    358d  -      -      destroyed 170d ago

                Due: destroy key key number1, since 2025-12-10T09:00:00Z (81d ago)
                Run: pushcrypt rotate Keys/app
                Next: 2026-03-10T09:00:00Z destroy key key number2 (in 9d)

                                                                  now 2026-03-01T09:00:00Z ▼
                key number0  ████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒┤†                                     │
                key number1    ░░████████████████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒┤·················│························
                key number2                        ░░████████████████████▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│▒┤······················
                key number3                                   ░░░░░✕·······················│························
                key number4                                             ░██████████████████│██▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒┤··
                key number5                                                          ░░░░░░│░░██████████████████████
                overlap         ├───────────────────┼────────────────────┼─────────────────┼─┼───────────────────┤
                             ───────┬────────────────────┬────────────────────┬────────────┴──────┬─────────────────
                               2025-07-01           2025-10-01           2026-01-01          2026-04-01
                             ░ pending  █ seals and opens  ▒ opens only  ┤· expired  ✕· revoked  † destroyed

                """)
    }

    @Test("a rotation that requires coverage shows what it waits for")
    func gated() throws {
        let policy =
            #"{"rotateEvery": "P90D", "publishLead": "P7D", "overlap": "P30D", "keep": 2, "requireCoverage": 99.9}"#
        let lifecycles = [
            SampleLifecycles.members([("createdAt", "2025-12-10"), ("activatesAt", "2025-12-10")]),
            SampleLifecycles.members([("createdAt", "2026-02-01")]),
        ]
        let text = try Workplace().listed(lifecycles, policy: policy)
        #expect(text.contains("pending  shared  -    28d  -      yes    waits for promotion\n"))
        #expect(
            text.contains(
                """
                Blocked: promote key key number1, since 2026-02-08T09:00:00Z (21d ago): 99.9% of the devices must
                         hold it, and no reports were given
                """))
        #expect(!text.contains("Run:"))
    }

    @Test("a clock before the last change is noted, and states stay as they were")
    func clock() throws {
        let text = try Workplace().listed(SampleLifecycles.all, at: "2026-01-15T09:00:00Z")
        #expect(
            text.contains("Note: 2026-01-15T09:00:00Z is before the last change; the states at that change are shown\n")
        )
        #expect(text.contains("▼ now 2026-02-01T09:00:00Z"))
    }

    @Test("times long ago don't extend the axis")
    func horizon() throws {
        let old = SampleLifecycles.members([
            ("createdAt", "2016-03-08"), ("activatesAt", "2016-03-08"), ("retiresAt", "2016-06-13"),
            ("expiresAt", "2016-09-11"), ("destroyedAt", "2016-09-12"),
        ])
        let forgotten = SampleLifecycles.members([
            ("createdAt", "2016-06-08"), ("activatesAt", "2016-06-13"), ("retiresAt", "2025-12-10"),
            ("expiresAt", "2026-03-10"),
        ])
        let text = try Workplace().listed([old, forgotten, SampleLifecycles.primary])
        #expect(text.contains("\nkey number0  destroyed  shared  -    3645d  -      -      destroyed 3457d ago\n"))
        #expect(text.contains("\n             ◂ 1 key destroyed earlier"))
        #expect(text.contains("\nkey number1  ████"))
        #expect(!text.contains("2016"))
    }

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

    @Test("below 60 columns a sentence replaces the timeline", arguments: [("1", 40), ("39", 40), ("59", 59)])
    func narrow(_ given: String, _ width: Int) throws {
        #expect(StandardStreams.columns(variable: given, terminal: 0) == width)
        let text = try Workplace().listed([SampleLifecycles.primary], columns: width)
        #expect(text.hasSuffix("\nThe timeline needs 60 columns.\n"))
    }
}

extension Workplace {
    /// The output of `keys list` for a keyset with these lifecycles, with the kids by number, made without a start of the
    /// tool.
    func listed(
        _ lifecycles: [String], at time: String = now, columns: Int = 100, policy: String? = nil
    ) throws -> String {
        let kids = try writeKeyset("Keys/app", lifecycles, policy: policy)
        let view = try view("Keys/app", at: time)
        let description = KeysetDescription(view: view, terminal: TerminalText(isColourful: false), width: columns)
        return Self.named(description.text, kids)
    }

    /// A keyset as `keys list` reads it, with its relative path.
    func view(_ path: String, at time: String = now) throws -> KeysetView {
        try KeysetView(folder.file(path).path, named: path, at: #require(UnixTime(argument: time)))
    }
}

extension KeysetView {
    /// - Parameter path: without the suffix.
    init(_ path: String, named name: String? = nil, at time: UnixTime) throws {
        let log = try KeysetRows(at: KeysetLocation(path), .reading).log
        let (state, isPublisher) = (log.state, log.state.kind == .publisher)
        let plan =
            isPublisher
            ? RotationPlan(publishers: state.timeline, at: time)
            : RotationPlan(state.timeline, state.policy, at: time)
        try self.init(name ?? path, log, plan: state.isDemo ? nil : plan, at: time)
    }
}
