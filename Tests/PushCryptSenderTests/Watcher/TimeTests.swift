import Dispatch
import Logging
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// The key that seals changes with time, though the file doesn't.
@Suite("KeysetWatcher chooses keys by time") struct TimeTests {
    @Test(
        "the next key seals or signs from its activation on without a new file", arguments: [KeyKind.shared, .sender])
    func theNextKeySealsFromItsTimeOn(kind: KeyKind) throws {
        let place = try Operator(kind)
        let first = place.files.kids[0]
        let lead: Int64 = 7 * 86_400
        let second = try place.add(activatesAt: place.clock.now + lead)
        let watch = try Watch(place)
        func kid() throws -> KeyID {
            try kind == .sender ? watch.watcher.senderKey().kid : watch.watcher.recipient().kid
        }
        let moments = [(0, first), (lead - 1, first), (lead, second), (lead + 1, second), (lead * 9, second)]
        for (offset, expected) in moments {
            place.clock.now = Operator.start + offset
            #expect(try kid() == expected, "after \(offset) s")
        }
        // The choice also follows a clock that is set back.
        place.clock.now = Operator.start + lead - 1
        #expect(try kid() == first)
        #expect(watch.notices.isEmpty)
    }

    @Test("a clock before the last change uses its time, and more than 10 minutes are logged and in the status")
    func slowClock() throws {
        let place = try Operator()
        let clock = TestClock(Operator.start - 601)
        let watch = try Watch(KeysetPlace(file: place.path), clock: clock)
        #expect(watch.errors.count == 1)
        #expect(watch.errors.first?["reason"]?.contains("before the last change") == true)
        #expect(watch.watcher.status.clockObjection != nil && watch.watcher.status.isHealthy)
        clock.now = Operator.start - 600
        #expect(watch.watcher.status.clockObjection == nil)
        clock.now = Operator.start - 100_000
        let kid = try place.rotate()
        #expect(watch.check() == .taken(sequence: 2))
        #expect(watch.errors.count == 2)
        #expect(try watch.watcher.recipient().kid == kid)
    }

    @Test("a time without a sealing key ends when the next key activates") func aTimeWithoutAKeyEnds() throws {
        let place = try Operator()
        try place.change { try $0.setting(.retiresAt, of: $0.kids[0], to: Operator.start + 10, .rotated) }
        let watch = try Watch(place)
        #expect(try watch.watcher.recipient().suite == .shared)
        place.clock.now = Operator.start + 10
        for _ in 0..<2 {
            expectKeyError(.noKeySeals) { try watch.watcher.recipient() }
        }
        // A new file with another key that seals.
        let kid = try place.add(activatesAt: place.clock.now)
        #expect(watch.check() == .taken(sequence: 3))
        #expect(try watch.watcher.recipient().kid == kid)
    }

    /// The file doesn't change when its key begins to seal.
    @Test("a keyset whose keys seal later is taken when they do") func aKeysetThatSealsLaterIsTakenLater() throws {
        let place = try Operator()
        let watch = try Watch(place)
        try place.change { try $0.setting(.activatesAt, of: $0.kids[0], to: Operator.start + 60, .rotated) }
        #expect(watch.check()?.reason?.contains("none of the 1 keys seals") == true)
        place.clock.now = Operator.start + 60
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(watch.errors.count == 1)
    }
}

@Suite("The end of a KeysetWatcher") struct LifetimeTests {
    /// Signals when its last handle is released.
    private final class Trace: Sendable {
        let gone = DispatchSemaphore(value: 0)
        let outcomes = Outcomes()

        func handle() -> Handle { Handle(self) }

        final class Handle: Sendable {
            private let trace: Trace

            init(_ trace: Trace) {
                self.trace = trace
            }

            func add(_ outcome: KeysetReloader.Outcome) { trace.outcomes.add(outcome) }

            deinit {
                trace.gone.signal()
            }
        }
    }

    private func makeWatcher(_ place: Operator, _ trace: Trace, every interval: Duration?) throws -> KeysetWatcher {
        let handle = trace.handle()
        return try KeysetWatcher(
            WatchedKeyset(place: KeysetPlace(file: place.path), secret: nil, allowsDemoKeys: false), interval,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: { place.clock.now },
            observe: { handle.add($0) })
    }

    /// Only the owner refers to the watcher. Its release frees the timer, the handler and the keys.
    @Test(
        "a released watcher is freed with its handler",
        arguments: [nil, .milliseconds(10), .seconds(10)] as [Duration?])
    func whenReleased(interval: Duration?) throws {
        let (place, trace) = (try Operator(), Trace())
        weak var released: KeysetWatcher?
        try {
            let watcher = try makeWatcher(place, trace, every: interval)
            released = watcher
            try place.rotate()
            watcher.checkNow()
            #expect(watcher.current.sequence == 2)
        }()
        #expect(released == nil)
        #expect(trace.gone.wait(timeout: .now() + 60) == .success)
    }

    @Test("a stopped watcher keeps its keyset and checks the file only on request") func whenStopped() throws {
        let (place, trace) = (try Operator(), Trace())
        let watcher = try makeWatcher(place, trace, every: .milliseconds(10))
        try place.rotate()
        try trace.outcomes.wait(for: .taken(sequence: 2))
        watcher.stop()
        watcher.stop()
        // Waits for a check that the timer had started.
        watcher.checkNow()
        let count = trace.outcomes.all.count
        // Another watcher with the same interval shows that the stopped one had time for many checks.
        let witness = try Watch(place, every: .milliseconds(10))
        let kid = try place.rotate()
        try witness.outcomes.wait(for: .taken(sequence: 3))
        try witness.outcomes.wait(forCount: witness.outcomes.all.count + 20)
        #expect(trace.outcomes.all.count == count)
        #expect(try watcher.recipient().kid != kid)
        #expect(try witness.watcher.recipient().kid == kid)
        // A request still checks the file.
        watcher.checkNow()
        #expect(try watcher.recipient().kid == kid)
    }

    @Test("a watcher without a valid keyset never starts") func neverBegunWithoutAKeyset() throws {
        let place = try Operator()
        expectKeystoreError(.notFound) { try KeysetWatcher(file: place.folder.path + "/none") }
        try place.write(Array("{".utf8))
        expectKeystoreError(.damaged) { try KeysetWatcher(file: place.path) }
    }
}
