import Foundation
import PushCryptPrimitives
import PushCryptSQLite
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

struct StoreFolder {
    static let now = UnixTime(1_800_000_000)
    private let temporary: TemporaryFolder
    /// A folder in memory if the system has one, because each transaction waits for the disk several times.
    private static let parent =
        FileManager.default.isWritableFile(atPath: "/dev/shm")
        ? URL(fileURLWithPath: "/dev/shm", isDirectory: true) : FileManager.default.temporaryDirectory

    /// The store of the extension's first process.
    let first: SharedStore

    init(_ change: (inout SharedStore.Configuration) -> Void = { _ in }) {
        temporary = .make(in: Self.parent)
        var configuration = SharedStore.Configuration()
        change(&configuration)
        first = SharedStore(folder: temporary.path + "/store", role: .extension, configuration: configuration)
    }

    /// The store's folder, which doesn't exist before the first use.
    var path: String { temporary.path + "/store" }
    var file: URL { URL(fileURLWithPath: path + "/pushcrypt.sqlite") }

    func store(
        _ role: SharedStore.Role = .extension, _ change: (inout SharedStore.Configuration) -> Void = { _ in }
    ) -> SharedStore {
        var configuration = SharedStore.Configuration()
        change(&configuration)
        return SharedStore(folder: path, role: role, configuration: configuration)
    }

    /// Writes messages, counters and receipts to the store.
    func fill() throws {
        for role in [SharedStore.Role.app, .extension] {
            let store = store(role)
            for number in 0..<40 {
                _ = try store.claim("message-\(number)", issuedAt: Self.now + Int64(number), at: Self.now)
                if number % 2 == 0 { try store.markSeen("message-\(number)") }
            }
        }
        for number in 0..<20 {
            let failure: FailureClass? = number % 4 == 0 ? .undecryptable : nil
            store().count(.sample(failure))
            try store().spool(.sample("\(number)", failure))
        }
    }

    /// The faults that SQLite's integrity check finds; "ok" for none.
    func integrity() throws -> [String] {
        let database = try Database(path: file.path, busyTimeout: .seconds(10))
        return try database.rows("PRAGMA integrity_check") { $0.text(0) ?? "" }
    }

    func script(_ sql: StaticString) throws {
        try Database(path: file.path, busyTimeout: .seconds(10)).script(sql)
    }

    /// Runs the body while another process locks the `folder` or the `database`.
    func whileHeld(_ lock: String = "database", _ body: () async throws -> Void) async throws {
        let holder = try ExtensionProcess.start("store-hold", path, lock)
        #expect(holder.line() == "held")
        try await body()
        holder.process.kill()
        #expect(try holder.process.wait() == .signal(SIGKILL))
    }

    func copy() throws -> StoreFolder {
        let other = StoreFolder()
        try FileManager.default.copyItem(atPath: path, toPath: other.path)
        return other
    }
}

extension TemporaryFolder {
    /// A new folder, for a property of a suite.
    static func make(in parent: URL = FileManager.default.temporaryDirectory) -> TemporaryFolder {
        do { return try TemporaryFolder(in: parent) } catch { preconditionFailure("\(error)") }
    }
}

extension SharedStore {
    /// Claims a message that expires after 30 days, in the file only.
    func claim(
        _ id: String, issuedAt: UnixTime = StoreFolder.now, at time: UnixTime = StoreFolder.now
    ) throws -> Bool {
        let message = MessageStamp(name: id, issuedAt: issuedAt, expiresAt: issuedAt + MessageHeader.windowInSeconds)
        return try claimInFile(message, at: time.seconds).refusal == nil
    }

    /// Claims a message as a session does.
    func claim(
        _ id: String, issuedAt: UnixTime, expiresAt: UnixTime, at time: UnixTime = StoreFolder.now
    ) throws -> Result<MessageClaim, FailureClass> {
        let message = MessageStamp(name: id, issuedAt: issuedAt, expiresAt: expiresAt)
        let isReserved = reserve(message, at: time)
        return try claim(message, isReserved: isReserved, at: time).refusal.map { .failure($0) }
            ?? .success(message.claim)
    }

    /// Marks a message as seen, in the file only.
    func markSeen(_ id: String) throws {
        try transaction { [role] database throws(SQLiteError) in
            _ = try database.run(
                "UPDATE message SET claimed = NULL WHERE role = ? AND name = ?", .integer(role.number), .text(id))
        }
    }

    func markSeen(_ claim: MessageClaim) throws { _ = try record(DeliveryRecord(claim: claim, isShown: true)) }
    func release(_ claim: MessageClaim) throws { _ = try record(DeliveryRecord(claim: claim)) }
    func count(_ report: DeliveryReport) { _ = try? record(DeliveryRecord(report: report)) }

    func spool(_ receipt: Receipt) throws {
        try transaction { [configuration] database throws(SQLiteError) in try database.spool(receipt, configuration) }
    }

    func replayState() throws -> ReplayState {
        try transaction { [role] database throws(SQLiteError) in try ReplayState.read(database, role) }
    }

    func isSeen(_ id: String) throws -> Bool {
        try transaction { [role] database throws(SQLiteError) in
            try database.integer(
                "SELECT 1 FROM message WHERE role = ? AND name = ? AND claimed IS NULL", .integer(role.number),
                .text(id)) != nil
        }
    }

    func rememberedIDs() throws -> [String] {
        try transaction { [role] database throws(SQLiteError) in
            try database.rows("SELECT name FROM message WHERE role = ? ORDER BY name", [.integer(role.number)]) {
                $0.text(0) ?? ""
            }
        }
    }
}

extension DeliveryReport {
    static func sample(
        _ failure: FailureClass? = nil, _ messageID: String? = nil, pushID: String? = nil,
        at time: UnixTime = StoreFolder.now, kid: KeyID? = nil, isSelfTest: Bool = false,
        stageFailures: [StageFailure] = []
    ) -> DeliveryReport {
        DeliveryReport(
            failure: failure, isRestored: failure == nil || failure == .attachmentFailed, time: time, kid: kid,
            messageID: messageID, pushID: pushID, isSelfTest: isSelfTest, stageFailures: stageFailures)
    }
}

extension Receipt {
    static func sample(
        _ name: String, _ failure: FailureClass? = nil, at time: UnixTime = StoreFolder.now
    ) throws -> Receipt {
        let id = (Array(name.utf8) + [UInt8](repeating: 0, count: 16)).prefix(16)
        return try Receipt(.sample(failure, Base64URL.encode(Array(id)), pushID: name, at: time))
    }
}

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
