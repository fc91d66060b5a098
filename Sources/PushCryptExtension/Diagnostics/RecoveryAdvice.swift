public import PushCryptCore

/// What the app should do about pushes that weren't restored (PROTOCOL section 8).
///
/// Nothing about a failed push is authentic: whoever can push to the device can cause every class. So advice costs
/// little, and comes at most once a day.
///
/// ```
/// unknownKey, keyExpired, keyRevoked   the kid can be opened with: the sender's key was meant   updateSenderKeys
///                                      else                                                     registerKey
/// undecryptable, 3 times               the keys don't fit                                       registerKey
/// unsupportedVersion                                                                            updateApp
/// keyLocked                                                                                     unlock
/// ```
/// What happened before a push was restored, or before advice was last taken, doesn't count.
public enum RecoveryAdvice {
    /// Something to do; more may be added.
    public struct Step: Hashable, Sendable, CustomStringConvertible {
        /// The name of the step.
        public let description: String

        /// Make a new key and register it with the backend.
        public static let registerKey = Step(description: "registerKey")
        /// Fetch the set of the sender's keys that the app pins.
        public static let updateSenderKeys = Step(description: "updateSenderKeys")
        /// Ask for an update of the app.
        public static let updateApp = Step(description: "updateApp")
        /// Nothing can be done but by the user: pushes came before the device was unlocked once.
        public static let unlock = Step(description: "unlock")
    }

    /// How many `undecryptable` make a reason: one may be a garbled push.
    public static let undecryptableLimit = 3
    /// How long after advice was taken no other is given, in seconds.
    public static let intervalInSeconds: Int64 = 86_400

    /// - Parameters:
    ///   - keys: the ids of the recipient's keys that open now.
    ///   - now: the time by the device's clock.
    /// - Returns: the most important first; empty when all is well, or when advice was taken less than a day ago.
    ///   `unlock` may come at any time.
    public static func steps(
        for statistics: DeliveryStatistics, keys: Set<KeyID>, at now: UnixTime
    ) -> [Step] {
        let facts = RecoveryFacts(statistics: statistics, keys: keys)
        let unlock: [Step] = facts.lastFailure(.keyLocked) == nil ? [] : [.unlock]
        if let taken = statistics.lastAdviceTaken, isWithinInterval(now, taken) { return unlock }
        var steps: [Step] = []
        if facts.lacksKey { steps.append(.registerKey) }
        if facts.lacksSenderKey { steps.append(.updateSenderKeys) }
        if facts.lastFailure(.unsupportedVersion) != nil { steps.append(.updateApp) }
        return steps + unlock
    }

    /// Not for a clock that was set back by more than that, or advice might never come again.
    private static func isWithinInterval(_ now: UnixTime, _ taken: UnixTime) -> Bool {
        let (difference, overflow) = now.seconds.subtractingReportingOverflow(taken.seconds)
        return !overflow && difference.magnitude < UInt64(intervalInSeconds)
    }
}

/// What the counters say, as far as it still holds.
private struct RecoveryFacts {
    private static let keyClasses: [FailureClass] = [.unknownKey, .keyExpired, .keyRevoked]

    let statistics: DeliveryStatistics
    let keys: Set<KeyID>

    /// - Returns: nil if there was none since advice was taken, or a push was restored after it.
    func lastFailure(_ failure: FailureClass) -> DeliveryStatistics.Counter? {
        guard let counter = statistics.failures[failure], counter.recentCount > 0 else { return nil }
        if let opened = statistics.opened, opened.lastTime > counter.lastTime { return nil }
        return counter
    }

    /// The recipient's key is looked up before the sender's.
    private func isAboutSender(_ counter: DeliveryStatistics.Counter) -> Bool {
        counter.lastKid.map(keys.contains) ?? false
    }

    var lacksKey: Bool {
        let undecryptable = lastFailure(.undecryptable)?.recentCount ?? 0
        return undecryptable >= RecoveryAdvice.undecryptableLimit
            || Self.keyClasses.compactMap(lastFailure).contains { !isAboutSender($0) }
    }

    var lacksSenderKey: Bool { Self.keyClasses.compactMap(lastFailure).contains(where: isAboutSender) }
}
