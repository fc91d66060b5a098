import PushCryptCore

/// The unencrypted members of `aps` (PROTOCOL section 2): two hints, and the members that the caller names. They are copies
/// of raw JSON; the inner payload contains them too.
enum ExposedMembers {
    /// - Parameter names: checked by `Sealer.Options.check()`.
    /// - Throws: `SenderError` with `notExposable` if `aps` lacks a member or its value has the wrong type.
    static func rawMembers(of aps: JSONValue?, named names: [String]) throws(SenderError) -> [[UInt8]] {
        var members: [[UInt8]] = []
        if !names.contains("sound"), hasSound(aps?["sound"]) {
            members.append(Array(#""sound":"default""#.utf8))
        }
        if !names.contains("content-available"), let value = aps?["content-available"], value.protocolInteger == 1 {
            members.append(rawMember("content-available", value))
        }
        var copied: Set<String> = []
        for name in names where copied.insert(name).inserted {
            guard let value = aps?[name] else {
                throw SenderError(.notExposable, "aps.\(name) can't be exposed: the payload doesn't have it")
            }
            let type = ExposedType(ofMember: name)
            guard type.covers(value) else {
                throw SenderError(.notExposable, "aps.\(name) can't be exposed: it is not \(type.description)")
            }
            members.append(rawMember(name, value))
        }
        return members
    }

    private static func rawMember(_ name: String, _ value: JSONValue) -> [UInt8] {
        var member = [UInt8]()
        JSONWriter.appendString(name, to: &member)
        member.append(UInt8(ascii: ":"))
        member += value.rawBytes
        return member
    }

    private static func hasSound(_ sound: JSONValue?) -> Bool {
        guard let sound else { return false }
        switch sound.kind {
        case .null: return false
        case .string: return sound.utf8?.isEmpty == false
        case .object: return !sound.members.isEmpty
        default: return true
        }
    }
}

/// The type of an exposed member's value. Other values could expose content that the name doesn't suggest.
private struct ExposedType: Sendable {
    /// Completes the error text "it is not ...".
    let description: String
    let covers: @Sendable (JSONValue) -> Bool

    init(ofMember name: String) {
        self = Self.byName[name] ?? Self.scalar
    }

    private init(_ description: String, _ covers: @escaping @Sendable (JSONValue) -> Bool) {
        self.description = description
        self.covers = covers
    }

    private static let string = Self("a string") { $0.kind == .string }
    private static let integer = Self("a nonnegative integer") { $0.protocolInteger != nil }
    private static let number = Self("a number") { $0.double != nil }
    /// For members that this version doesn't know.
    private static let scalar = Self("a string, a number or a boolean") {
        $0.kind == .string || $0.kind == .boolean || $0.double != nil
    }
    private static let one = Self("the integer 1") { $0.protocolInteger == 1 }
    private static let level = Self("one of passive, active, time-sensitive and critical") { value in
        ["passive", "active", "time-sensitive", "critical"].contains { value.string == $0 }
    }

    //  sound = name / {["critical": 0 / 1,] ["name": name,] ["volume": 0...1]}
    private static let sound = Self("a name or a dictionary of critical, name and volume") { value in
        guard value.kind == .object else { return value.kind == .string }
        return value.members.allSatisfy { member in
            switch member.name {
            case "critical": member.value.protocolInteger.map { $0 <= 1 } ?? false
            case "name": member.value.kind == .string
            case "volume": member.value.double.map { (0...1).contains($0) } ?? false
            default: false
            }
        }
    }

    private static let byName: [String: ExposedType] = [
        "badge": integer, "category": string, "content-available": one, "dismissal-date": integer, "event": string,
        "filter-criteria": string, "interruption-level": level, "relevance-score": number, "sound": sound,
        "stale-date": integer, "target-content-id": string, "thread-id": string, "timestamp": integer,
    ]
}
