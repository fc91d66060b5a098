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
package struct APSType: Sendable {
    /// Completes "it is not ...".
    package let description: String
    /// Whether a copy of the value in the outer payload shows nothing that the member's name doesn't suggest (PROTOCOL section 2).
    package let isExposable: @Sendable (JSONValue) -> Bool
    /// Whether the device reads the value. It is as generous as the system with the forms of a number, such as `7.0`.
    package let isRead: @Sendable (JSONValue) -> Bool

    private init(
        _ description: String, exposing isExposable: (@Sendable (JSONValue) -> Bool)? = nil,
        reading isRead: @escaping @Sendable (JSONValue) -> Bool
    ) {
        (self.description, self.isExposable, self.isRead) = (description, isExposable ?? isRead, isRead)
    }

    static let text = Self("a string") { $0.kind == .string }
    static let textOrObject = Self("a string or an object") { $0.kind == .string || $0.kind == .object }
    static let array = Self("an array") { $0.kind == .array }
    static let count = Self(
        "a nonnegative integer", exposing: { $0.protocolInteger != nil },
        reading: { $0.integer.map { $0 >= 0 } ?? false })
    static let fraction = Self("a number from 0 to 1") { (0...1).contains($0.double ?? -1) }
    static let score = Self(fraction.description, exposing: { $0.double != nil }, reading: fraction.isRead)
    static let one = Self("the integer 1", exposing: { $0.protocolInteger == 1 }, reading: zeroOrOne.isRead)
    static let zeroOrOne = Self("0 or 1") { $0.protocolInteger.map { $0 <= 1 } ?? false }
    static let level = Self("one of passive, active, time-sensitive and critical") { value in
        ["passive", "active", "time-sensitive", "critical"].contains(where: value.isString)
    }
    static let sound = Self(
        "a name or a dictionary of critical, name and volume",
        exposing: { sound in
            textOrObject.isRead(sound)
                && sound.members.allSatisfy { APSObject.sound.type(of: $0.name)?.isExposable($0.value) ?? false }
        }, reading: textOrObject.isRead)
    /// The type of a member that this version doesn't know, if it is exposed.
    package static let scalar = Self("a string, a number or a boolean") {
        $0.kind == .string || $0.kind == .boolean || $0.double != nil
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
