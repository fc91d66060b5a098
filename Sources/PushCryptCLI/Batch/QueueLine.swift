package import PushCryptCore

/// One line of a batch's input. Members that the command doesn't name stay unchanged.
///
/// ```
/// {"payload": {<a payload>}, ["device": "<device id>"], ...}
/// ```
package struct QueueLine {
    /// The members that a command reads.
    package enum Field: Int, CaseIterable {
        case payload, to, device, placeholder, expires, expose, retract, quiet, badgeAdd, pushcrypt

        fileprivate static let names = allCases.map { "\($0)" }
    }

    /// The change of a member.
    package enum Edit {
        case keep
        /// Removes the member with the comma and the white space before it.
        case remove
        /// Replaces the value with this JSON.
        case replace([UInt8])
    }

    /// The longest line in bytes: many times a payload, with room for other members.
    static let limitInBytes = 1 << 20

    package let payload: JSONValue
    package let device: DeviceID?
    private let bytes: [UInt8]
    private var members: [(range: Range<Int>, value: Range<Int>, field: Field?)] = []
    private var values: [JSONValue?] = Array(repeating: nil, count: Field.allCases.count)

    package init(_ line: [UInt8]) throws(LineRefusal) {
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
            throw .malformedLine("the line is not an object whose member \"payload\" is an object")
        }
        self.payload = payload
        device = try Self.device(values[Field.device.rawValue])
    }

    subscript(field: Field) -> JSONValue? { values[field.rawValue] }

    private static func device(_ value: JSONValue?) throws(LineRefusal) -> DeviceID? {
        guard let value else { return nil }
        guard let id = value.string else { throw .malformedLine("\"device\" is not a string") }
        do { return try DeviceID(id) } catch { throw .malformedLine(error.reason) }
    }

    /// Appends the edited line. Everything that is kept stays byte for byte.
    ///
    /// - Parameters:
    ///   - added: a member with its name, to append as the last member.
    ///   - edit: returns the change of each known member; never `remove` for the payload.
    package func append(to output: inout [UInt8], adding added: [UInt8]? = nil, _ edit: (Field) -> Edit) {
        var end = 0
        var keptAny = false
        for member in members {
            if end == 0 { output += bytes[..<member.range.lowerBound] }
            let edit = member.field.map(edit) ?? .keep
            if case .remove = edit {
                end = member.range.upperBound
                continue
            }
            // The first member that is kept has no comma before it.
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

/// The `pushcrypt` member that a batch adds to an output line.
///
/// ```
/// "pushcrypt": {"line": <number, from 1>, "id": "<message id>", "expiresAt": <unix seconds>, <instructions>}
/// ```
struct LineSummary {
    let number: Int
    /// 22 characters of base64url.
    let id: String
    let expiresAt: UnixTime
    /// More members as raw JSON.
    var instructions: [String] = []

    /// Appended rather than interpolated, because every line has one.
    var json: [UInt8] {
        var json = [UInt8]()
        json.reserveCapacity(96)
        json += #"{"line":"#.utf8
        json += String(number).utf8
        json += #","id":""#.utf8
        json += id.utf8
        json += #"","expiresAt":"#.utf8
        json += String(expiresAt.seconds).utf8
        for member in instructions { json += ",\(member)".utf8 }
        json.append(UInt8(ascii: "}"))
        return json
    }

    var member: [UInt8] { Array(#""pushcrypt":"#.utf8) + json }
}
