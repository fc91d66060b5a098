import Foundation
import Testing

@Suite("the timeline of keys list", .ownThreads)
struct TimelineTests {
    @Test("every state, as it stands")
    func everyState() throws {
        let place = try Workplace()
        #expect(
            try place.listed(Lives.all) == """
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

    @Test("60 columns have room for all of it")
    func narrow() throws {
        let place = try Workplace()
        #expect(
            try place.listed(Lives.all, columns: "60") == """
                KID          STATE      AGE   OPENS  NEXT CHANGE
                key number1  expired    268d  -      expired 81d ago
                key number2  retiring   178d  yes    expires in 9d
                key number3  revoked    132d  -      revoked 106d ago
                key number4  primary    88d   yes    retires in 9d
                key number5  pending    28d   yes    seals in 9d
                key number0  destroyed  358d  -      destroyed 170d ago

                Due: destroy key key number1, since 2025-12-10T09:00:00Z
                     (81d ago)
                Run: pushcrypt rotate Keys/app
                Next: 2026-03-10T09:00:00Z destroy key key number2 (in 9d)

                                     now 2026-03-01T09:00:00Z ▼
                key number0  ██▒▒▒▒▒▒▒▒▒▒┤†                   │
                key number1   ░███████████▒▒▒▒▒▒▒▒▒▒┤·········│·············
                key number2              ░███████████▒▒▒▒▒▒▒▒▒│┤············
                key number3                    ░░✕············│·············
                key number4                         ░█████████│█▒▒▒▒▒▒▒▒▒▒┤·
                key number5                                ░░░│░████████████
                overlap       ├──────────┼──────────┼─────────┼┼──────────┤
                             ────┬─────────────────────┬──────┴─────────────
                             2025-07-01           2026-01-01
                             ░ pending  █ seals and opens  ▒ opens only
                             ┤· expired  ✕· revoked  † destroyed

                """)
    }

    @Test("a published set has no policy of its own, and nobody knows how old its keys are")
    func publishedSet() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient")
        try place.export("Keys/ios", to: "set.json")
        let output = try place.run("keys", "list", "set.json", "--at", "2026-04-01T09:00:00Z")
        #expect(
            Workplace.named(output.text, [kid]) == """
                KID          STATE    SUITE  PSK  AGE  SEALS  OPENS  NEXT CHANGE
                key number0  primary  p256   -    -    yes    yes    -

                                                                                        now 2026-04-01T09:00:00Z ▼
                key number0    ██████████████████████████████████████████████████████████████████████████████████│██
                             ───┬──────────────────┬──────────────────┬─────────────────┬──────────────────┬─────┴──
                             2026-03-02       2026-03-09         2026-03-16        2026-03-23         2026-03-30
                             █ seals and opens

                """)
    }

    @Test("a key without any time has the month around now")
    func withoutTimes() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        try place.export("Keys/ios", to: "one.json", "--registration")
        let output = try place.run("keys", "list", "one.json", "--at", Workplace.now)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.contains("▼ now 2026-03-01T09:00:00Z"))
        let lane = try #require(output.text.split(separator: "\n").first { $0.contains("█") && $0.contains("│") })
        #expect(lane.filter { $0 == "█" }.count == 86)
        #expect(output.text.contains("2026-02-02") && !output.text.contains("1970"))
    }

    @Test("a rotation that an operator gates shows what it waits for")
    func gated() throws {
        let policy =
            #"{"rotateEvery": "P90D", "publishLead": "P7D", "overlap": "P30D", "keep": 2, "requireCoverage": 99.9}"#
        let lives = [
            Lives.members([("createdAt", "2025-12-10"), ("activatesAt", "2025-12-10")]),
            Lives.members([("createdAt", "2026-02-01")]),
        ]
        let text = try Workplace().listed(lives, policy: policy)
        #expect(text.contains("pending  shared  -    28d  -      yes    waits for promotion\n"))
        #expect(
            text.contains(
                """
                Blocked: promote key key number1, since 2026-02-08T09:00:00Z (21d ago): 99.9% of the devices must
                         hold it, and no reports were given (--reports)
                """))
        #expect(!text.contains("Run:"))
    }

    @Test("a clock before the last change is said, and states don't go back")
    func clock() throws {
        let text = try Workplace().listed(Lives.all, at: "2026-01-15T09:00:00Z")
        #expect(text.contains("Note: 2026-01-15T09:00:00Z is before the last change; shown is the time of that\n"))
        #expect(text.contains("▼ now 2026-02-01T09:00:00Z"))
        #expect(text.contains("Blocked: destroy key key number1"))
    }

    @Test("what is over since long doesn't stretch the axis")
    func horizon() throws {
        let old = Lives.members([
            ("createdAt", "2016-03-08"), ("activatesAt", "2016-03-08"), ("retiresAt", "2016-06-13"),
            ("expiresAt", "2016-09-11"), ("destroyedAt", "2016-09-12"),
        ])
        let forgotten = Lives.members([
            ("createdAt", "2016-06-08"), ("activatesAt", "2016-06-13"), ("retiresAt", "2025-12-10"),
            ("expiresAt", "2026-03-10"),
        ])
        let text = try Workplace().listed([old, forgotten, Lives.primary])
        #expect(text.contains("\nkey number0  destroyed  shared  -    3645d  -      -      destroyed 3457d ago\n"))
        #expect(text.contains("\n             ◂ 1 key destroyed earlier"))
        #expect(text.contains("\nkey number1  ████"))
        #expect(!text.contains("2016"))
    }

    @Test("the legend names what is in sight and nothing else")
    func legend() throws {
        let text = try Workplace().listed([Lives.primary, Lives.pending])
        #expect(text.hasSuffix("\n             ░ pending  █ seals and opens  ▒ opens only  ┤· expired\n"))
    }
}

extension Workplace {
    /// What `keys list` says of a keyset with these lives, with the kids by number.
    func listed(
        _ lives: [String], at time: String = now, columns: String? = nil, policy: String? = nil
    ) throws -> String {
        let kids = try writeKeyset("Keys/app", lives, policy: policy)
        let width = columns.map { "COLUMNS=\($0) " } ?? ""
        let output = try shell("\(width)\"$PUSHCRYPT\" keys list Keys/app --at \(time)")
        try #require(output.isSuccess, "\(output)")
        return Self.named(output.text, kids)
    }
}
