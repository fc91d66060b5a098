import PushCryptCore
import Testing

/// Every change is checked: a keyset that violates an invariant isn't written.
@Suite struct InvariantTests {
    struct Case: Sendable, CustomStringConvertible {
        let description: String
        let reason: String
        let givenUp: Set<KeyID>
        let change: @Sendable (inout KeyTimeline) -> Void

        init(
            _ description: String, _ reason: String, givingUp givenUp: Set<KeyID> = [],
            _ change: @escaping @Sendable (inout KeyTimeline) -> Void
        ) {
            (self.description, self.reason, self.givenUp, self.change) = (description, reason, givenUp, change)
        }
    }

    /// A retiring since 90, B sealing until 180, C pending, D destroyed; it is day 175.
    private static func rotating() throws -> TimelineInDays {
        var sample = TimelineInDays()
        try sample.add(.b, on: 83, sealsFrom: 90)
        try sample.add(.d, on: 84, sealsFrom: nil)
        try sample.destroy(.d, on: 84, force: true)
        try sample.add(.c, on: 173, sealsFrom: 180)
        return sample
    }

    @Test(
        "a change that violates an invariant throws its reason",
        arguments: [
            Case("two keys of one id", "two keys have the same id") { $0.keys.append($0.keys[1]) },
            Case("no key seals now", "no key would seal at") { $0.edit(.b) { $0.retiresAt = .days(175) } },
            Case("no key seals for a second to come", "no key would seal at") {
                $0.edit(.b) { $0.retiresAt = .days(180) - 1 }
            },
            Case("the last key stops", "no key would seal at") {
                $0.edit(.c) { ($0.retiresAt, $0.expiresAt) = (.days(200), .days(400)) }
            },
            Case("the last key expires", "no key would seal at") { $0.edit(.c) { $0.expiresAt = .days(400) } },
            Case("the last key is to be revoked", "no key would seal at") { $0.edit(.c) { $0.revokedAt = .days(190) } },
            Case("the primary is revoked and not replaced", "no key would seal at", givingUp: [.b]) {
                $0.edit(.b) { $0.revokedAt = .days(175) }
            },
            Case("the primary is destroyed", "no key would seal at", givingUp: [.b]) {
                $0.edit(.b) { $0.destroyedAt = .days(175) }
            },
            Case("two keys seal at once", "would both seal at") {
                $0.edit(.b) { ($0.retiresAt, $0.expiresAt) = (.days(181), .days(300)) }
            },
            Case("a tombstone is removed", "would be missing") { $0.keys.removeAll { $0.kid == .d } },
            Case("a key is removed", "would be missing", givingUp: [.c]) { timeline in
                timeline.keys.removeAll { $0.kid == .c }
                timeline.edit(.b) { ($0.retiresAt, $0.expiresAt) = (nil, nil) }
            },
            Case("a destroyed key is back", "is destroyed and would change") { $0.edit(.d) { $0.destroyedAt = nil } },
            Case("a tombstone changes", "is destroyed and would change") { $0.edit(.d) { $0.expiresAt = .days(500) } },
            Case("a retired key gets another end", "retiresAt, 1970-04-01T00:00:00Z, has passed and would change") {
                $0.edit(.a) { $0.retiresAt = .days(91) }
            },
            Case("the primary's beginning changes", "activatesAt, 1970-04-01T00:00:00Z, has passed and would change") {
                $0.edit(.b) { $0.activatesAt = .days(91) }
            },
            Case("a creation time changes", "createdAt, 1970-06-23T00:00:00Z, has passed and would change") {
                $0.edit(.c) { $0.createdAt = .days(175) }
            },
            Case("an end in the past", "would be set to 1970-06-24T00:00:00Z, which is in the past") {
                $0.edit(.a) { $0.expiresAt = .days(174) }
            },
            Case("a key that opens expires early", "would expire before its time, 1970-06-30T00:10:00Z") {
                $0.edit(.a) { $0.expiresAt = .days(179) }
            },
            Case(
                "a key that opens expires early although others are given up", "would expire before its time",
                givingUp: [.b, .c]
            ) {
                $0.edit(.a) { $0.expiresAt = .days(179) }
            },
            Case("a key that opens is destroyed", "a push on its way may need key") {
                $0.edit(.a) { $0.destroyedAt = .days(175) }
            },
            Case(
                "a key that opens is destroyed although others are given up", "a push on its way may need key",
                givingUp: [.b, .c]
            ) {
                $0.edit(.a) { $0.destroyedAt = .days(175) }
            },
            Case("a pending key is destroyed", "a push on its way may need key") {
                $0.edit(.c) { $0.destroyedAt = .days(175) }
                $0.edit(.b) { ($0.retiresAt, $0.expiresAt) = (nil, nil) }
            },
            Case("a key that opens is revoked", "a push on its way may need key") {
                $0.edit(.a) { $0.revokedAt = .days(175) }
            },
            Case("the overlap is too short by a second", "would expire while pushes sealed with it are on their way") {
                $0.edit(.b) { $0.expiresAt = .days(210) + 599 }
            },
            Case(
                "the overlap after a promotion is too short by a second",
                "would expire while pushes sealed with it are on their way"
            ) {
                $0.edit(.b) { ($0.retiresAt, $0.expiresAt) = (.days(175), .days(205) + 599) }
                $0.edit(.c) { $0.activatesAt = .days(175) }
            },
            Case(
                "a pending key's overlap is too short by a second",
                "would expire while pushes sealed with it are on their way"
            ) {
                $0.edit(.c) { ($0.retiresAt, $0.expiresAt) = (.days(200), .days(230) + 599) }
                $0.keys.append(.init(.spare, KeyLifecycle(activatesAt: .days(200))))
            },
        ])
    func broken(testCase: Case) throws {
        let old = try Self.rotating().timeline
        var new = old
        testCase.change(&new)
        let error = #expect(throws: LifecycleError.self) {
            try Invariants.check(new, after: old, at: .days(175), givingUp: testCase.givenUp)
        }
        #expect(error?.code == .invariantBroken)
        #expect(error?.reason.contains(testCase.reason) == true, "\(String(describing: error))")
    }

    @Test(
        "a change that keeps the invariants is accepted",
        arguments: [
            Case("no change", "") { _ in },
            Case("the shortest overlap", "") { $0.edit(.b) { $0.expiresAt = .days(210) + 600 } },
            Case("a longer overlap", "") { $0.edit(.a) { $0.expiresAt = .days(500) } },
            Case("a revocation", "", givingUp: [.a]) { $0.edit(.a) { $0.revokedAt = .days(175) } },
            Case("a destruction", "", givingUp: [.a]) { $0.edit(.a) { $0.destroyedAt = .days(175) } },
            Case("a pending key is retired", "") {
                $0.edit(.c) { ($0.retiresAt, $0.expiresAt) = (.days(175), .days(206)) }
                $0.edit(.b) { ($0.retiresAt, $0.expiresAt) = (nil, nil) }
            },
            Case("a promotion", "") {
                $0.edit(.b) { ($0.retiresAt, $0.expiresAt) = (.days(175), .days(205) + 600) }
                $0.edit(.c) { $0.activatesAt = .days(175) }
            },
        ])
    func whole(testCase: Case) throws {
        let old = try Self.rotating().timeline
        var new = old
        testCase.change(&new)
        try Invariants.check(new, after: old, at: .days(175), givingUp: testCase.givenUp)
    }

    @Test("a key that was overtaken can't become the primary again")
    func statesOnlyMoveForward() throws {
        let old = KeyTimeline([
            .init(.a, KeyLifecycle(activatesAt: .days(0))), .init(.b, KeyLifecycle(activatesAt: .days(10))),
        ])
        var new = old
        new.edit(.b) { $0.revokedAt = .days(20) }
        let error = #expect(throws: LifecycleError.self) {
            try Invariants.check(new, after: old, at: .days(20), givingUp: [.b])
        }
        #expect(error?.reason.contains("is retiring and would be primary again") == true)
    }

    @Test("a change of updatedAt alone is accepted in a file that violates invariants")
    func nothingChanges() throws {
        let odd = KeyTimeline([.init(.a, KeyLifecycle()), .init(.a, KeyLifecycle())])
        var written = odd
        written.updatedAt = .days(5)
        try Invariants.check(written, after: odd, at: .days(5))
        #expect(throws: LifecycleError.self) { try Invariants.check(odd, after: nil, at: .days(5)) }
    }
}

extension KeyID {
    fileprivate static let spare = KeyID("EEEEEEEEEEA")!
}

extension KeyTimeline {
    fileprivate mutating func edit(_ kid: KeyID, _ body: (inout KeyLifecycle) -> Void) {
        let index = keys.firstIndex { $0.kid == kid }!
        body(&keys[index].lifecycle)
    }
}
