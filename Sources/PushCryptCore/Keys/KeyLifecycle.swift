/// The moments of one key's life (PROTOCOL section 9). Its state follows from them, so that every host agrees
/// without talking.
public struct KeyLifecycle: Hashable, Sendable {
    public var createdAt: UnixTime?
    /// When the key begins to seal; absent while a rotation waits for an operator.
    public var activatesAt: UnixTime?
    /// When the key stops sealing.
    public var retiresAt: UnixTime?
    /// When the key stops opening.
    public var expiresAt: UnixTime?
    /// When the key was withdrawn; it neither seals nor opens from then on.
    public var revokedAt: UnixTime?

    public init(
        createdAt: UnixTime? = nil, activatesAt: UnixTime? = nil, retiresAt: UnixTime? = nil,
        expiresAt: UnixTime? = nil, revokedAt: UnixTime? = nil
    ) {
        self.createdAt = createdAt
        self.activatesAt = activatesAt
        self.retiresAt = retiresAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
    }

    func isRevoked(at time: UnixTime) -> Bool {
        revokedAt.map { $0 <= time } ?? false
    }

    func isExpired(at time: UnixTime) -> Bool {
        expiresAt.map { $0 <= time } ?? false
    }

    /// `activatesAt <= t < retiresAt` (or no retiresAt), neither revoked nor expired.
    func seals(at time: UnixTime) -> Bool {
        guard let activatesAt, activatesAt <= time, !isRevoked(at: time), !isExpired(at: time) else { return false }
        return retiresAt.map { time < $0 } ?? true
    }
}

/// Where a key stands in its life.
public struct KeyState: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    private init(_ name: String) {
        description = name
    }

    /// Published and opening, not sealing yet.
    public static let pending = KeyState("pending")
    /// The key that seals.
    public static let primary = KeyState("primary")
    /// Opens what is still on its way; seals no more.
    public static let retiring = KeyState("retiring")
    /// Opens no more.
    public static let expired = KeyState("expired")
    /// Withdrawn.
    public static let revoked = KeyState("revoked")
}
