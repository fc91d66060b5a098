/// The state of a key at a moment.
///
/// ```
/// pending -> primary -> retiring -> expired -> destroyed
///     revoked at any time, destroyed after that
/// ```
public struct KeyState: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    /// A key's state never changes to one of lower rank.
    package let rank: Int

    private init(_ name: String, rank: Int) {
        description = name
        self.rank = rank
    }

    /// Published and opening, not sealing yet.
    public static let pending = KeyState("pending", rank: 0)
    /// The key that seals.
    public static let primary = KeyState("primary", rank: 1)
    /// Opens pushes that are still on their way; doesn't seal any more.
    public static let retiring = KeyState("retiring", rank: 2)
    /// Doesn't open any more.
    public static let expired = KeyState("expired", rank: 3)
    /// Withdrawn: neither seals nor opens.
    public static let revoked = KeyState("revoked", rank: 4)
    /// Its material is erased; its id stays taken.
    public static let destroyed = KeyState("destroyed", rank: 5)

    /// Whether a key in this state opens.
    package var opens: Bool { rank <= Self.retiring.rank }
}
