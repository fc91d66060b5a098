import PushCryptPrimitives
import PushCryptSQLite

/// What the app and its extension remember together: which messages were shown, counters, receipts to send. One object
/// per process and role.
///
/// The folder lies in the container of an app group that both belong to
/// (`FileManager.containerURL(forSecurityApplicationGroupIdentifier:)` and a name of its own below it). The files have
/// the protection class `completeUntilFirstUserAuthentication`: a push that comes after a restart and before the first
/// unlock meets `StoreError` with `locked`. They hold ids, times and counts, nothing of any content.
///
/// It is made for processes that are killed and suspended at any time. Nothing is read before the first use; between
/// two calls the connection holds no lock, so that the system has no reason to end a suspended process (`0xdead10cc`);
/// each call is one short transaction. An app that calls it while it goes to the background does so within
/// `beginBackgroundTask`. A damaged file is replaced by an empty store, and counted.
public final class SharedStore: Sendable {
    /// Who uses the store. A push with `content-available` reaches both, and each of them shows it once.
    public struct Role: Hashable, Sendable {
        let number: Int64

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
        /// How long a call waits for another process, at each of up to three locks: well below the 25 seconds of a
        /// session.
        public var busyTimeout: Duration = .seconds(2)

        public init() {}
    }

    let role: Role
    let configuration: Configuration
    /// The numbers of receipts that are being sent.
    let sending = Locked<Set<Int64>>([])
    private let file: Locked<StoreFile>

    /// - Parameters:
    ///   - folder: the path of a folder for the store alone; it is made where there is none, those above it aren't.
    ///   - role: who uses it.
    public init(folder: String, role: Role, configuration: Configuration = Configuration()) {
        self.role = role
        self.configuration = configuration
        file = Locked(StoreFile(folder: folder, timeout: configuration.busyTimeout))
    }

    /// One statement.
    func perform<Value: Sendable>(
        _ body: @Sendable (Database) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        let result = file.withLock { file in
            Result { () throws(StoreError) in try file.perform(body) }
        }
        return try result.get()
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
        let result = file.withLock { file in
            Result { () throws(StoreError) in try file.rebuildCount() }
        }
        return try result.get()
    }
}
