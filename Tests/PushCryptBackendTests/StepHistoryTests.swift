import Testing

@testable import PushCryptTestSupport

/// Which orders of steps lead to the same state, as a walk that joins states assumes.
@Suite struct StepHistoryTests {
    private typealias Use = Step.Use

    private static func history(_ steps: [Step]) -> StepHistory {
        var history = StepHistory()
        for step in steps { history.append(step) }
        return history
    }

    /// Whether `left` then `right` has the history of `right` then `left`, after `before`.
    private static func areEqual(_ left: [Use]?, _ right: [Use]?, after before: [Step] = []) -> Bool {
        let (left, right) = (Step("left", "step", left), Step("right", "step", right))
        return history(before + [left, right]) == history(before + [right, left])
    }

    @Test(
        "both orders of two steps have one history if they use different resources, or only read the same one",
        arguments: [
            ([.changes("a")], [.changes("b")]), ([.reads("a")], [.reads("a")]), ([], [.changes("a")]),
            ([.reads("a"), .changes("b")], [.reads("a"), .changes("c")]),
        ] as [([Step.Use], [Step.Use])])
    func commuting(_ left: [Step.Use], _ right: [Step.Use]) {
        #expect(Self.areEqual(left, right))
        #expect(Self.areEqual(left, right, after: [Step("left", "begins", [.changes("a")])]))
    }

    @Test(
        "the orders of two steps have different histories if one of them changes what the other one uses, or may use anything",
        arguments: [
            ([.changes("a")], [.changes("a")]), ([.reads("a")], [.changes("a")]), ([.changes("a")], [.reads("a")]),
            ([.reads("b"), .changes("a")], [.reads("a")]), (nil, [.reads("a")]), (nil, []), (nil, nil),
        ] as [([Step.Use]?, [Step.Use]?)])
    func conflicting(_ left: [Step.Use]?, _ right: [Step.Use]?) { #expect(!Self.areEqual(left, right)) }

    @Test func `a change has another history after two reads than between them`() {
        let (one, two) = (Step("one", "reads", [.reads("a")]), Step("two", "reads", [.reads("a")]))
        let change = Step("three", "changes", [.changes("a")])
        #expect(Self.history([one, two, change]) == Self.history([two, one, change]))
        #expect(Self.history([one, two, change]) != Self.history([one, change, two]))
        #expect(Self.history([one, two, change]) != Self.history([change, one, two]))
    }

    @Test func `a history depends on actors and number of steps, not on labels or the order of uses`() {
        let step = Step("one", "step", [.reads("a"), .changes("b")])
        #expect(Self.history([step]) == Self.history([Step("one", "other", [.changes("b"), .reads("a")])]))
        #expect(Self.history([step]) != Self.history([Step("two", "step", step.uses)]))
        #expect(Self.history([step]) != Self.history([step, step]))
        #expect(Self.history([step]) != Self.history([]))
    }

    /// Locks are numbered by their first use, which differs between orders.
    @Test func `a history doesn't depend on the names of resources`() {
        func both(_ first: String, _ second: String) -> StepHistory {
            Self.history([Step("one", "locks", [.changes(first)]), Step("two", "locks", [.changes(second)])])
        }
        #expect(both("lock 1", "lock 2") == both("lock 2", "lock 1"))
        #expect(both("lock 1", "lock 2") != both("lock 1", "lock 1"))
    }

    @Test func `a state is reached again only with fewer preemptions or another current actor`() {
        let reached = ReachedStates()
        let history = Self.history([Step("one", "step", [.changes("a")])])
        func add(_ current: String?, _ preemptionCount: Int) -> Bool {
            reached.add(.init(history: history, current: current), preemptionCount: preemptionCount)
        }
        #expect(add("one", 2))
        #expect(!add("one", 2) && !add("one", 3))
        #expect(add("one", 1))
        #expect(!add("one", 1) && !add("one", 2))
        #expect(add("two", 2) && add(nil, 2))
        #expect(reached.add(.init(history: Self.history([]), current: "one"), preemptionCount: 2))
    }
}
