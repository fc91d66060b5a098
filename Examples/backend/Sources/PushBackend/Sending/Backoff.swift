/// Waiting times that double, with jitter, so that many senders don't try again at once.
public struct Backoff: Sendable {
    /// The first wait, in milliseconds.
    public var first: Int64
    /// The longest wait, in milliseconds.
    public var longest: Int64
    /// A number from 0 to 1.
    public var random: @Sendable () -> Double

    /// Creates a backoff; the parameters are the properties of the same names.
    public init(
        first: Int64 = 500, longest: Int64 = 60_000, random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        self.first = first
        self.longest = longest
        self.random = random
    }

    /// The wait after `count` failures, in milliseconds: between a half and all of `first` · 2^(count - 1).
    ///
    /// - Parameter requested: the shortest wait that the server asks for, in seconds.
    func wait(afterFailures count: Int, requested: Int64? = nil) -> Int64 {
        let doubled = min(first << Int64(min(max(count, 1) - 1, 20)), longest)
        let wait = Int64(Double(doubled) * (0.5 + random() / 2))
        return max(wait, min(requested ?? 0, 86_400) * 1_000)
    }
}
