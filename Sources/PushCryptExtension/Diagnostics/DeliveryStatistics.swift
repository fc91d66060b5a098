public import PushCryptCore

/// What became of pushes since the counters were reset, at one moment.
public struct DeliveryStatistics: Hashable, Sendable {
    /// A count, with the time and the key of the last push that it counted.
    public struct Counter: Hashable, Sendable {
        /// How many pushes.
        public let count: Int
        /// How many of them came after advice was last taken.
        public let recentCount: Int
        /// When the last one came.
        public let lastTime: UnixTime
        /// The key that the last one names; nil where it couldn't be read.
        public let lastKid: KeyID?

        /// Makes a counter of its members.
        public init(count: Int, recentCount: Int, lastTime: UnixTime, lastKid: KeyID? = nil) {
            self.count = count
            self.recentCount = recentCount
            self.lastTime = lastTime
            self.lastKid = lastKid
        }
    }

    /// Pushes whose text was restored; nil for none.
    public var opened: Counter?
    /// By class. One that was restored without its attachment is also in `opened`. Classes of the app's own beyond the
    /// first 32 are counted together, as `other`.
    public var failures: [FailureClass: Counter]
    /// By stage and ending; those beyond the first 64 together, as `other`.
    public var stageFailures: [StageFailure: Counter]
    /// When a self-test was last restored.
    public var lastSelfTest: UnixTime?
    /// When the app last did what ``RecoveryAdvice`` says.
    public var lastAdviceTaken: UnixTime?
    /// How often the store was damaged and made anew. With it went the counters, and the memory of what was shown.
    public var rebuildCount: Int

    /// Makes statistics of their members.
    public init(
        opened: Counter? = nil, failures: [FailureClass: Counter] = [:], stageFailures: [StageFailure: Counter] = [:],
        lastSelfTest: UnixTime? = nil, lastAdviceTaken: UnixTime? = nil, rebuildCount: Int = 0
    ) {
        self.opened = opened
        self.failures = failures
        self.stageFailures = stageFailures
        self.lastSelfTest = lastSelfTest
        self.lastAdviceTaken = lastAdviceTaken
        self.rebuildCount = rebuildCount
    }
}

extension FailureClass {
    /// What classes of an app's own are counted as when there are too many.
    public static let other = FailureClass(rawValue: "other")
}
