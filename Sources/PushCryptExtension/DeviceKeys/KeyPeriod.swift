/// How long a key of this device is used: the one place of this policy. App and extension have it with the storage of the keys.
///
/// After a theft of the device's keys, recorded pushes to a key that was erased stay closed (PROTOCOL section 14).
public struct KeyPeriod: Hashable, Sendable {
    /// The number of days of each day key; nil for no day keys.
    public let days: Int?
    /// The longest time, in seconds, from the sealing of a push to its arrival; of day keys only.
    public let flightInSeconds: Int64
    /// The age, in seconds, at which the key pair of the registration record is replaced.
    public let renewalInSeconds: Int64

    /// One key pair, which is replaced after a time. It opens for at least 30 days more.
    public static func renewed(every age: Duration = .seconds(90 * 86_400)) -> KeyPeriod {
        KeyPeriod(days: nil, flightInSeconds: 30 * 86_400, renewalInSeconds: age.components.seconds)
    }

    /// Keys for the days to come, each of which is erased one flight after its last day. The backend must know device sets.
    ///
    /// - Parameters:
    ///   - days: 1 to 7; the nearest is used.
    ///   - flight: how long a push may be on its way, 1 to 7 days; the nearest is used. A phone that is off for longer doesn't get it.
    public static func days(_ days: Int, flight: Duration = .seconds(86_400)) -> KeyPeriod {
        KeyPeriod(
            days: min(max(days, 1), 7), flightInSeconds: min(max(flight.components.seconds, 86_400), 7 * 86_400),
            renewalInSeconds: 90 * 86_400)
    }

    /// How many days the set has keys for, today included: 14, or four keys.
    package var daysAhead: Int { max(14, 4 * (days ?? 0)) }
}
