import Dispatch
import InMemoryLogging
import Logging
import PushCryptKeysets
import PushCryptPrimitives
import Testing

@testable import PushCryptSender

/// A watcher with its log and the outcomes of its checks.
struct Watch {
    static let topic = "com.example.app"
    static let payload = #"{"aps":{"alert":"x"}}"#

    let watcher: KeysetWatcher
    let outcomes = Outcomes()
    private let log: InMemoryLogHandler

    /// - Parameter interval: nil if the test requests every check.
    init(_ place: Operator, every interval: Duration? = nil) throws {
        try self.init(KeysetPlace(file: place.path), place.secret, every: interval, clock: place.clock)
    }

    init(
        _ place: KeysetPlace, _ secret: KeysetSecret? = nil, every interval: Duration? = nil,
        clock: TestClock = TestClock(Operator.start)
    ) throws {
        let log = InMemoryLogHandler()
        self.log = log
        watcher = try KeysetWatcher(
            WatchedKeyset(place: place, secret: secret, allowsDemoKeys: false), interval,
            logger: Logger(label: "test") { _ in log }, clock: { clock.now },
            observe: { [outcomes] in outcomes.add($0) })
    }

    /// Makes the watcher check the file and returns the outcome.
    func check() -> KeysetReloader.Outcome? {
        watcher.checkNow()
        return outcomes.all.last
    }

    /// Runs the timer's check and returns the outcome.
    func tick() -> KeysetReloader.Outcome? {
        watcher.tick()
        return outcomes.all.last
    }

    /// The metadata of each line of that level.
    var errors: [[String: String]] { lines(.error) }
    var notices: [[String: String]] { lines(.notice) }

    private func lines(_ level: Logger.Level) -> [[String: String]] {
        log.entries.filter { $0.level == level }.map { entry in entry.metadata.mapValues { "\($0)" } }
    }

    func seal(signer: SenderKey? = nil, to recipient: Recipient? = nil) throws -> SealedPush {
        try Sealer(topic: Self.topic, signer: signer.map(Signer.key), clock: { Operator.start }).seal(
            Array(Self.payload.utf8), to: recipient ?? watcher.recipient(), placeholder: Channel.placeholder)
    }
}

/// The outcomes of a watcher's checks.
final class Outcomes: Sendable {
    typealias Outcome = KeysetReloader.Outcome

    private let outcomes = Locked<[Outcome]>([])
    private let arrival = DispatchSemaphore(value: 0)

    func add(_ outcome: Outcome) {
        outcomes.withLock { $0.append(outcome) }
        arrival.signal()
    }

    var all: [Outcome] { outcomes.withLock { $0 } }

    /// Waits for that outcome, at most a minute.
    func wait(for wanted: Outcome, _ location: SourceLocation = #_sourceLocation) throws {
        try wait(location) { $0.contains(wanted) }
    }

    func wait(forCount count: Int, _ location: SourceLocation = #_sourceLocation) throws {
        try wait(location) { $0.count >= count }
    }

    private func wait(_ location: SourceLocation, until isEnough: ([Outcome]) -> Bool) throws {
        let deadline = DispatchTime.now() + 60
        while !isEnough(all) {
            try #require(
                arrival.wait(timeout: deadline) == .success, "the watcher saw \(all)", sourceLocation: location)
        }
    }
}
