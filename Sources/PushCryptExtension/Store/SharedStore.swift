import PushCryptPrimitives
import PushCryptSQLite

/// The store that the app and its extension share: which messages were shown, counters, receipts to send. Make one object per
/// process and role.
///
/// The folder lies in the container of an app group that both belong to
/// (`FileManager.containerURL(forSecurityApplicationGroupIdentifier:)` and a name of its own below it). The files have
/// the protection class `completeUntilFirstUserAuthentication`: a push that comes after a restart and before the first
/// unlock meets `StoreError` with `locked`. They hold ids, times and counts, nothing of any content.
///
/// Its processes may be killed or suspended at any time. Nothing is read before the first use; between two calls the
/// connection holds no lock, so that the system has no reason to end a suspended process (`0xdead10cc`); each call is one
/// short transaction. An app that calls it while it goes to the background does so within
/// `beginBackgroundTask`. A damaged file is replaced by an empty store, and counted.
///
/// A store that can't be used keeps no message from being read. While another process holds it, the first call waits for
/// ``Configuration/busyTimeout``, and those that follow for 10 ms at most, until one succeeds or 5 seconds have passed.
/// What was shown while the file couldn't be read or written (locked, damaged, on a full disk) is remembered in memory:
/// the process shows none of it twice, and writes it to the file as soon as that works. If the process ends before, it is
/// forgotten, and a message that comes again while it is fresh is shown again.
///
/// A message is claimed before it is shown and marked as seen after it was handed to the system. Where the process is
/// killed between the two, it is unknown whether it was shown. The claim lapses after 60 seconds, and the message is
/// shown if it comes again after that: the protocol prefers a message shown twice to one that is lost.
public final class SharedStore: Sendable {
    /// Who uses the store. A push with `content-available` reaches both, and each of them shows it once.
    public struct Role: Hashable, Sendable {
        let number: Int64

        /// The app itself.
        public static let app = Role(number: 1)
        /// The notification service extension.
        public static let `extension` = Role(number: 2)
    }

    /// How much is kept, and how long a call may wait.
    public struct Configuration: Sendable {
        /// How many messages of each role are remembered. When there are more, the oldest is forgotten and whatever is
        /// as old as it is refused. 10,000 take about 1 MB on disk.
        public var messageLimit = 10_000
        /// How many receipts wait to be sent. When there are more, failures go first, then the oldest.
        public var receiptLimit = 1_000
        /// How long a receipt waits to be sent.
        public var receiptLifetimeInSeconds: Int64 = 7 * 86_400
        /// How long a call waits in all, for other threads and other processes: a minute at most, and well below the
        /// 25 seconds of a session, which makes one call before its text is restored.
        public var busyTimeout: Duration = .seconds(2)

        /// The defaults of the members.
        public init() {}
    }

    let role: Role
    let configuration: Configuration
    /// The numbers of receipts that are being sent.
    let sending = Locked<Set<Int64>>([])
    /// What couldn't be written to the file.
    let unwritten: InMemoryReplayStore
    let claimedMessages = ClaimedMessages()
    /// Claims in the file whose release couldn't be written.
    let unwrittenReleases = Locked<[MessageClaim]>([])
    private let queue: StoreQueue

    /// - Parameters:
    ///   - folder: the path of a folder for the store alone; it is made where there is none, those above it aren't.
    ///   - role: who uses it.
    public convenience init(folder: String, role: Role, configuration: Configuration = Configuration()) {
        self.init(folder: folder, role: role, configuration: configuration, clock: { .now })
    }

    /// - Parameter clock: tells how long the store has been busy.
    init(
        folder: String, role: Role, configuration: Configuration,
        clock: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.role = role
        self.configuration = configuration
        unwritten = InMemoryReplayStore(role: role, limit: configuration.messageLimit)
        queue = StoreQueue(StoreFile(folder: folder), timeout: configuration.busyTimeout, clock: clock)
    }

    /// One statement.
    func perform<Value: Sendable>(
        _ body: @Sendable (Database) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        try queue.use { file, end throws(StoreError) in try file.perform(until: end, body) }
    }

    /// Several statements, all or none of them.
    func transaction<Value: Sendable>(
        _ body: @Sendable (Database) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        try perform { database throws(SQLiteError) in
            try database.transaction { () throws(SQLiteError) in try body(database) }
        }
    }

    func rebuildCount() throws(StoreError) -> Int {
        try queue.use { file, _ throws(StoreError) in try file.rebuildCount() }
    }
}

/// Why the store can't be used. A push is shown all the same.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The file is protected and the device wasn't unlocked since it started.
        public static let locked = Code(name: "locked")
        /// The folder isn't there, or can't be written.
        public static let unavailable = Code(name: "unavailable")
        /// Another process holds the store, or other threads wait for it, for longer than the time-out.
        public static let busy = Code(name: "busy")
        /// There is no room on the disk.
        public static let full = Code(name: "full")
        /// The file is damaged, and no new one could be put in its place.
        public static let damaged = Code(name: "damaged")
        /// A later version of this library wrote the store: an extension that was still running while the app was
        /// updated.
        public static let newerVersion = Code(name: "newerVersion")
        /// The system failed to read or write, or has no memory.
        public static let inputOutput = Code(name: "inputOutput")
    }

    /// The kind of failure.
    public let code: Code
    /// What SQLite or the system says; nothing of what is stored.
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
