import Dispatch
import Logging
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

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
