/// The timestamps of one key (PROTOCOL section 9). Its state follows from them and the time, so that all hosts agree
/// without exchanging messages.
public struct KeyLifecycle: Hashable, Sendable {
    public var createdAt: UnixTime?
    /// When the key begins to seal; nil while an operator still has to promote it.
    public var activatesAt: UnixTime?
    /// When the key stops sealing.
    public var retiresAt: UnixTime?
    /// When the key stops opening.
    public var expiresAt: UnixTime?
    /// When the key was withdrawn; it neither seals nor opens from then on.
    public var revokedAt: UnixTime?
    /// When the key's material was erased. Its id stays taken.
    public var destroyedAt: UnixTime?

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

    /// The state of the key by itself: a key that seals is `retiring` here, since only the timeline knows which of the
    /// sealing keys is the primary.
    package func state(at time: UnixTime) -> KeyState {
        if destroyedAt != nil { return .destroyed }
        if isRevoked(at: time) { return .revoked }
        if isExpired(at: time) { return .expired }
        return Self.hasCome(activatesAt, time) || Self.hasCome(retiresAt, time) ? .retiring : .pending
    }

    private static func hasCome(_ moment: UnixTime?, _ time: UnixTime) -> Bool {
        moment.map { $0 <= time } ?? false
    }
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

    /// - Parameter withHistory: whether `createdAt` and `destroyedAt` are written: in private files.
    package func jsonMembers(withHistory: Bool) -> [String] {
        [
            ("createdAt", withHistory ? createdAt : nil), ("activatesAt", activatesAt), ("retiresAt", retiresAt),
            ("expiresAt", expiresAt), ("revokedAt", revokedAt), ("destroyedAt", withHistory ? destroyedAt : nil),
        ].compactMap { name, time in time.map { "\"\(name)\": \"\($0)\"" } }
    }
}

extension JSONValue {
    /// The member as a time; nil if it is absent.
    ///
    /// - Throws: `KeyError` with `malformed` for anything but an RFC 3339 string.
    package func time(_ name: String) throws(KeyError) -> UnixTime? {
        guard let value = self[name] else { return nil }
        guard let time = value.string.flatMap(UnixTime.init(rfc3339:)) else {
            throw KeyError(.malformed, "\(name) is not an RFC 3339 time")
        }
        return time
    }

    /// Whether a key's object says `"psk": true`.
    package func demandsPSK(of kid: KeyID) throws(KeyError) -> Bool {
        guard let psk = self["psk"] else { return false }
        guard psk.boolean == true else {
            throw KeyError(.malformed, "key \(kid): psk in the set's pushcrypt member is not true")
        }
        return true
    }
}
