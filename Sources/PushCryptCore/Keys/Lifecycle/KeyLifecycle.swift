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

    /// The state, but for `primary`: of the keys that seal, one is.
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
