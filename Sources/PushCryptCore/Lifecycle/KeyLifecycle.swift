/// The state of a key at a time.
///
/// ```
/// pending -> primary -> retiring -> expired -> destroyed
/// any of them -> revoked -> destroyed
/// ```
public struct KeyState: Hashable, Sendable, CustomStringConvertible {
    /// The name, as in `primary`.
    public let description: String
    /// The state of a key never changes to one with a lower rank.
    package let rank: Int

    private init(_ name: String, rank: Int) {
        description = name
        self.rank = rank
    }

    /// The key is published and opens; it doesn't seal yet.
    public static let pending = KeyState("pending", rank: 0)
    /// The key that seals.
    public static let primary = KeyState("primary", rank: 1)
    /// The key opens pushes that are still in flight; it no longer seals.
    public static let retiring = KeyState("retiring", rank: 2)
    /// The key no longer opens.
    public static let expired = KeyState("expired", rank: 3)
    /// The key was revoked: it neither seals nor opens.
    public static let revoked = KeyState("revoked", rank: 4)
    /// The key's material is erased; its id is never used again.
    public static let destroyed = KeyState("destroyed", rank: 5)

    /// Whether a key in this state opens.
    package var opens: Bool { rank <= Self.retiring.rank }
}

/// The timestamps of one key (PROTOCOL section 9). Every host computes the key's state from them and the time.
public struct KeyLifecycle: Hashable, Sendable {
    /// When the key was made.
    public var createdAt: UnixTime?
    /// When the key begins to seal; nil until an operator promotes it.
    public var activatesAt: UnixTime?
    /// When the key stops sealing.
    public var retiresAt: UnixTime?
    /// When the key stops opening.
    public var expiresAt: UnixTime?
    /// When the key was revoked: from then on it neither seals nor opens.
    public var revokedAt: UnixTime?
    /// When the key's material was erased. Its id is never used again.
    public var destroyedAt: UnixTime?

    /// Makes a lifecycle from its timestamps.
    public init(
        createdAt: UnixTime? = nil, activatesAt: UnixTime? = nil, retiresAt: UnixTime? = nil,
        expiresAt: UnixTime? = nil, revokedAt: UnixTime? = nil, destroyedAt: UnixTime? = nil
    ) {
        self.createdAt = createdAt
        self.activatesAt = activatesAt
        self.retiresAt = retiresAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.destroyedAt = destroyedAt
    }

    func isRevoked(at time: UnixTime) -> Bool { Self.hasCome(revokedAt, time) }
    func isExpired(at time: UnixTime) -> Bool { Self.hasCome(expiresAt, time) }

    /// `activatesAt <= t < retiresAt` (or no retiresAt), neither revoked, expired nor destroyed.
    package func seals(at time: UnixTime) -> Bool {
        Self.hasCome(activatesAt, time) && !Self.hasCome(retiresAt, time) && !isRevoked(at: time)
            && !isExpired(at: time) && destroyedAt == nil
    }

    /// The state of the key without the other keys. A key that seals is `retiring` here, because only the timeline determines
    /// which of the sealing keys is the primary.
    package func state(at time: UnixTime) -> KeyState {
        if destroyedAt != nil { return .destroyed }
        if isRevoked(at: time) { return .revoked }
        if isExpired(at: time) { return .expired }
        return Self.hasCome(activatesAt, time) || Self.hasCome(retiresAt, time) ? .retiring : .pending
    }

    private static func hasCome(_ moment: UnixTime?, _ time: UnixTime) -> Bool { moment.map { $0 <= time } ?? false }
}

/// A key's object in a set's `pushcrypt.keys`. Times are RFC 3339.
///
/// ```
/// {["createdAt"], ["activatesAt"], ["retiresAt"], ["expiresAt"], ["revokedAt"], ["destroyedAt"], ["psk": true]}
/// ```
extension KeyLifecycle {
    /// - Throws: `KeyError` with `malformed`.
    package init(_ member: JSONValue, of kid: KeyID) throws(KeyError) {
        guard member.kind == .object else {
            throw KeyError(.malformed, "key \(kid): its lifecycle in the set's pushcrypt member is not an object")
        }
        self.init(
            createdAt: try member.time("createdAt"), activatesAt: try member.time("activatesAt"),
            retiresAt: try member.time("retiresAt"), expiresAt: try member.time("expiresAt"),
            revokedAt: try member.time("revokedAt"), destroyedAt: try member.time("destroyedAt"))
    }

    /// - Parameter withHistory: whether `createdAt` and `destroyedAt` are written, as in private files.
    package func jsonMembers(withHistory: Bool) -> [String] {
        moments.filter { withHistory || !["createdAt", "destroyedAt"].contains($0.name) }
            .compactMap { name, time in time.map { "\"\(name)\": \"\($0)\"" } }
    }

    /// The timestamps by their names in JSON.
    var moments: [(name: String, time: UnixTime?)] {
        [
            ("createdAt", createdAt), ("activatesAt", activatesAt), ("retiresAt", retiresAt), ("expiresAt", expiresAt),
            ("revokedAt", revokedAt), ("destroyedAt", destroyedAt),
        ]
    }

    /// All timestamps that are set.
    package var knownTimes: [UnixTime] { moments.compactMap(\.time) }
}

extension JSONValue {
    /// The member as a time; nil if there is none.
    /// - Throws: `KeyError` with `malformed` if it isn't an RFC 3339 string.
    package func time(_ name: String) throws(KeyError) -> UnixTime? {
        guard let value = self[name] else { return nil }
        guard let time = value.string.flatMap(UnixTime.init(rfc3339:)) else {
            throw KeyError(.malformed, "\(name) is not an RFC 3339 time")
        }
        return time
    }

    /// Whether a key's object contains `"psk": true`.
    package func demandsPSK(of kid: KeyID) throws(KeyError) -> Bool {
        guard let psk = self["psk"] else { return false }
        guard psk.boolean == true else {
            throw KeyError(.malformed, "key \(kid): psk in the set's pushcrypt member is not true")
        }
        return true
    }
}
