package import PushCryptCore

/// One line of a batch's input. Members that the command doesn't name stay unchanged.
///
/// ```
/// {"payload": {<a payload>}, ["device": "<device id>"], ...}
/// ```
package struct QueueLine: BatchLine {
    /// The members that a command reads.
    package enum Field: Int, CaseIterable {
        case payload, to, device, placeholder, expires, expose, retract, quiet, badgeAdd, carrier, pushcrypt, campaign,
            error

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
    package let bytes: [UInt8]
    private var members: [(range: Range<Int>, value: Range<Int>, field: Field?)] = []
    /// The ranges of the names of members that are no known field, without quotes.
    private var otherNames: [Range<Int>] = []
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
            if let field {
                values[field.rawValue] = value
            } else {
                let name = member.nameRange
                otherNames.append(name.lowerBound + 1..<name.upperBound - 1)
            }
            members.append((member.range, value.range, field))
        }
        if let kind = KeyFile.kind(of: values[Field.payload.rawValue] ?? text.root) {
            throw .malformedLine("the line has \(kind), and a payload is needed")
        }
        guard let payload = values[Field.payload.rawValue], payload.kind == .object else {
            let isMissing = values[Field.payload.rawValue] == nil
            throw isMissing && otherNames.contains { Field.payload.isNear(line[$0]) }
                ? .misspelt(.payload)
                : .malformedLine("the line is not an object whose member \"payload\" is an object")
        }
        self.payload = payload
        device = try Self.device(values[Field.device.rawValue])
    }

    subscript(field: Field) -> JSONValue? { values[field.rawValue] }

    package var hasError: Bool { self[.error] != nil }

    /// Refuses a line in which the name of another member is nearly that of a field that the line lacks. If "expire" were
    /// ignored, the push would be sealed with another lifetime than its author meant.
    func refuseMisspeltNames() throws(LineRefusal) {
        for name in otherNames {
            for field in Field.allCases where values[field.rawValue] == nil && field.isNear(bytes[name]) {
                throw .misspelt(field)
            }
        }
    }

    private static func device(_ value: JSONValue?) throws(LineRefusal) -> DeviceID? {
        guard let value else { return nil }
        guard let id = value.string else { throw .malformedLine("\"device\" is not a string") }
        do { return try DeviceID(id) } catch { throw .malformedLine(error.reason) }
    }

    /// The members that the answer to a refused line repeats, if they are strings or numbers. Any other member may contain plain
    /// text or keys, for instance if its name is misspelt.
    static let repeatedMembers = ["id", "tag", "token", "device", "campaign"]

    /// Appends the members of a refused line that an answer repeats, each with a comma before it. Appends nothing if the line is
    /// no JSON object or is over the limit.
    static func appendRepeatedMembers(of line: [UInt8], to output: inout [UInt8]) {
        guard line.count <= limitInBytes, let root = (try? JSONText(line))?.root else { return }
        for member in root.members where [.string, .number].contains(member.value.kind) {
            guard repeatedMembers.contains(where: member.hasName) else { continue }
            output.append(UInt8(ascii: ","))
            output += line[member.range]
        }
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

extension LineRefusal {
    fileprivate static func misspelt(_ field: QueueLine.Field) -> LineRefusal {
        .malformedLine(
            "the line has no member \"\(field)\", and a member whose name is nearly \"\(field)\": correct it, or rename it "
                + "if it is yours")
    }
}

extension QueueLine.Field {
    private static let folded = allCases.map { name in fold(Array("\(name)".utf8)[...]) }

    /// Whether the name equals this field's name apart from capitals, `-` and `_`. In a field's name of five letters or more, one
    /// letter may also be missing, added, replaced or exchanged with the next.
    fileprivate func isNear(_ name: ArraySlice<UInt8>) -> Bool {
        // No command reads these members. Only answers and output lines have them.
        guard self != .error, self != .pushcrypt else { return false }
        let own = Self.folded[rawValue]
        guard name.count <= 2 * own.count else { return false }
        let other = Self.fold(name)
        return own == other || (own.count >= 5 && Self.differsByOneLetter(own, other))
    }

    private static func fold(_ name: ArraySlice<UInt8>) -> [UInt8] {
        name.filter { !$0.isOne(of: "-_") }.map {
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
        }
    }

    private static func differsByOneLetter(_ name: [UInt8], _ other: [UInt8]) -> Bool {
        guard abs(name.count - other.count) <= 1 else { return false }
        let start = zip(name, other).prefix { $0 == $1 }.count
        let (rest, otherRest) = (name[start...], other[start...])
        if rest.dropFirst() == otherRest.dropFirst() || rest.dropFirst() == otherRest || rest == otherRest.dropFirst() {
            return true
        }
        return rest.count >= 2 && rest.count == otherRest.count
            && [rest[start], rest[start + 1]] == [otherRest[start + 1], otherRest[start]]
            && rest.dropFirst(2) == otherRest.dropFirst(2)
    }
}

/// The `pushcrypt` member that a batch adds to an output line.
///
/// ```
/// "pushcrypt": {"line": <number, from 1>, "id": "<message id>", "expiresAt": <unix seconds>, <others>}
/// ```
struct LineSummary {
    let number: Int
    /// 22 characters of base64url.
    let id: String
    let expiresAt: UnixTime
    /// More members as raw JSON.
    var others: [String] = []

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
        for member in others { json += ",\(member)".utf8 }
        json.append(UInt8(ascii: "}"))
        return json
    }

    var member: [UInt8] { Array(#""pushcrypt":"#.utf8) + json }
}

extension Placeholder {
    /// Reads "placeholder" of a line: an object of Apple's alert keys.
    init(line value: JSONValue) throws(LineRefusal) {
        guard value.kind == .object else { throw .malformedLine("\"placeholder\" is not an object") }
        self.init()
        for member in value.members {
            if let text = Self.texts[member.name] {
                guard let string = member.value.string else {
                    throw .malformedLine("\"\(member.name)\" of \"placeholder\" is not a string")
                }
                self[keyPath: text] = string
            } else if let arguments = Self.arguments[member.name] {
                self[keyPath: arguments] = try member.value.strings(
                    orRefuse: "\"\(member.name)\" of \"placeholder\" is not an array of strings")
            } else {
                throw .malformedLine("\"placeholder\" has a member that is not one of Apple's alert keys")
            }
        }
    }

    private static let texts: [String: any WritableKeyPath<Placeholder, String?> & Sendable] = [
        "title": \.title, "subtitle": \.subtitle, "body": \.body, "title-loc-key": \.titleLocKey,
        "subtitle-loc-key": \.subtitleLocKey, "loc-key": \.bodyLocKey, "launch-image": \.launchImage,
    ]
    private static let arguments: [String: any WritableKeyPath<Placeholder, [String]> & Sendable] = [
        "title-loc-args": \.titleLocArguments, "subtitle-loc-args": \.subtitleLocArguments,
        "loc-args": \.bodyLocArguments,
    ]
}

extension JSONValue {
    /// The strings of an array of strings.
    func strings(orRefuse message: String) throws(LineRefusal) -> [String] {
        let strings = elements.compactMap(\.string)
        guard kind == .array, strings.count == elements.count else { throw .malformedLine(message) }
        return strings
    }
}
