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

    @Test("a published set is listed without policy and age")
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
                         hold it, and no reports were given (--reports)
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
