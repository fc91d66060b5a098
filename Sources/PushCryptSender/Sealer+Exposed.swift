import PushCryptCore

/// What of `aps` is seen outside (PROTOCOL section 2): two hints, and what the caller names. Copies of raw JSON; the
/// inner payload stays as it is.
enum ExposedMembers {
    static func rawMembers(of aps: JSONValue?, named names: [String]) -> [[UInt8]] {
        guard let aps else { return [] }
        var members: [[UInt8]] = []
        if !names.contains("sound"), hasSound(aps["sound"]) {
            members.append(Array(#""sound":"default""#.utf8))
        }
        var copied: Set<String> = []
        for name in ["content-available"] + names where copied.insert(name).inserted {
            guard let value = aps[name] else { continue }
            var member = [UInt8]()
            JSONWriter.appendString(name, to: &member)
            member.append(UInt8(ascii: ":"))
            member += value.rawBytes
            members.append(member)
        }
        return members
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
