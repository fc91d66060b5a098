import Foundation
import GRDB

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What the service keeps, in one SQLite file for one process: a file beside it is locked, so that another process is refused.
///
/// Writes are durable when they return (`synchronous = FULL`, a write-ahead log). At the start it releases the claims of an earlier
/// process. A store for another database must keep these promises:
/// - ``accept(_:at:)`` returns when message and deliveries are durable, all or none.
/// - A delivery is claimed by one worker until ``record(_:at:)`` has its outcome, or until the worker's process has ended; several
///   processes need a lease, longer than an attempt. A claim has the registration of that moment, and never an installation that was
///   asked to register again.
/// - ``record(_:at:)`` takes all outcomes or none.
/// - A device token, and a key, belongs to one installation: the last one that registered it.
/// - A delivery is for one installation of its user. After that one is removed, no other one gets it, and a late outcome or
///   receipt of it changes no other one.
/// - An outcome that a token has ended removes an installation only if it still has this token of this server.
public final class SQLiteStore: Sendable {
    /// How long the payload of a sent push is kept for a new seal, if its device hasn't confirmed it, in milliseconds.
    static let keepsPayloadFor: Int64 = 600_000
    /// How often a push is sealed again because its device couldn't open it.
    static let largestSealCount = 3
    /// How long messages, deliveries and receipts are kept after they have ended, in milliseconds.
    static let keepsEndedFor: Int64 = 30 * 86_400_000
    /// How many uploads of a user wait for their answers. Another one replaces the oldest.
    static let largestPendingCount = 10
    /// How many installations a user has. Another one replaces the one that registered earliest.
    static let largestInstallationCount = 20
    /// How many receipts of a user are kept. Another one replaces the oldest.
    static let largestReceiptCount = 1_000

    let database: DatabasePool
    private let lock: FileHandle

    /// Opens or makes a database, which only its owner can read: it contains the secrets of registration records, and texts that
    /// wait to be sealed.
    ///
    /// - Throws: `StoreError`, also while another process uses the database.
    public convenience init(path: String) throws(StoreError) { try self.init(path: path, busyTimeoutInSeconds: 2) }

    /// - Parameter busyTimeoutInSeconds: how long a call waits for another process that has locked the file.
    init(path: String, busyTimeoutInSeconds: Double) throws(StoreError) {
        lock = try Self.lock(path + "-lock")
        var configuration = Configuration()
        configuration.busyMode = .timeout(busyTimeoutInSeconds)
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON") }
        do {
            if !FileManager.default.fileExists(atPath: path) {
                _ = FileManager.default.createFile(
                    atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            }
            database = try DatabasePool(path: path, configuration: configuration)
            try Schema.migrate(database)
            try database.write {
                // Nobody knows what APNs has answered to these.
                try $0.execute(sql: "UPDATE delivery SET is_claimed = 0, repeated = 1 WHERE state = 0 AND is_claimed")
            }
        } catch {
            throw StoreError(error)
        }
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
        do { return try await database.write(body) } catch { throw StoreError(error) }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreError) -> Value {
        do { return try await database.read(body) } catch { throw StoreError(error) }
    }

    /// A value that outlives a restart, such as the provider token; nil if there is none.
    func setting(_ name: String) async throws(StoreError) -> String? {
        try await read { try String.fetchOne($0, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name]) }
    }

    func keep(_ value: String, as name: String) async throws(StoreError) {
        try await write {
            try $0.execute(
                sql: "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                arguments: [name, value])
        }
    }
}

/// Why the store didn't do something.
public struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    enum Code: Sendable {
        /// The database is locked or damaged, or the disk is full.
        case unavailable
        /// The idempotency key was used for another message, or the id of a key for another key, or the suite of an upload ranks
        /// below that of the key that it would replace.
        case conflict
    }

    let code: Code
    /// The cause, for a log. It has no values of the database.
    let reason: String
    /// The code and the reason.
    public var description: String { "\(code): \(reason)" }
}

extension StoreError {
    /// SQLite's messages name tables and paths, never values; GRDB's description of an error quotes the arguments.
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError:
            self.init(
                code: .unavailable, reason: "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "")")
        default: self.init(code: .unavailable, reason: "\(type(of: error))")
        }
    }
}
