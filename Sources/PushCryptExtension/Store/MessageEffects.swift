import PushCryptCore
import PushCryptPrimitives
import PushCryptSQLite

/// The changes that a message makes to other notifications and to the badge (PROTOCOL section 11).
package struct MessageEffects: Hashable, Sendable {
    /// A change of the number on the app's icon.
    package enum BadgeChange: Hashable, Sendable {
        case add(Int)
        case set(Int)
    }

    /// The ids of the messages that it takes back, each 22 characters of base64url.
    package var retractedIDs: [String] = []
    package var badge: BadgeChange?

    package init(retractedIDs: [String] = [], badge: BadgeChange? = nil) {
        self.retractedIDs = retractedIDs
        self.badge = badge
    }

    /// A message of the base profile has none, because everyone with the public key could have sealed it.
    init(_ push: OpenedPush) {
        guard push.profile != 0 else { return }
        retractedIDs = push.retractedMessageIDs
        badge = push.badgeIncrement.map { .add($0) } ?? push.content.badge.map { .set($0) }
    }

    var isEmpty: Bool { retractedIDs.isEmpty && badge == nil }
}

extension ReplayMemory {
    /// Applies the effects of a claimed message, once for its id: a claim that has lapsed may be granted again.
    ///
    /// The effects of a retracted message are applied too, so that the order in which two messages are received doesn't
    /// matter: it may itself retract a message that is on the screen, or count for a badge that the other message lowers.
    ///
    /// - Parameter latest: the highest accepted `iat`, this message's included; nil if it isn't known.
    func apply(_ message: MessageStamp, latest: Int64?) throws(SQLiteError) {
        guard role == .extension, !message.effects.isEmpty else { return }
        let changedCount = try database.run(
            "UPDATE message SET applied = 1 WHERE role = ? AND id = ? AND applied = 0", .integer(role.number),
            .text(message.id))
        guard changedCount > 0 else { return }
        for id in message.effects.retractedIDs { try retract(id, by: message) }
        if let change = message.effects.badge {
            var badge = try BadgeCounter.read(database)
            badge.apply(change, issuedAt: message.issuedAt.seconds, latest: latest)
            try badge.write(database)
        }
    }

    private func retract(_ id: String, by message: MessageStamp) throws(SQLiteError) {
        let digest = try Self.digest(id)
        try database.run(
            """
            INSERT INTO tombstone (id, profile, iat) VALUES (?, ?, ?)
            ON CONFLICT (id, profile) DO UPDATE SET iat = max(iat, excluded.iat)
            """, .text(digest), .integer(Int64(message.profile)), .integer(message.issuedAt.seconds))
        try database.run(
            "UPDATE shown SET expires = 0 WHERE id = ? AND (profile & ?) = profile", .text(digest),
            .integer(Int64(message.profile)))
    }

    /// Whether a message was retracted by one whose sender proved at least as much.
    func isRetracted(_ message: MessageStamp) throws(SQLiteError) -> Bool {
        guard role == .extension else { return false }
        return try database.integer(
            "SELECT 1 FROM tombstone WHERE id = ?1 AND (profile & ?2) = ?2", .text(Self.digest(message.id)),
            .integer(Int64(message.profile))) != nil
    }

    /// The present number for the app's icon, if the message changes it.
    func badge(for message: MessageStamp) throws(SQLiteError) -> Int? {
        role == .extension && message.effects.badge != nil ? try BadgeCounter.read(database).value : nil
    }

    /// Removes the tombstones of messages that are too old to be accepted, and those over the limit: the floor then refuses
    /// the messages that were retracted, because a message is retracted after it was issued.
    func removeTombstones(_ state: inout ReplayState) throws(SQLiteError) {
        if let confirmed = state.confirmed {
            try database.run("DELETE FROM tombstone WHERE iat < ?", .integer(confirmed - Self.memoryInSeconds))
        }
        let excess = try (database.integer("SELECT count(*) FROM tombstone") ?? 0) - Int64(max(limit, 1))
        guard excess > 0 else { return }
        let last = try database.integer("SELECT iat FROM tombstone ORDER BY iat LIMIT 1 OFFSET ?", .integer(excess - 1))
        guard let last else { return }
        try database.run("DELETE FROM tombstone WHERE iat <= ?", .integer(last))
        state.floor = max(state.floor ?? last, last)
    }

    /// SHA-256 of a message id, base64url: the tables of section 11 have no id that a receipt or a retraction names.
    static func digest(_ id: String) throws(SQLiteError) -> String {
        let characters = Array(id.utf8)
        do {
            return Base64URL.encode(try DefaultBackend.shared.sha256(characters.bytes))
        } catch {
            throw SQLiteError(.failed, "no digest can be computed")
        }
    }
}
