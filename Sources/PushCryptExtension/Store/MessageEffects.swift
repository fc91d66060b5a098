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

    /// The names of the messages that it takes back, see ``OpenedPush/name``.
    package var retractedNames: [String] = []
    package var badge: BadgeChange?

    package init(retractedNames: [String] = [], badge: BadgeChange? = nil) {
        self.retractedNames = retractedNames
        self.badge = badge
    }

    /// A message of the base profile has none, because everyone with the public key could have sealed it.
    init(_ push: OpenedPush) {
        guard push.profile != 0 else { return }
        retractedNames = push.retractedNames
        badge = push.badgeIncrement.map { .add($0) } ?? push.content.badge.map { .set($0) }
    }

    var isEmpty: Bool { retractedNames.isEmpty && badge == nil }
}

extension ReplayMemory {
    /// Applies the effects of a claimed message, once for its name: a claim that has lapsed may be granted again.
    ///
    /// The effects of a retracted message are applied too, so that the order in which two messages are received doesn't
    /// matter: it may itself retract a message that is on the screen, or count for a badge that the other message lowers.
    ///
    /// - Parameter latest: the highest accepted `iat`, this message's included; nil if it isn't known.
    func apply(_ message: MessageStamp, latest: Int64?) throws(SQLiteError) {
        guard role == .extension, !message.effects.isEmpty else { return }
        let changedCount = try database.run(
            "UPDATE message SET applied = 1 WHERE role = ? AND name = ? AND applied = 0", .integer(role.number),
            .text(message.name))
        guard changedCount > 0 else { return }
        for name in message.effects.retractedNames { try retract(name, by: message) }
        if let change = message.effects.badge {
            var badge = try BadgeCounter.read(database)
            badge.apply(change, issuedAt: message.issuedAt.seconds, latest: latest)
            try badge.write(database)
        }
    }

    private func retract(_ name: String, by message: MessageStamp) throws(SQLiteError) {
        try database.run(
            """
            INSERT INTO tombstone (name, profile, iat) VALUES (?, ?, ?)
            ON CONFLICT (name, profile) DO UPDATE SET iat = max(iat, excluded.iat)
            """, .text(name), .integer(Int64(message.profile)), .integer(message.issuedAt.seconds))
        try database.run(
            "UPDATE shown SET expires = 0 WHERE name = ? AND (profile & ?) = profile", .text(name),
            .integer(Int64(message.profile)))
    }

    /// Whether a message was retracted by one of its sender, with at least its proof.
    func isRetracted(_ message: MessageStamp) throws(SQLiteError) -> Bool {
        guard role == .extension else { return false }
        return try database.integer(
            "SELECT 1 FROM tombstone WHERE name = ?1 AND (profile & ?2) = ?2", .text(message.name),
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
}
