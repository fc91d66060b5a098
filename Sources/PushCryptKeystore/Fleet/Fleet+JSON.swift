import PushCryptCore
package import PushCryptKeysets

/// ```
/// {["devices": n], "refreshP50": DURATION, "refreshP99": DURATION, ["offline": SHARE], ["pushesPerDay": NUMBER],
///  ["seed": n]}
/// ```
/// DURATION is ISO 8601 or a number with s, m, h, d or w; SHARE is a number from 0 to 0.9: 0.02 is 2 %. Another member
/// is refused: a misspelt one would silently be the default.
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
        for member in root.members {
            guard try read(member.name, member.value) else {
                throw KeystoreError(.invalidFleet, "\(member.name) is not a number or duration of its kind")
            }
        }
    }

    /// - Returns: false for a value of the wrong type.
    private mutating func read(_ name: String, _ value: JSONValue) throws(KeystoreError) -> Bool {
        switch name {
        case "devices":
            devices = value.protocolInteger.map { Int($0) }
            return devices != nil
        case "refreshP50":
            refreshP50InSeconds = value.string.flatMap(DurationText.seconds)
            return refreshP50InSeconds != nil
        case "refreshP99":
            refreshP99InSeconds = value.string.flatMap(DurationText.seconds)
            return refreshP99InSeconds != nil
        case "offline":
            offline = value.double
            return offline != nil
        case "pushesPerDay":
            pushesPerDay = value.double
            return pushesPerDay != nil
        case "seed":
            seed = value.protocolInteger.map { UInt64($0) }
            return seed != nil
        default:
            throw KeystoreError(
                .invalidFleet,
                "\(name) is no member of a fleet: devices, refreshP50, refreshP99, offline, pushesPerDay, seed")
        }
    }
}
