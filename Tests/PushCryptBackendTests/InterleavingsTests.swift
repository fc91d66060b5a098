#if DEBUG
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// The walk that the tests of delivery, replay store and keysets rely on.
@Suite("Interleavings") struct InterleavingsTests {
    private struct Broken: Error {}

    private static func twoActors(_ resource: @escaping (String) -> String, _ run: Interleavings.Run) throws {
        var left = ["a": 3, "b": 3]
        while left.values.contains(where: { $0 > 0 }) {
            let enabled = left.filter { $0.value > 0 }.keys.map { Step($0, "step", [.changes(resource($0))]) }
            left[try run.choose(enabled).actor]! -= 1
        }
    }

    @Test func `two actors with three steps each have one order if the steps commute, and otherwise 20`() throws {
        #expect(try Interleavings(.all).walk { try Self.twoActors({ $0 }, $0) }.orders == 1)
        #expect(try Interleavings(.all).walk { try Self.twoActors({ _ in "file" }, $0) }.orders == 20)
    }

    @Test func `with at most so many preemptions, two actors with three steps each have fewer orders`() throws {
        for (limit, count) in [2, 6, 14, 18, 20].enumerated() {
            let walk = Interleavings(.preemptions(limit))
            #expect(try walk.walk { try Self.twoActors({ _ in "file" }, $0) }.orders == count)
        }
    }

    private static func count(_ isAtomic: Bool, _ run: Interleavings.Run) throws {
        let threads = SteppedThreads()
        let counter = Locked(0)
        for name in ["a", "b"] {
            threads.start(name, "begins") {
                guard !isAtomic else { return counter.withLock { $0 += 1 } }
                let read = counter.withLock { $0 }
                counter.withLock { $0 = read + 1 }
            }
        }
        try threads.finish(run)
        guard counter.withLock({ $0 }) == 2 else { throw Broken() }
    }

    @Test func `a counter whose threads read and write under one lock counts to 2 in every order`() throws {
        #expect(try Interleavings(.all).walk { try Self.count(true, $0) }.orders == 2)
    }

    @Test func `a counter that is read and written under two locks loses a count with one preemption`() throws {
        let found = #expect(throws: Interleavings.Violation.self) {
            try Interleavings(.all).walk { try Self.count(false, $0) }
        }
        #expect(found?.cause is Broken)
        let simplest = try #require(try Interleavings.simplestViolation { try Self.count(false, $0) })
        #expect(
            simplest.steps.map(\.description) == [
                "a: begins", "a: lock 1", "b: begins", "b: lock 1", "b: lock 1", "a: lock 1",
            ])
    }

    @Test func `two threads that take two locks in opposite orders are found waiting for each other`() throws {
        let found = #expect(throws: Interleavings.Violation.self) {
            try Interleavings(.all).walk { run in
                let threads = SteppedThreads()
                let locks = [Locked(()), Locked(())]
                for (name, order) in [("a", [0, 1]), ("b", [1, 0])] {
                    threads.start(name, "begins") {
                        locks[order[0]].withLock { _ in locks[order[1]].withLock { _ in } }
                    }
                }
                try threads.finish(run)
            }
        }
        #expect(found?.cause is SteppedThreads.Stuck)
    }

    @Test func `a run that doesn't depend on its choices alone is reported`() throws {
        var number = 0
        #expect(throws: Interleavings.Diverged.self) {
            try Interleavings(.all).walk { run in
                number += 1
                _ = try run.choose([Step("a", "step", nil), Step("b\(number)", "step", nil)])
            }
        }
    }
}
#endif
