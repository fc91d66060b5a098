import InMemoryLogging
import Logging
import PushCryptKeysets

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
