import Foundation
import GRDB

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A ``PushStore`` in one SQLite file, for one process: a file beside it is locked, so that another process is refused.
///
/// Writes are durable when they return (`synchronous = FULL`, a write-ahead log). At the start it releases the claims of an earlier
/// process.
public final class SQLiteStore: PushStore {
    /// How the store behaves.
    public struct Options: Sendable {
        /// How long a call waits for another process that has locked the file.
        public var busyTimeoutInSeconds: Double = 2
        /// How long the payload of a sent push is kept for a new seal, if its device hasn't confirmed it, in milliseconds.
        public var keepsPayloadFor: Int64 = 600_000
        /// How often a push is sealed again because its device couldn't open it.
        public var largestSealCount = 3
        /// How long messages, deliveries and receipts are kept after they have ended, in milliseconds. A message ends when it
        /// expires.
        public var keepsEndedFor: Int64 = 30 * 86_400_000
        /// How many uploads of a user wait for their answers. Another one replaces the oldest.
        public var largestPendingCount = 10
        /// How many installations a user has. Another one replaces the one that registered earliest.
        public var largestInstallationCount = 20
        /// How many receipts of a user are kept. Another one replaces the oldest.
        public var largestReceiptCount = 1_000
        /// The largest size of the file in pages of 4,096 bytes; nil for no limit. Writes beyond it fail as on a full disk.
        public var pageLimit: Int?

        /// Creates options with the defaults.
        public init() {}
    }

    let database: DatabasePool
    let options: Options
    private let writes: GroupedWrites
    private let lock: FileHandle

    /// Opens or makes a database, which only its owner can read: it contains the secrets of registration records, and texts that
    /// wait to be sealed.
    ///
    /// - Throws: `StoreError`, also while another process uses the database.
    public init(path: String, options: Options = Options()) throws(StoreError) {
        self.options = options
        lock = try Self.lock(path + "-lock")
        var configuration = Configuration()
        configuration.busyMode = .timeout(options.busyTimeoutInSeconds)
        configuration.label = "pushes"
        configuration.maximumReaderCount = 4
        configuration.prepareDatabase { [pageLimit = options.pageLimit] db in
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON")
            if let pageLimit { try db.execute(sql: "PRAGMA max_page_count = \(pageLimit)") }
        }
        do {
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(
                    atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            }
            database = try DatabasePool(path: path, configuration: configuration)
            try Schema.migrate(database)
            try database.write {
                // Nobody knows what APNs has answered to these.
                try $0.execute(sql: "UPDATE delivery SET leased = 0, repeated = 1 WHERE state = 0 AND leased > 0")
            }
        } catch {
            throw StoreError(error)
        }
        writes = GroupedWrites(database)
    }

    /// Locks a file until the object or the process ends.
    private static func lock(_ path: String) throws(StoreError) -> FileHandle {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreError(code: .unavailable, reason: "the lock file can't be opened") }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw StoreError(code: .unavailable, reason: "another process uses this database")
        }
        return file
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do { return try await writes.write(body) } catch { throw StoreError(error) }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do { return try await database.read(body) } catch { throw StoreError(error) }
    }

    public func setting(_ name: String) async throws -> String? {
        try await read { try String.fetchOne($0, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name]) }
    }

    public func keep(_ value: String, as name: String) async throws {
        try await write {
            try $0.execute(
                sql: "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                arguments: [name, value])
        }
    }
}

extension StoreError {
    /// SQLite's messages name tables and paths, never values; GRDB's description of an error quotes the arguments.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError:
            let isDamaged = [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_CONSTRAINT].contains(error.resultCode)
            self.init(
                code: isDamaged ? .damaged : .unavailable,
                reason: "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "")")
        case is CancellationError: self.init(code: .unavailable, reason: "the call was cancelled")
        default: self.init(code: .unavailable, reason: "\(type(of: error))")
        }
    }
}
