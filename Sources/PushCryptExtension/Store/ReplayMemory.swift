package import PushCryptCore
import PushCryptSQLite

/// The messages that a role has claimed (PROTOCOL section 5), by their names M, within a transaction.
///
/// ```
/// keep     (M, iat) until iat + window + 10 min < H; for a message that was sealed again, the latest received iat
/// full     remove messages ahead of L and the clock first, then the smallest iat; refuse everything at or below it
/// lapse    a claim lapses after 60 s
/// effects  applied with the claim, once for an M; see ``MessageEffects``
/// ```
struct ReplayMemory {
    static let claimLifetimeInSeconds: Int64 = 60
    /// How many seconds below H a message is still remembered.
    static let memoryInSeconds = MessageHeader.windowInSeconds + Freshness.toleranceInSeconds

    let database: Database
    let role: SharedStore.Role
    let limit: Int

    /// Checks the freshness of a message and claims it.
    ///
    /// - Parameters:
    ///   - clock: within the protocol's range, like the times of the message.
    ///   - refuse: called when the message is refused as retracted or as a repeat, before anything is written.
    /// - Returns: why the message isn't shown; nil if it is claimed.
    func admit(
        _ message: MessageStamp, at clock: Int64, refuse: (FailureClass) -> Void
    ) throws(SQLiteError) -> FailureClass? {
        let stored = try ReplayState.read(database, role)
        let failure = Freshness.failure(
            issuedAt: message.issuedAt, expiresAt: message.expiresAt, clock: UnixTime(clock),
            highestIssuedAt: stored.highest(at: clock).map(UnixTime.init))
        if let failure { return failure }
        // Looked for before the claim: no replay policy shows a retracted message.
        let isRetracted = try isRetracted(message)
        if isRetracted { refuse(.retracted) }
        let claim = message.claim
        var state = stored
        state.correct(at: clock)
        let isGranted = try grant(claim, at: clock, state, refuse)
        if isGranted {
            state.accept(claim.issuedAt.seconds, at: clock)
            try apply(message, latest: state.latest)
            if let confirmed = state.confirmed {
                try database.run(
                    "DELETE FROM message WHERE role = ? AND iat < ?", .integer(role.number),
                    .integer(confirmed - Self.memoryInSeconds))
            }
            try removeTombstones(&state)
            try evict(&state, at: clock)
        }
        try register(message, isRetracted: isRetracted, at: clock)
        // The correction is written for a refused message too; otherwise the floor would rise with the clock.
        if state != stored { try state.write(database, role) }
        if isRetracted { return .retracted }
        return isGranted ? nil : .replayed
    }

    private func grant(
        _ claim: MessageClaim, at clock: Int64, _ state: ReplayState, _ refuse: (FailureClass) -> Void
    ) throws(SQLiteError) -> Bool {
        let issuedAt = claim.issuedAt.seconds
        let known = try database.first(
            "SELECT claimed FROM message WHERE role = ? AND name = ?", .integer(role.number), .text(claim.name)
        ) { $0.integer(0) }
        // An inner nil: the message was seen.
        if let claimed = known {
            let isGranted = claimed.map { Self.hasLapsed($0, at: clock) } ?? false
            if !isGranted { refuse(.replayed) }
            try prolong(claim)
            guard isGranted else { return false }
            try database.run(
                "UPDATE message SET claimed = ?, token = ? WHERE role = ? AND name = ?", .integer(clock),
                .integer(claim.token), .integer(role.number), .text(claim.name))
            return true
        }
        if let floor = state.floor, issuedAt <= floor { return false }
        if let confirmed = state.confirmed, issuedAt < confirmed - Self.memoryInSeconds { return false }
        try adopt([RememberedMessage(claim: claim, time: clock)])
        return true
    }

    /// Whether the message was claimed or seen, and its effects were applied.
    func knows(_ claim: MessageClaim) throws(SQLiteError) -> Bool {
        try database.integer(
            "SELECT 1 FROM message WHERE role = ? AND name = ?", .integer(role.number), .text(claim.name)) != nil
    }

    /// Remembers a message until the time for its latest `iat`.
    ///
    /// A campaign message that was sealed again has the same id and a later iat. It may be shown for longer than the first
    /// one, so it is remembered for longer: a relay could delay it until the first one is forgotten. An exact repeat, which
    /// everyone can send, writes nothing.
    func prolong(_ claim: MessageClaim) throws(SQLiteError) {
        try database.run(
            "UPDATE message SET iat = ?1 WHERE role = ?2 AND name = ?3 AND iat < ?1", .integer(claim.issuedAt.seconds),
            .integer(role.number), .text(claim.name))
    }

    /// Ends a claim. A message whose effects were applied is kept, so that they aren't applied again, with a claim that has
    /// lapsed at every clock.
    func release(_ claim: MessageClaim) throws(SQLiteError) {
        try database.run(
            """
            DELETE FROM message WHERE role = ? AND name = ? AND token = ? AND claimed IS NOT NULL AND applied = 0
            """, .integer(role.number), .text(claim.name), .integer(claim.token))
        try database.run(
            "UPDATE message SET claimed = ? WHERE role = ? AND name = ? AND token = ? AND claimed IS NOT NULL",
            .integer(-Self.claimLifetimeInSeconds), .integer(role.number), .text(claim.name),
            .integer(claim.token))
    }

    /// Adds messages that were remembered elsewhere, with their effects. A message that was seen in either place becomes
    /// seen.
    func adopt(_ messages: [RememberedMessage]) throws(SQLiteError) {
        // SQLite's max of two values is NULL if one of them is NULL.
        for message in messages {
            try database.run(
                """
                INSERT INTO message (role, name, iat, claimed, token) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (role, name) DO UPDATE
                SET iat = max(iat, excluded.iat), claimed = max(claimed, excluded.claimed), token = excluded.token
                """, .integer(role.number), .text(message.claim.name), .integer(message.claim.issuedAt.seconds),
                SQLiteValue(message.time), .integer(message.claim.token))
            database.rowBounds[role.number]? += 1
            guard let stamp = message.stamp else { continue }
            try apply(stamp, latest: nil)
            try register(stamp, isRetracted: isRetracted(stamp), at: message.time ?? 0)
        }
    }

    /// Whether the clock differs by the lifetime or more in either direction; otherwise a clock that is set back would keep
    /// a claim for years.
    static func hasLapsed(_ claimed: Int64, at clock: Int64) -> Bool {
        let (difference, overflow) = clock.subtractingReportingOverflow(claimed)
        return overflow || difference.magnitude >= UInt64(claimLifetimeInSeconds)
    }

    /// How many messages are over the limit. They are counted only if there may be as many: that reads them all.
    private func excess() throws(SQLiteError) -> Int64 {
        let limit = Int64(max(limit, 1))
        if let bound = try database.knownRowBounds()[role.number], bound <= limit { return 0 }
        let count = try database.integer("SELECT count(*) FROM message WHERE role = ?", .integer(role.number)) ?? 0
        database.rowBounds[role.number] = count
        return max(count - limit, 0)
    }

    /// Removes messages over the limit, perhaps also the new message: it was granted, and from now on the floor refuses it.
    private func evict(_ state: inout ReplayState, at clock: Int64) throws(SQLiteError) {
        var excess = try excess()
        guard excess > 0 else { return }
        // Messages accepted while the clock was ahead can't be shown now, and would fill the memory until their time.
        excess -= Int64(
            try database.run(
                """
                DELETE FROM message WHERE role = ?1 AND name IN
                (SELECT name FROM message WHERE role = ?1 AND iat > ?2 ORDER BY iat DESC, name LIMIT ?3)
                """, .integer(role.number),
                .integer(max(clock, state.latest ?? clock) + Freshness.toleranceInSeconds), .integer(excess)))
        let oldest = try database.rows(
            "SELECT name, iat FROM message WHERE role = ? ORDER BY iat, name LIMIT ?",
            [.integer(role.number), .integer(excess)]
        ) { (name: $0.text(0) ?? "", issuedAt: $0.integer(1) ?? 0) }
        for message in oldest {
            try database.run(
                "DELETE FROM message WHERE role = ? AND name = ?", .integer(role.number), .text(message.name))
            state.floor = max(state.floor ?? message.issuedAt, message.issuedAt)
        }
    }
}

/// A message that a session claims.
package struct MessageStamp: Hashable, Sendable {
    package let claim: MessageClaim
    let expiresAt: UnixTime
    /// What its sender proved, see ``OpenedPush/profile``.
    package var profile: UInt8 = 0
    package var effects = MessageEffects()
    /// The system's name of the notification that shows it, if it is known.
    package var requestID: String?

    var name: String { claim.name }
    var issuedAt: UnixTime { claim.issuedAt }

    /// - Parameter name: see ``OpenedPush/name``.
    package init(name: String, issuedAt: UnixTime, expiresAt: UnixTime) {
        claim = MessageClaim(name: name, issuedAt: issuedAt)
        self.expiresAt = expiresAt
    }

    package init(_ push: OpenedPush, requestID: String?) {
        self.init(name: push.name, issuedAt: push.issuedAt, expiresAt: push.expiresAt)
        profile = push.profile
        effects = MessageEffects(push)
        self.requestID = requestID
    }
}

/// A row of the memory.
struct RememberedMessage: Hashable, Sendable {
    let claim: MessageClaim
    /// The time of the claim; nil after the message was seen.
    let time: Int64?
    /// The message, if its effects weren't applied in the file.
    var stamp: MessageStamp?
}
