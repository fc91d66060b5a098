import Dispatch
import Logging
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

@Suite("KeysetWatcher ends") struct LifetimeTests {
    /// Says when the last reference to it goes.
    private final class Trace: Sendable {
        let gone = DispatchSemaphore(value: 0)
        let looks = Looks()

        func handle() -> Handle { Handle(self) }

        final class Handle: Sendable {
            private let trace: Trace

            init(_ trace: Trace) {
                self.trace = trace
            }

            func add(_ outcome: KeysetReloader.Outcome) { trace.looks.add(outcome) }

            deinit {
                trace.gone.signal()
            }
        }
    }

    private func makeWatcher(_ place: Operator, _ trace: Trace, every interval: Duration?) throws -> KeysetWatcher {
        let handle = trace.handle()
        return try KeysetWatcher(
            WatchedKeyset(place: KeysetPlace(folder: place.path), secret: nil, allowsDemoKeys: false), interval,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: { place.clock.now },
            observe: { handle.add($0) })
    }

    /// Nothing holds it but its owner, and with it go the timer, its handler and the keys.
    @Test("a released watcher looks no more", arguments: [nil, .milliseconds(10), .seconds(10)] as [Duration?])
    func whenReleased(interval: Duration?) throws {
        let (place, trace) = (try Operator(), Trace())
        weak var released: KeysetWatcher?
        try {
            let watcher = try makeWatcher(place, trace, every: interval)
            released = watcher
            try place.rotate()
            watcher.lookNow()
            #expect(watcher.current.sequence == 2)
        }()
        #expect(released == nil)
        #expect(trace.gone.wait(timeout: .now() + 60) == .success)
    }

    @Test("a stopped watcher looks no more and keeps its keyset") func whenStopped() throws {
        let (place, trace) = (try Operator(), Trace())
        let watcher = try makeWatcher(place, trace, every: .milliseconds(10))
        try place.rotate()
        try trace.looks.wait(for: .taken(sequence: 2))
        watcher.stop()
        watcher.stop()
        // Behind what was on its way already.
        watcher.lookNow()
        let count = trace.looks.all.count
        // Another one that looks as often has time for much, and sees what the stopped one doesn't.
        let other = Looks()
        let witness = try KeysetWatcher(
            WatchedKeyset(place: KeysetPlace(folder: place.path), secret: nil, allowsDemoKeys: false),
            .milliseconds(10),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: { place.clock.now },
            observe: { other.add($0) })
        let kid = try place.rotate()
        try other.wait(for: .taken(sequence: 3))
        try other.wait(forCount: other.all.count + 20)
        #expect(trace.looks.all.count == count)
        #expect(try watcher.recipient().kid != kid)
        #expect(try witness.recipient().kid == kid)
        // Asked, it still looks.
        watcher.lookNow()
        #expect(try watcher.recipient().kid == kid)
    }

    /// Where there is nothing to watch yet, there is no watcher.
    @Test("a watcher without a valid keyset never starts") func neverBegunWithoutAKeyset() throws {
        let place = try Operator()
        let error = #expect(throws: KeystoreError.self) { try KeysetWatcher(folder: place.path + "/none") }
        #expect(error?.code == .notFound)
        try place.write(Array("{".utf8))
        #expect(throws: KeyError.self) { try KeysetWatcher(folder: place.path) }
    }
}
