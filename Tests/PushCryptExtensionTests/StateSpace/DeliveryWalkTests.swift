#if DEBUG
import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// A session on its real threads, in every order of the steps between its locks, its timers and what the system sees of it.
@Suite("Delivery in every order") struct DeliveryWalkTests {
    /// A normal run tests every order of a warned delivery, in which both planted faults show, and of the others the orders
    /// without or with one preemption. A long run tests every order of those that have few enough.
    private static let scenarios: [(DeliveryScenario, short: Interleavings.Extent, long: Interleavings.Extent)] = [
        (.init(testDescription: "warned", isWarned: true), .all, .all),
        (.init(testDescription: "a stage, timers", hasStage: true, hasTimers: true), .preemptions(0), .preemptions(1)),
        (
            .init(testDescription: "a stage, timers, warned", hasStage: true, hasTimers: true, isWarned: true),
            .preemptions(0), .preemptions(0)
        ),
        (.init(testDescription: "warned, suspended", isWarned: true, isSuspended: true), .preemptions(1), .all),
        (.init(testDescription: "warned, killed", isWarned: true, isKilled: true), .preemptions(1), .all),
        (
            .init(testDescription: "a stage, timers, killed", hasStage: true, hasTimers: true, isKilled: true),
            .preemptions(0), .preemptions(0)
        ),
        (.init(testDescription: "timers, warned", hasTimers: true, isWarned: true), .preemptions(0), .preemptions(1)),
        (.init(testDescription: "two copies", copyCount: 2), .preemptions(1), .preemptions(2)),
        (.init(testDescription: "two copies, warned", copyCount: 2, isWarned: true), .preemptions(0), .preemptions(1)),
        (.init(testDescription: "two copies, killed", copyCount: 2, isKilled: true), .preemptions(0), .preemptions(1)),
        (
            .init(testDescription: "two copies, suspended", copyCount: 2, isSuspended: true), .preemptions(0),
            .preemptions(1)
        ),
    ]

    @Test("a push is recorded, delivered once, and no lock is held at a possible suspension", arguments: scenarios)
    func delivery(
        _ scenario: DeliveryScenario, short: Interleavings.Extent, long: Interleavings.Extent
    ) throws {
        let place = try DeliveryPlace()
        let extent = LongTests.value(long, short: short)
        let count = try Interleavings(extent, joinsStates: true).walk { try DeliveryWorld(scenario, place).run($0) }
        print("delivery, \(scenario.testDescription): \(count); \(extent)")
    }

    @Test(
        "a session that doesn't ask for time, and one that records late, are found",
        arguments: [
            (DeliveryWorld.PlantedFault.noActivity, "the process may be suspended while it has a lock"),
            (.lateRecord, "the message is shown before it is recorded"),
        ])
    func plantedFault(_ fault: DeliveryWorld.PlantedFault, _ cause: String) throws {
        let place = try DeliveryPlace()
        let scenario = DeliveryScenario(testDescription: "warned", isWarned: true)
        let violation = try Interleavings.simplestViolation {
            try DeliveryWorld(scenario, place, fault).run($0)
        }
        #expect("\(try #require(violation).cause)".contains(cause))
        let timed = DeliveryScenario(testDescription: "timers, warned", hasTimers: true, isWarned: true)
        #expect(throws: Interleavings.Violation.self) {
            try Interleavings(.preemptions(1), joinsStates: true).walk {
                try DeliveryWorld(timed, place, fault).run($0)
            }
        }
    }

    /// Checks whether it has ended and sets this under two locks.
    private final class SessionWithoutGuard: Sendable {
        private let hasEnded = Locked(false)
        private let handler: @Sendable () -> Void

        init(_ handler: @escaping @Sendable () -> Void) { self.handler = handler }

        func end() {
            guard !hasEnded.withLock({ $0 }) else { return }
            hasEnded.withLock { $0 = true }
            handler()
        }
    }

    @Test("a session that checks and sets its end under two locks is found calling its handler twice")
    func brokenSession() throws {
        func run(_ run: Interleavings.Run) throws {
            let threads = SteppedThreads()
            let callCount = Locked(0)
            let session = SessionWithoutGuard {
                threads.step("handler", [.changes("outside")]) { callCount.withLock { $0 += 1 } }
            }
            for name in ["restore", "deadline"] { threads.start(name, "begins") { session.end() } }
            try threads.finish(run)
            try BrokenInvariant.require(callCount.withLock { $0 } == 1, "the handler was called twice")
        }
        let violation = try Interleavings.simplestViolation(run)
        let steps = try #require(violation).steps.map(\.description)
        #expect(steps.filter { $0.hasSuffix("handler") }.count == 2)
        #expect(steps.count == 8, "\(steps)")
        #expect(throws: Interleavings.Violation.self) {
            try Interleavings(.preemptions(1), joinsStates: true).walk(run)
        }
    }
}
#endif
