import PushCryptCore

/// The unencrypted members of `aps` (PROTOCOL section 2): two hints, and the members that the caller names. They are copies
/// of raw JSON; the inner payload contains them too.
enum ExposedMembers {
    /// - Parameters:
    ///   - names: checked by `Sealer.Options.check()`.
    ///   - isQuiet: whether the message makes no sound.
    /// - Throws: `SenderError` with `notExposable` if `aps` lacks a member or its value has the wrong type.
    static func rawMembers(
        of aps: JSONValue?, named names: [String], isQuiet: Bool
    ) throws(SenderError) -> [[UInt8]] {
        var members: [[UInt8]] = []
        if !isQuiet, !names.contains("sound"), hasSound(aps?["sound"]) {
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
            let (type, isValid) = value.typeCheck(ofMember: name)
            guard isValid else { throw SenderError(.notExposable, "aps.\(name) can't be exposed: it is not \(type)") }
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

extension JSONValue {
    /// The type that the value of an exposed member should have, which completes "it is not ...", and whether it has it.
    /// Other values could expose content that the name doesn't suggest.
    fileprivate func typeCheck(ofMember name: String) -> (type: String, isValid: Bool) {
        switch name {
        case "badge", "dismissal-date", "stale-date", "timestamp": ("a nonnegative integer", protocolInteger != nil)
        case "category", "event", "filter-criteria", "target-content-id", "thread-id": ("a string", kind == .string)
        case "content-available": ("the integer 1", protocolInteger == 1)
        case "interruption-level":
            (
                "one of passive, active, time-sensitive and critical",
                ["passive", "active", "time-sensitive", "critical"].contains { string == $0 }
            )
        case "relevance-score": ("a number", double != nil)
        case "sound": ("a name or a dictionary of critical, name and volume", isSound)
        // A member that this version doesn't know.
        default:
            ("a string, a number or a boolean", kind == .string || kind == .boolean || double != nil)
        }
    }

    /// sound = name / {["critical": 0 / 1,] ["name": name,] ["volume": 0...1]}
    private var isSound: Bool {
        guard kind == .object else { return kind == .string }
        return members.allSatisfy { member in
            switch member.name {
            case "critical": member.value.protocolInteger.map { $0 <= 1 } ?? false
            case "name": member.value.kind == .string
            case "volume": member.value.double.map { (0...1).contains($0) } ?? false
            default: false
            }
        }
    }
}
