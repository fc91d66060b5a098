public import PushCryptPrimitives
import PushCryptSQLite

/// The store that the app and its extension share: shown messages, counters and receipts to send. Create one object per
/// process and role.
///
/// The folder is in the container of their app group. The files contain ids, times, counts, the badge, and
/// digests of what was restored (``restoredMessageID(requestID:userInfo:at:)``), but no content. Their protection class is `completeUntilFirstUserAuthentication`: between a restart and the first unlock, calls throw
/// `StoreError` with `locked`.
///
/// The processes may be killed or suspended at any time. Each call is one short transaction, and no lock is held between
/// calls. A session uses the store before it hands its content to the system. All later and other calls ask the system not to
/// suspend the process meanwhile (`ProcessInfo.performExpiringActivity`), and aren't made, or throw `busy`, if it refuses or
/// doesn't answer for 10 seconds; in the foreground they don't wait for the answer. So the system doesn't end a suspended process
/// because of a lock (`0xdead10cc`).
///
/// Messages are shown even if the store can't be used. While another process has it locked, the first call waits for
/// ``Configuration/busyTimeout`` and later calls for at most 10 ms, until one succeeds or 5 seconds have passed. Messages
/// shown while the file can't be used (locked, damaged, disk full) are remembered in memory and written to the file as soon
/// as possible. If the process ends before that, a message that is received again while it is fresh is shown again.
///
/// A message is claimed before it is restored. Before its content is handed to the system, one transaction marks it as seen
/// and counts it. If the process is killed before that, the claim lapses after 60 seconds, and the message is shown if it
/// is received again. If it is killed in the instant between the write and the handler, the system shows the placeholder,
/// and the message counts as shown. If the store doesn't answer within ``DeliverySession/storeTimeLimit``, the content is handed over
/// without waiting for it. If the process then ends before the write, the message is shown again if it is received again:
/// the protocol prefers a message shown twice to a late or lost one.
///
/// ## What a loss of power can undo
///
/// No call waits until its data is on the disk: a sync takes up to 100 ms on a busy disk, and a push would wait for
/// several. The system's memory holds written data, so the death of a process loses nothing. If the device itself stops
/// (its power or its kernel fails) within about half a minute of a push, the marks of the last pushes may be lost, or the
/// file may be damaged. A damaged file is replaced by an empty store, and counted: then each message that is still fresh is
/// shown once more if a relay repeats it.
public final class SharedStore: Sendable {
    /// The process that uses the store: the app or its extension. A push with `content-available` reaches both, and each
    /// shows it once.
    public struct Role: Hashable, Sendable {
        let number: Int64

        /// The app itself.
        public static let app = Role(number: 1)
        /// The notification service extension.
        public static let `extension` = Role(number: 2)
    }

    /// The limits of the store, and the time that a call may wait.
    public struct Configuration: Sendable {
        /// How many messages of each role are remembered. Over the limit the oldest is forgotten, and messages of its age or
        /// older are refused. 10,000 messages need about 1 MB on disk.
        public var messageLimit = 10_000
        /// How many receipts are stored. Over the limit those of failures are removed first, then the oldest.
        public var receiptLimit = 1_000
        /// How long a receipt is stored, in seconds.
        public var receiptLifetimeInSeconds: Int64 = 7 * 86_400
        /// How long a call waits in total for other threads and processes, at most a minute. A session makes one call before
        /// its text is restored, and another one with pinned senders, which waits for 10 ms if the first one waited in vain.
        public var busyTimeout: Duration = DeliverySession.storeTimeLimit

        /// Creates a configuration with the defaults.
        public init() {}
    }

    let role: Role
    let configuration: Configuration
    /// The ids of the receipts that are being sent.
    let sending = Locked<Set<String>>([])
    let unwrittenReceipts = UnwrittenReceipts()
    /// Messages that couldn't be written to the file.
    let unwritten: InMemoryReplayStore
    let claimedMessages = ClaimedMessages()
    /// Claims in the file whose release couldn't be written.
    let unwrittenReleases = Locked<[MessageClaim]>([])
    private let queue: StoreQueue
    private let keepRunning: ProcessActivity

    /// Creates a store; its files are opened at the first use.
    ///
    /// - Parameter folder: the path of a folder for the store only. It is created if its parent exists.
    public convenience init(folder: String, role: Role, configuration: Configuration = Configuration()) {
        self.init(folder: folder, role: role, configuration: configuration, clock: { .now })
    }

    /// - Parameters:
    ///   - clock: measures how long the store has been busy.
    ///   - keepRunning: asks the system not to suspend the process during calls outside sessions.
    init(
        folder: String, role: Role, configuration: Configuration,
        clock: @escaping @Sendable () -> ContinuousClock.Instant, keepRunning: ProcessActivity = .system
    ) {
        self.keepRunning = keepRunning
        self.role = role
        self.configuration = configuration
        unwritten = InMemoryReplayStore(role: role, limit: configuration.messageLimit)
        queue = StoreQueue(StoreFile(folder: folder), timeout: configuration.busyTimeout, clock: clock)
    }

    /// Runs one transaction while no push keeps the process running: the system is asked to do so.
    func transaction<Value: Sendable>(
        _ body: @Sendable (Database) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        guard let end = keepRunning() else { throw StoreError(.busy, "the system is about to suspend the process") }
        defer { end() }
        return try sessionTransaction(body)
    }

    /// Runs one transaction of a session, see ``StoreUse``.
    func sessionTransaction<Value: Sendable>(
        _ body: @Sendable (Database) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        try queue.use { file, end throws(StoreError) in try file.transaction(until: end, body) }
    }

    func rebuildCount() throws(StoreError) -> Int {
        try queue.use { file, _ throws(StoreError) in try file.rebuildCount() }
    }
}

/// Why the store can't be used. Pushes are shown anyway.
public struct StoreError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The file is protected, and the device wasn't unlocked since its start.
        public static let locked = Code(name: "locked")
        /// The folder doesn't exist or can't be written.
        public static let unavailable = Code(name: "unavailable")
        /// Other processes or threads used the store for longer than the timeout.
        public static let busy = Code(name: "busy")
        /// The disk is full.
        public static let full = Code(name: "full")
        /// The file is damaged and couldn't be replaced.
        public static let damaged = Code(name: "damaged")
        /// A later version of this library wrote the store: the app was updated while the extension was running.
        public static let newerVersion = Code(name: "newerVersion")
        /// The system failed to read or write, or has no memory left.
        public static let inputOutput = Code(name: "inputOutput")
    }

    /// The kind of failure.
    public let code: Code
    /// The message of SQLite or the system; it contains no stored data.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    init(_ error: SQLiteError) {
        code =
            switch error.kind {
            case .locked: .locked
            case .missing, .unavailable: .unavailable
            case .busy: .busy
            case .full: .full
            case .damaged: .damaged
            case .newer: .newerVersion
            case .failed: .inputOutput
            }
        reason = error.reason
    }

    /// The name of the code and the reason.
    public var description: String { "\(code.name): \(reason)" }
}
