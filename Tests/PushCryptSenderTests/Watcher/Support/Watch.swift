import InMemoryLogging
import Logging
import PushCryptKeysets

@testable import PushCryptSender

/// A watcher with its log and everything that it saw.
struct Watch {
    static let topic = "com.example.app"
    static let payload = #"{"aps":{"alert":"x"}}"#

    let watcher: KeysetWatcher
    let looks = Looks()
    private let log: InMemoryLogHandler

    /// - Parameter interval: nil: the test says when to look.
    init(_ place: Operator, every interval: Duration? = nil) throws {
        try self.init(KeysetPlace(folder: place.path), place.secret, every: interval, clock: place.clock)
    }

    init(
        _ place: KeysetPlace, _ secret: KeysetSecret? = nil, every interval: Duration? = nil,
        clock: TestClock = TestClock(Operator.start)
    ) throws {
        let log = InMemoryLogHandler()
        self.log = log
        watcher = try KeysetWatcher(
            WatchedKeyset(place: place, secret: secret, allowsDemoKeys: false), interval,
            logger: Logger(label: "test") { _ in log }, clock: { clock.now }, observe: { [looks] in looks.add($0) })
    }

    /// Asks the watcher to look and returns what it saw.
    func look() -> KeysetReloader.Outcome? {
        watcher.lookNow()
        return looks.all.last
    }

    /// What the watcher sees when its timer fires.
    func tick() -> KeysetReloader.Outcome? {
        watcher.tick()
        return looks.all.last
    }

    /// The metadata of each line of that level.
    var errors: [[String: String]] { lines(.error) }
    var notices: [[String: String]] { lines(.notice) }

    private func lines(_ level: Logger.Level) -> [[String: String]] {
        log.entries.filter { $0.level == level }.map { entry in entry.metadata.mapValues { "\($0)" } }
    }

    func seal(signer: SenderKey? = nil, to recipient: Recipient? = nil) throws -> SealedPush {
        try Sealer(topic: Self.topic, signer: signer, clock: { Operator.start }).seal(
            Array(Self.payload.utf8), to: recipient ?? watcher.recipient(), placeholder: Channel.placeholder)
    }
}
