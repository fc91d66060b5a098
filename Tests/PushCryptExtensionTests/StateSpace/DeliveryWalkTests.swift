#if DEBUG
import Foundation
import PushCryptPrimitives
import PushCryptSender
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// A session on its real threads, in every order of the steps between its locks, its timers and what the system sees of it.
@Suite("Delivery in every order") struct DeliveryWalkTests {
    /// A normal run tests every order of a warned delivery, in which both planted faults show, and of the others the orders
    /// without or with one preemption. A long run tests every order of those that have few enough.
    private static let scenarios: [(DeliveryScenario, short: Interleavings.Extent, long: Interleavings.Extent)] = [
        (.init(.warning), .all, .all), (.init(.stage, .timers), .preemptions(0), .preemptions(1)),
        (.init(.stage, .timers, .warning), .preemptions(0), .preemptions(0)),
        (.init(.warning, .suspension), .preemptions(1), .all), (.init(.warning, .kill), .preemptions(1), .all),
        (.init(.stage, .timers, .kill), .preemptions(0), .preemptions(0)),
        (.init(.timers, .warning), .preemptions(0), .preemptions(1)),
        (.init(copies: 2), .preemptions(1), .preemptions(2)),
        (.init(.warning, copies: 2), .preemptions(0), .preemptions(1)),
        (.init(.kill, copies: 2), .preemptions(0), .preemptions(1)),
        (.init(.suspension, copies: 2), .preemptions(0), .preemptions(1)),
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
        let violation = try Interleavings.simplestViolation {
            try DeliveryWorld(DeliveryScenario(.warning), place, fault).run($0)
        }
        #expect("\(try #require(violation).cause)".contains(cause))
        #expect(throws: Interleavings.Violation.self) {
            try Interleavings(.preemptions(1), joinsStates: true).walk {
                try DeliveryWorld(DeliveryScenario(.timers, .warning), place, fault).run($0)
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
            try require(callCount.withLock { $0 } == 1, "the handler was called twice")
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

final class DeliveryPlace: Sendable {
    let payload: [UInt8]
    let push: OpenedPush
    let restored: [NotificationContent]
    let store: StoreFolder
    /// Made once: each of thousands of processes would read its keys again.
    let configuration: ExtensionConfiguration
    private let placeholders = Locked<[FailureClass: NotificationContent]>([:])
    private let folder: TemporaryFolder
    var file: String { folder.file("file").path }

    init() throws {
        payload = try TestPush(key: "shared").sealed()
        push = try TestPush.open(payload, key: "shared").get()
        store = StoreFolder()
        configuration = try .test(key: "shared")
        folder = try TemporaryFolder()
        restored = [push.content, Self.staged(push.content, folder.file("file").path)]
        _ = try store.store().rememberedIDs()
    }

    func placeholder(_ failure: FailureClass) -> NotificationContent {
        placeholders.withLock { placeholders in
            let known = placeholders[failure]
            let content = known ?? Fallback.outerAlert(orElse: .standard).content(for: payload, failure)
            placeholders[failure] = content
            return content
        }
    }

    func empty() throws {
        try? FileManager.default.removeItem(atPath: file)
        try store.script("DELETE FROM message; DELETE FROM reader;")
    }

    static func staged(_ content: NotificationContent, _ path: String) -> NotificationContent {
        var content = content
        content.title.literal = (content.title.literal ?? "") + " with a file"
        content.attachments.append(.init(identifier: "file", path: path, type: .png))
        return content
    }
}

/// A message and its retraction, delivered by two processes at the same time.
@Suite("Retraction in every order") struct RetractionWalkTests {
    @Test("a retracted message isn't on the screen at the end, and both badge increments count")
    func retraction() throws {
        let place = try RetractionPlace()
        let count = try Interleavings(LongTests.value(.all, short: .preemptions(1)), joinsStates: true).walk {
            try RetractionWorld(place).run($0)
        }
        print("retraction: \(count)")
    }

    @Test(
        "a session that doesn't look for a retraction after the handler, and one that removes nothing, are found",
        arguments: [RetractionWorld.PlantedFault.noLook, .noRemoval])
    func plantedFault(_ fault: RetractionWorld.PlantedFault) throws {
        let place = try RetractionPlace()
        let violation = try Interleavings.simplestViolation { try RetractionWorld(place, fault).run($0) }
        #expect("\(try #require(violation).cause)".contains("the retracted message is on the screen"))
    }
}

/// The two pushes and the folder of their store.
final class RetractionPlace: Sendable {
    fileprivate let message: [UInt8]
    fileprivate let retraction: [UInt8]
    fileprivate let store: StoreFolder

    init() throws {
        func sealed(_ title: String, _ options: Sealer.Options) throws -> [UInt8] {
            try TestPush(key: "shared", json: #"{"aps":{"alert":{"title":"\#(title)"}}}"#, options: options).sealed()
        }
        message = try sealed("message", Sealer.Options(badgeIncrement: 2))
        let id = try TestPush.open(message, key: "shared").get().messageID
        retraction = try sealed("retraction", Sealer.Options(retractedIDs: [id], badgeIncrement: 1))
        store = StoreFolder()
        _ = try store.store().rememberedIDs()
    }
}

/// Two processes of an extension with one store and one screen.
final class RetractionWorld: Sendable {
    enum PlantedFault {
        /// Right after the handler the session doesn't look whether the message was retracted.
        case noLook
        case noRemoval
    }

    private let place: RetractionPlace
    private let fault: PlantedFault?
    private let threads = SteppedThreads()
    /// The title of each notification, by its name.
    private let screen = Locked<[String: String]>([:])
    private let handlerCount = Locked(0)

    init(_ place: RetractionPlace, _ fault: PlantedFault? = nil) throws {
        (self.place, self.fault) = (place, fault)
        try place.store.script(
            "DELETE FROM message; DELETE FROM reader; DELETE FROM tombstone; DELETE FROM shown; DELETE FROM badge;")
    }

    func run(_ run: Interleavings.Run) throws {
        for (name, payload) in [("message", place.message), ("retraction", place.retraction)] {
            let session = try session(name, payload)
            threads.start(name, "didReceive") { session.start() }
        }
        try threads.finish(run)
        let shown = screen.withLock { $0 }
        let count = handlerCount.withLock { $0 }
        try require(count == 2, "the handlers were called \(count) times")
        try require(shown["message"] == nil, "the retracted message is on the screen as \(shown["message"] ?? "")")
        try require(shown["retraction"] == "retraction", "the retraction isn't on the screen")
        let badge = try place.store.store().badge()
        try require(badge == 3, "the badge is \(badge)")
    }

    private func session(_ requestID: String, _ payload: [UInt8]) throws -> DeliverySession {
        var configuration = try ExtensionConfiguration.test(key: "shared")
        configuration.clock = { TestPush.now }
        configuration.memory = Memory(world: self, store: place.store.store())
        configuration.deliveredNotifications = Removal(world: self)
        configuration.keepRunning = ProcessActivity { _ in {} }
        configuration.timer = ManualTimer()
        return DeliverySession(payload: payload, requestID: requestID, configuration: configuration) {
            [self] delivery in
            threads.step("handler of \(requestID)", [.changes("outside")]) {
                screen.withLock { $0[requestID] = delivery.content.title.literal ?? "" }
                handlerCount.withLock { $0 += 1 }
            }
        }
    }

    private struct Memory: DeliveryMemory {
        let world: RetractionWorld
        let store: SharedStore

        func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { store.reserve(message, at: time) }

        func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
            try step("claim") { try store.claim(message, isReserved: isReserved, at: time) }
        }

        func record(_ record: DeliveryRecord) throws -> RecordAnswer {
            try step("record") { try store.record(record) }
        }

        func isRetracted(_ message: MessageStamp) throws -> Bool {
            guard world.fault != .noLook else { return false }
            return try step("look") { try store.isRetracted(message) }
        }

        /// A transaction is one step.
        private func step<Result>(_ label: String, _ body: () throws -> Result) throws -> Result {
            try world.threads.step(label, [.changes("outside")]) {
                try ThreadObservation.$observer.withValue(nil) { try body() }
            }
        }
    }

    private struct Removal: DeliveredNotifications {
        let world: RetractionWorld

        func remove(_ requestIDs: [String]) {
            world.threads.step("removes \(requestIDs)", [.changes("outside")]) {
                guard world.fault != .noRemoval else { return }
                world.screen.withLock { screen in for requestID in requestIDs { screen[requestID] = nil } }
            }
        }
    }
}
#endif
