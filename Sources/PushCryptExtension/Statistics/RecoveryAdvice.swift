public import PushCryptCore

/// Advises the app what to do about pushes that weren't restored (PROTOCOL section 8).
///
/// A failed push isn't authenticated: everyone who can push to the device can cause every failure class. So each step costs
/// the app little, and steps are returned at most once a day.
///
/// ```
/// unknownKey, keyExpired, keyRevoked   the device has the kid: the sender's key failed          updateSenderKeys
///                                      else                                                     registerKey
/// unsupportedSuite                     make a key of a suite that the system has                registerKey
/// undecryptable, 3 times               the keys don't match                                     registerKey
/// unsupportedVersion                                                                            updateApp
/// keyLocked                                                                                     unlock
/// ```
/// Failures before the last restored push, or before advice was last taken, are ignored.
public enum RecoveryAdvice {
    /// One action of the app; more may be added.
    public struct Step: Hashable, Sendable, CustomStringConvertible {
        /// The name of the step.
        public let description: String

        /// Make a new key and register it with the backend.
        public static let registerKey = Step(description: "registerKey")
        /// Fetch and pin the current set of sender keys.
        public static let updateSenderKeys = Step(description: "updateSenderKeys")
        /// Ask for an update of the app.
        public static let updateApp = Step(description: "updateApp")
        /// Ask the user to unlock the device: pushes were received before the first unlock.
        public static let unlock = Step(description: "unlock")
    }

    /// How many `undecryptable` pushes lead to advice. It is more than one, because a single push may be damaged.
    public static let undecryptableLimit = 3
    /// The time between two pieces of advice, in seconds.
    public static let intervalInSeconds: Int64 = 86_400

    /// Returns the steps that the app should take.
    ///
    /// - Parameter keys: the ids of the recipient's keys that open now.
    /// - Returns: the most important step first; none if there is nothing to do. `unlock` may be returned at any time, the
    ///   others only if no advice was taken within a day.
    public static func steps(for statistics: DeliveryStatistics, keys: Set<KeyID>, at now: UnixTime) -> [Step] {
        // Those since advice was taken and after the last restored push.
        func failures(_ remedy: FailureClass.Consequence.Remedy) -> [DeliveryStatistics.Counter] {
            FailureClass.Defined.allCases.filter { $0.consequence.remedy == remedy }
                .compactMap { statistics.failures[FailureClass($0)] }
                .filter { $0.recentCount > 0 && (statistics.opened?.lastTime ?? $0.lastTime) <= $0.lastTime }
        }
        // The recipient's key is looked up first, so if the device has it, the failure concerns the sender's key.
        func isAboutSender(_ counter: DeliveryStatistics.Counter) -> Bool {
            counter.lastKid.map(keys.contains) ?? false
        }
        let unlock: [Step] = failures(.unlock).isEmpty ? [] : [.unlock]
        if let taken = statistics.lastAdviceTaken, isWithinInterval(now, taken) { return unlock }
        let aboutKeys = failures(.key)
        let isRepeated = failures(.keyIfRepeated).contains { $0.recentCount >= undecryptableLimit }
        var steps: [Step] = []
        if isRepeated || !aboutKeys.allSatisfy(isAboutSender) {
            steps.append(.registerKey)
        }
        if aboutKeys.contains(where: isAboutSender) { steps.append(.updateSenderKeys) }
        if !failures(.app).isEmpty { steps.append(.updateApp) }
        return steps + unlock
    }

    /// False if the clock was set back by more than the interval; otherwise advice might never be given again.
    private static func isWithinInterval(_ now: UnixTime, _ taken: UnixTime) -> Bool {
        let (difference, overflow) = now.seconds.subtractingReportingOverflow(taken.seconds)
        return !overflow && difference.magnitude < UInt64(intervalInSeconds)
    }
}
