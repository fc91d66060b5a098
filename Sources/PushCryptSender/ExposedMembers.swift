package import PushCryptCore

/// The unencrypted members of `aps` (PROTOCOL section 2): two hints, and the members that the caller names. They are copies
/// of raw JSON; the inner payload contains them too.
package enum ExposedMembers {
    /// - Parameters:
    ///   - names: checked by `Sealer.Options.check()`.
    ///   - isQuiet: whether the message makes no sound.
    /// - Throws: `SenderError` with `notExposable` if `aps` lacks a member or its value has the wrong type.
    package static func rawMembers(
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
        for (index, name) in names.enumerated() where copied.insert(name).inserted {
            let known = APSObject.aps.type(of: name)
            // A name that isn't Apple's may be content in the wrong place, so an error doesn't repeat it.
            let place = known == nil ? "expose[\(index)]" : "aps.\(name)"
            guard let value = aps?[name] else {
                throw SenderError(.notExposable, "\(place) can't be exposed: the payload doesn't have it")
            }
            // Other values could expose content that the name doesn't suggest.
            let type = known ?? .scalar
            guard type.isExposable(value) else {
                throw SenderError(.notExposable, "\(place) can't be exposed: it is not \(type.description)")
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
        return sound.kind == .object ? !sound.members.isEmpty : sound.kind != .null && sound.utf8?.isEmpty != true
    }
}
