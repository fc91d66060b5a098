import PushCryptCore

/// One line of a queue. Members that a command doesn't name are the queue's own and stay as they are.
///
/// ```
/// {"payload": {<a payload>}, ["device": "<device id>"], ...}
/// ```
struct QueueLine {
    let text: JSONText
    let payload: JSONValue
    let device: DeviceID?

    init(_ line: [UInt8]) throws(LineRefusal) {
        do {
            text = try JSONText(line)
        } catch {
            throw .malformedLine(line.isEmpty ? "the line is empty" : "the line is not strict JSON: \(error)")
        }
        guard let payload = text.root["payload"], payload.kind == .object else {
            throw .malformedLine("the line is not an object with a payload, an object too")
        }
        self.payload = payload
        device = try Self.device(text.root["device"])
    }

    subscript(name: String) -> JSONValue? { text.root[name] }

    private static func device(_ value: JSONValue?) throws(LineRefusal) -> DeviceID? {
        guard let value else { return nil }
        guard let id = value.string else { throw .malformedLine("device is not a string; leave it out for a bare key") }
        do {
            return try DeviceID(id)
        } catch {
            throw .malformedLine(error.reason)
        }
    }

    /// Appends the line with other members; all that isn't named stays byte for byte.
    ///
    /// - Parameters:
    ///   - values: JSON in the place of a member's; a name that the line doesn't have is left out.
    ///   - removed: names of members that go, with the comma and the white space before them.
    ///   - added: a member, name and all, for the end.
    func append(
        to output: inout [UInt8], replacing values: [(name: String, json: [UInt8])], removing removed: [String] = [],
        adding added: [UInt8]? = nil
    ) {
        let bytes = text.bytes
        var end = 0
        var keptAny = false
        for member in text.root.members {
            let range = member.range
            if !keptAny, end == 0 { output += bytes[..<range.lowerBound] }
            if !removed.contains(where: { member.hasName($0) }) {
                let start = keptAny ? end : range.lowerBound
                if let json = values.first(where: { member.hasName($0.name) })?.json {
                    output += bytes[start..<member.value.range.lowerBound]
                    output += json
                } else {
                    output += bytes[start..<range.upperBound]
                }
                keptAny = true
            }
            end = range.upperBound
        }
        if let added {
            // The payload at least is there.
            output.append(UInt8(ascii: ","))
            output += added
        }
        output += bytes[end...]
    }
}
