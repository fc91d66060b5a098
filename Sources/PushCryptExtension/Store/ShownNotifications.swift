public import PushCryptCore
import PushCryptSQLite

/// Removes notifications that are on the screen. On Apple's systems it is the notification centre.
public protocol DeliveredNotifications: Sendable {
    /// Removes the notifications with these names, `UNNotificationRequest.identifier`. A name without a notification is
    /// ignored. It may be called on any thread, and returns at once.
    func remove(_ requestIDs: [String])
}

/// Which notification shows which message, within a transaction: at most 512, until the messages expire.
///
/// ```
/// register   with the claim; a later message of the same name replaces the notification, so also its row
/// due        the message has expired or was retracted
/// forget     a due notification that was removed from the screen, a minute after its claim: until then its session may not
///            have handed it over, and the next run removes it once more
/// ```
extension ReplayMemory {
    static let shownLimit: Int64 = 512

    /// - Parameter clock: the time of the claim.
    func register(_ message: MessageStamp, isRetracted: Bool, at clock: Int64) throws(SQLiteError) {
        guard role == .extension, let requestID = message.requestID else { return }
        try database.run(
            "INSERT OR REPLACE INTO shown (request, name, profile, time, expires) VALUES (?, ?, ?, ?, ?)",
            .text(requestID), .text(message.name), .integer(Int64(message.profile)), .integer(clock),
            .integer(isRetracted ? 0 : message.expiresAt.seconds))
        try database.run(
            "DELETE FROM shown WHERE number IN (SELECT number FROM shown ORDER BY number DESC LIMIT -1 OFFSET ?)",
            .integer(Self.shownLimit))
    }

    /// Registers the message unless its notification has a row.
    func registerIfMissing(_ message: MessageStamp, isRetracted: Bool, at clock: Int64) throws(SQLiteError) {
        guard let requestID = message.requestID else { return }
        let row = try database.first(
            "SELECT 1 FROM shown WHERE request = ? AND name = ?", .text(requestID), .text(message.name)
        ) { _ in true }
        if row == nil { try register(message, isRetracted: isRetracted, at: clock) }
    }

    /// The names of the notifications to remove from the screen.
    ///
    /// - Parameter own: the notification that is being restored, which isn't on the screen yet.
    func dueRequestIDs(at clock: Int64, except own: String?) throws(SQLiteError) -> [String] {
        guard role == .extension else { return [] }
        return try Self.dueRequestIDs(database, at: clock).filter { $0 != own }
    }

    fileprivate static func dueRequestIDs(_ database: Database, at clock: Int64) throws(SQLiteError) -> [String] {
        try database.rows("SELECT request FROM shown WHERE expires <= ? ORDER BY number", [.integer(clock)]) {
            $0.text(0) ?? ""
        }
    }

    /// Forgets notifications that were removed from the screen.
    static func forget(_ requestIDs: [String], in database: Database, at clock: Int64) throws(SQLiteError) {
        for requestID in requestIDs {
            try database.run(
                "DELETE FROM shown WHERE request = ?1 AND expires <= ?2 AND abs(?2 - time) >= ?3", .text(requestID),
                .integer(clock), .integer(claimLifetimeInSeconds))
        }
    }

    /// Forgets a notification whose name was given to other content, such as a placeholder.
    func forgetReplaced(_ requestID: String) throws(SQLiteError) {
        try database.run("DELETE FROM shown WHERE request = ?", .text(requestID))
    }
}

extension SharedStore {
    /// Removes the notifications from the screen whose messages have expired or were retracted. The extension does the same
    /// with each message that it receives; the app calls this when it starts or becomes active.
    ///
    /// - Throws: `StoreError`.
    public func sweep(_ notifications: any DeliveredNotifications, at time: UnixTime = .now) throws {
        let clock = Self.clock(time)
        let due = try transaction { database throws(SQLiteError) in
            try ReplayMemory.dueRequestIDs(database, at: clock)
        }
        guard !due.isEmpty else { return }
        notifications.remove(due)
        try transaction { database throws(SQLiteError) in try ReplayMemory.forget(due, in: database, at: clock) }
    }
}
