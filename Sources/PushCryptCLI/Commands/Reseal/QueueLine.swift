import PushCryptCore

/// One line of a queue. Members that a command doesn't name are the queue's own and stay as they are.
///
/// ```
/// {"payload": {<a payload>}, ["device": "<device id>"], ...}
/// ```
struct QueueLine {
    /// A member that a command may know.
    enum Field: Int, CaseIterable {
        case payload, to, device, placeholder, expires, expose, pushcrypt

        fileprivate static let names = allCases.map { "\($0)" }
    }

    /// What becomes of a member.
    enum Edit {
        case keep
        /// With the comma and the white space before it.
        case remove
        /// JSON in the place of the value.
        case replace([UInt8])
    }

    let payload: JSONValue
    let device: DeviceID?
    private let bytes: [UInt8]
    private var members: [(range: Range<Int>, value: Range<Int>, field: Field?)] = []
    /// Values by field; found once, because a line has few members and is asked for many.
    private var values: [JSONValue?] = Array(repeating: nil, count: Field.allCases.count)

    init(_ line: [UInt8]) throws(LineRefusal) {
        let text: JSONText
        do {
            text = try JSONText(line)
        } catch {
            throw .malformedLine(line.isEmpty ? "the line is empty" : "the line is not strict JSON: \(error)")
        }
        bytes = line
        for member in text.root.members {
            let field = Field.names.firstIndex { member.hasName($0) }.flatMap(Field.init)
            let value = member.value
            if let field { values[field.rawValue] = value }
            members.append((member.range, value.range, field))
        }
        guard let payload = values[Field.payload.rawValue], payload.kind == .object else {
            throw .malformedLine("the line is not an object with a payload, an object too")
        }
        self.payload = payload
        device = try Self.device(values[Field.device.rawValue])
    }

    subscript(field: Field) -> JSONValue? { values[field.rawValue] }

    private static func device(_ value: JSONValue?) throws(LineRefusal) -> DeviceID? {
        guard let value else { return nil }
        guard let id = value.string else { throw .malformedLine("device is not a string; leave it out for a bare key") }
        do {
            return try DeviceID(id)
        } catch {
            throw .malformedLine(error.reason)
        }
    }

    /// Appends the line with other members; all that is kept stays byte for byte.
    ///
    /// - Parameters:
    ///   - added: a member, name and all, for the end.
    ///   - edit: of the payload never `remove`.
    func append(to output: inout [UInt8], adding added: [UInt8]? = nil, _ edit: (Field) -> Edit) {
        var end = 0
        var keptAny = false
        for member in members {
            if end == 0 { output += bytes[..<member.range.lowerBound] }
            let edit = member.field.map(edit) ?? .keep
            if case .remove = edit {
                end = member.range.upperBound
                continue
            }
            // Behind members that have gone, no comma.
            let start = keptAny ? end : member.range.lowerBound
            if case .replace(let json) = edit {
                output += bytes[start..<member.value.lowerBound]
                output += json
            } else {
                output += bytes[start..<member.range.upperBound]
            }
            keptAny = true
            end = member.range.upperBound
        }
        if let added {
            output.append(UInt8(ascii: ","))
            output += added
        }
        output += bytes[end...]
    }
}
