/// An object of an alert's payload whose members Apple defines ("Generating a remote notification"), with the types and
/// ranges of their values. A device ignores another value without an error.
///
/// Two members aren't here: `mutable-content`, which sealing writes, and those of Live Activities, which can't be sealed.
package enum APSObject: String, Sendable {
    case aps
    case alert = "aps.alert"
    case sound = "aps.sound"

    private static let apsMembers: KeyValuePairs<String, APSType> = [
        "alert": .textOrObject, "badge": .count, "category": .text, "content-available": .one, "filter-criteria": .text,
        "interruption-level": .level, "relevance-score": .score, "sound": .sound, "target-content-id": .text,
        "thread-id": .text,
    ]
    private static let alertMembers: KeyValuePairs<String, APSType> = [
        "title": .text, "subtitle": .text, "body": .text, "launch-image": .text, "title-loc-key": .text,
        "title-loc-args": .array, "subtitle-loc-key": .text, "subtitle-loc-args": .array, "loc-key": .text,
        "loc-args": .array, "summary-arg": .text, "summary-arg-count": .count,
    ]
    private static let soundMembers: KeyValuePairs<String, APSType> = [
        "critical": .zeroOrOne, "name": .text, "volume": .fraction,
    ]

    package var members: KeyValuePairs<String, APSType> {
        switch self {
        case .aps: Self.apsMembers
        case .alert: Self.alertMembers
        case .sound: Self.soundMembers
        }
    }

    /// - Returns: nil for a member that this version doesn't know.
    package func type(of name: String) -> APSType? { members.first { $0.key == name }?.value }
}

/// The type of a member's value.
package enum APSType: Sendable {
    case text, textOrObject, array, count, fraction, score, one, zeroOrOne, level, sound
    /// The type of a member that this version doesn't know, if it is exposed.
    case scalar

    /// Completes "it is not ...".
    package var description: String {
        switch self {
        case .text: "a string"
        case .textOrObject: "a string or an object"
        case .array: "an array"
        case .count: "a nonnegative integer"
        case .fraction, .score: "a number from 0 to 1"
        case .one: "the integer 1"
        case .zeroOrOne: "0 or 1"
        case .level: "one of passive, active, time-sensitive and critical"
        case .sound: "a name or a dictionary of critical, name and volume"
        case .scalar: "a string, a number or a boolean"
        }
    }

    /// Whether a copy of the value in the outer payload shows nothing that the member's name doesn't suggest (PROTOCOL section 2).
    package func isExposable(_ value: JSONValue) -> Bool {
        switch self {
        case .count: value.protocolInteger != nil
        case .score: value.double != nil
        case .one: value.protocolInteger == 1
        case .sound:
            isRead(value)
                && value.members.allSatisfy { APSObject.sound.type(of: $0.name)?.isExposable($0.value) ?? false }
        default: isRead(value)
        }
    }

    /// Whether the device reads the value. It is as generous as the system with the forms of a number, such as `7.0`.
    package func isRead(_ value: JSONValue) -> Bool {
        switch self {
        case .text: value.kind == .string
        case .textOrObject, .sound: value.kind == .string || value.kind == .object
        case .array: value.kind == .array
        case .count: value.integer.map { $0 >= 0 } ?? false
        case .fraction, .score: (0...1).contains(value.double ?? -1)
        case .one, .zeroOrOne: value.protocolInteger.map { $0 <= 1 } ?? false
        case .level: ["passive", "active", "time-sensitive", "critical"].contains(where: value.isString)
        case .scalar: value.kind == .string || value.kind == .boolean || value.double != nil
        }
    }
}

extension JSONValue {
    /// The value of a member that Apple defines for this object; nil if it is missing or of a type that the device doesn't read.
    package func value(_ name: String, of object: APSObject) -> JSONValue? {
        self[name].flatMap { object.type(of: name)?.isRead($0) == true ? $0 : nil }
    }

    /// A number without a fraction, as in `7` and `7.0`.
    package var integer: Int? { double.flatMap(Int.init(exactly:)) }

    /// Whether this `aps` is of a Live Activity. An encoder may write null for members that the payload doesn't have.
    package var isOfLiveActivity: Bool {
        let event = self["event"]
        return ["start", "update", "end"].contains { event?.isString($0) == true }
            || ["content-state", "attributes", "attributes-type"].contains { (self[$0]?.kind ?? .null) != .null }
    }
}
