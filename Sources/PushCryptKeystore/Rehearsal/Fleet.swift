import PushCryptCore
package import PushCryptKeysets

/// The devices of a rehearsal: their number, how often they fetch keys, how many are offline, and how many pushes they
/// receive. ``Rehearsal`` describes the model.
package struct Fleet: Hashable, Sendable {
    package let devices: Int
    /// Half of the devices fetch at least this often.
    package let refreshP50InSeconds: Int64
    /// 99 of 100 devices fetch at least this often.
    package let refreshP99InSeconds: Int64
    /// The share of the devices that is offline at any moment, 0 to 0.9.
    package let offline: Double
    /// The number of pushes for each device.
    package let pushesPerDay: Double
    /// The seed of the random generator. The same seed yields the same devices.
    package let seed: UInt64

    /// The parameters in a file or on a command line. Missing ones have standard values, except the two refresh times, which
    /// are required.
    package struct Parameters: Hashable, Sendable {
        package var devices: Int?
        package var refreshP50InSeconds: Int64?
        package var refreshP99InSeconds: Int64?
        package var offline: Double?
        package var pushesPerDay: Double?
        package var seed: UInt64?

        package init() {}

        package mutating func override(with other: Parameters) {
            devices = other.devices ?? devices
            refreshP50InSeconds = other.refreshP50InSeconds ?? refreshP50InSeconds
            refreshP99InSeconds = other.refreshP99InSeconds ?? refreshP99InSeconds
            offline = other.offline ?? offline
            pushesPerDay = other.pushesPerDay ?? pushesPerDay
            seed = other.seed ?? seed
        }
    }

    /// - Throws: `KeystoreError` with `invalidFleet`.
    package init(_ parameters: Parameters) throws(KeystoreError) {
        guard let p50 = parameters.refreshP50InSeconds, let p99 = parameters.refreshP99InSeconds else {
            throw KeystoreError(.invalidFleet, "refresh p50 and p99 are missing: how often do the devices fetch keys?")
        }
        func require(_ condition: Bool, _ reason: String) throws(KeystoreError) {
            guard condition else { throw KeystoreError(.invalidFleet, reason) }
        }
        devices = parameters.devices ?? 1_000_000
        refreshP50InSeconds = p50
        refreshP99InSeconds = p99
        offline = parameters.offline ?? 0.02
        pushesPerDay = parameters.pushesPerDay ?? 3
        seed = parameters.seed ?? 1
        try require((1...100_000_000).contains(devices), "a fleet has 1 to 100,000,000 devices")
        try require(p50 >= 1, "the refresh p50 is at least one second")
        try require(p99 > p50, "the refresh p99 must be longer than the p50")
        try require(p99 <= Self.longestInSeconds, "the refresh p99 is at most 100 years")
        try require((0...0.9).contains(offline), "the share of devices offline is 0 to 90%")
        try require((0.001...1_440).contains(pushesPerDay), "a device gets 0.001 to 1440 pushes per day")
    }

    static let longestInSeconds: Int64 = 36_525 * 86_400
}

extension KeystoreError.Code {
    package static let invalidFleet = KeystoreError.Code(name: "invalidFleet")
}

/// ```
/// {["devices": n], "refreshP50": DURATION, "refreshP99": DURATION, ["offline": SHARE], ["pushesPerDay": NUMBER],
///  ["seed": n]}
/// ```
/// DURATION is ISO 8601 or a number with s, m, h, d or w; SHARE is a number from 0 to 0.9: 0.02 is 2 %. Unknown members
/// are refused, so that a misspelt one isn't silently ignored.
extension Fleet.Parameters {
    /// - Throws: `KeystoreError` with `invalidFleet`.
    package init(json: [UInt8]) throws(KeystoreError) {
        let root: JSONValue
        do {
            root = try JSONText(json).root
        } catch {
            throw KeystoreError(.invalidFleet, "not strict JSON: \(error)")
        }
        guard root.kind == .object else { throw KeystoreError(.invalidFleet, "JSON, but not an object") }
        self.init()
        for member in root.members { try read(member.name, member.value) }
    }

    private mutating func read(_ name: String, _ value: JSONValue) throws(KeystoreError) {
        func require<Value>(_ value: Value?) throws(KeystoreError) -> Value {
            guard let value else { throw KeystoreError(.invalidFleet, "\(name) has a value of the wrong type") }
            return value
        }
        switch name {
        case "devices": devices = Int(try require(value.protocolInteger))
        case "refreshP50": refreshP50InSeconds = try require(value.string.flatMap(DurationText.seconds))
        case "refreshP99": refreshP99InSeconds = try require(value.string.flatMap(DurationText.seconds))
        case "offline": offline = try require(value.double)
        case "pushesPerDay": pushesPerDay = try require(value.double)
        case "seed": seed = UInt64(try require(value.protocolInteger))
        default:
            throw KeystoreError(
                .invalidFleet,
                "\(name) is not a member of a fleet. The members are devices, refreshP50, refreshP99, offline, pushesPerDay, seed"
            )
        }
    }
}
