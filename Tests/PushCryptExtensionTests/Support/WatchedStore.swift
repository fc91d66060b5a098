import PushCryptExtension
import PushCryptPrimitives

/// A session's store that notes its calls, and lets the test act in them.
final class WatchedStore: DeliveryMemory {
    let log: Locked<[String]>
    private let store: SharedStore
    private let watch = Locked<(@Sendable (String) -> Void)?>(nil)

    init(_ store: SharedStore, log: Locked<[String]> = Locked([])) {
        (self.store, self.log) = (store, log)
    }

    var calls: [String] { log.withLock { $0 } }

    /// Runs `body` in each later call with the noted text.
    func whenCalled(_ body: @escaping @Sendable (String) -> Void) { watch.withLock { $0 = body } }

    func highestIssuedAt(at time: UnixTime) throws -> UnixTime? {
        note("highestIssuedAt")
        return try store.highestIssuedAt(at: time)
    }

    func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { store.reserve(message, at: time) }

    func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
        note("claim")
        defer { note("claimed") }
        return try store.claim(message, isReserved: isReserved, at: time)
    }

    func record(_ record: DeliveryRecord) throws -> RecordAnswer {
        note(record.isShown ? "record shown" : "record")
        defer { note("recorded") }
        return try store.record(record)
    }

    private func note(_ call: String) {
        log.withLock { $0.append(call) }
        watch.withLock { $0 }?(call)
    }
}
