public import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// The notifications that the extension restored, so that the app can tell them from others: a relay can send a push without
/// `mutable-content`, which never reaches the extension, with any `userInfo`.
///
/// ```
/// digest = SHA-256("pushcrypt/1 restored" || 0x00 || u32(length of the name) || name || userInfo)
/// keep     at most 512, until the message expires
/// ```
/// The name is the system's name of the notification. `userInfo` is JSON, the same for extension and app.
enum RestoredNotifications {
    static let limit = 512

    /// base64url; nil if the backend fails.
    static func digest(requestID: String, userInfo: [UInt8]) -> String? {
        var input = Array("pushcrypt/1 restored\0".utf8)
        let count = UInt32(clamping: requestID.utf8.count)
        for shift in [24, 16, 8, 0] { input.append(UInt8(truncatingIfNeeded: count >> UInt32(shift))) }
        input += requestID.utf8
        input += userInfo
        return (try? DefaultBackend.shared.sha256(input.bytes)).map { Base64URL.encode($0) }
    }
}

/// What is remembered of a restored notification.
package struct RestoredMark: Hashable, Sendable {
    let digest: String
    let messageID: String
    let expiresAt: UnixTime

    /// - Parameter userInfo: as the app will receive it.
    init?(_ push: OpenedPush, requestID: String, userInfo: [UInt8]) {
        guard let digest = RestoredNotifications.digest(requestID: requestID, userInfo: userInfo) else { return nil }
        self.digest = digest
        messageID = push.messageID
        expiresAt = push.expiresAt
    }
}

extension Database {
    func remember(_ mark: RestoredMark, at time: UnixTime) throws(SQLiteError) {
        try run("DELETE FROM restored WHERE expires <= ?", .integer(time.seconds))
        try run(
            "INSERT OR REPLACE INTO restored (digest, message, expires) VALUES (?, ?, ?)", .text(mark.digest),
            .text(mark.messageID), .integer(mark.expiresAt.seconds))
        try run(
            "DELETE FROM restored WHERE number IN (SELECT number FROM restored ORDER BY number DESC LIMIT -1 OFFSET ?)",
            .integer(Int64(RestoredNotifications.limit)))
    }
}

extension SharedStore {
    /// Looks for a notification among those that the extension restored.
    ///
    /// - Parameters:
    ///   - requestID: the system's name of the notification.
    ///   - userInfo: JSON, as the app received it.
    /// - Returns: the id of its message, 22 characters of base64url; nil if the extension didn't restore it, the message has
    ///   expired, or the store has forgotten it.
    /// - Throws: `StoreError`.
    public func restoredMessageID(requestID: String, userInfo: [UInt8], at time: UnixTime = .now) throws -> String? {
        guard let digest = RestoredNotifications.digest(requestID: requestID, userInfo: userInfo) else { return nil }
        return try transaction { database throws(SQLiteError) in
            try database.first(
                "SELECT message FROM restored WHERE digest = ? AND expires > ?", .text(digest), .integer(time.seconds)
            ) { $0.text(0) ?? "" }
        }
    }
}
