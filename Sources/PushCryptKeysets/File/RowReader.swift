import PushCryptCore
import PushCryptPrimitives

/// Reads an object in a row of a keyset's file. Each function refuses another form.
struct RowReader {
    let value: JSONValue
    private let row: Int
    /// The name of the object in its row; nil for the row itself.
    private let name: String?

    /// - Parameters:
    ///   - bytes: the row without its line feed.
    ///   - row: counted from 1.
    init(_ bytes: [UInt8], row: Int) throws(KeysetLogError) {
        guard let text = try? JSONText(bytes) else { throw KeysetLogError(.malformed, row: row) }
        try self.init(text, row: row)
    }

    init(_ text: JSONText, row: Int) throws(KeysetLogError) {
        (value, self.row, name) = (text.root, row, nil)
        guard value.kind == .object, !Self.hasWhiteSpace(text.bytes) else { throw error(.malformed) }
    }

    private init(_ value: JSONValue, row: Int, name: String) throws(KeysetLogError) {
        (self.value, self.row, self.name) = (value, row, name)
    }

    /// Whether there is white space outside of strings, in a text that is JSON.
    private static func hasWhiteSpace(_ json: [UInt8]) -> Bool {
        var (isInString, isEscaped) = (false, false)
        for byte in json {
            if isInString {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
            } else if byte == UInt8(ascii: "\"") {
                isInString = true
            } else if byte.isWhiteSpace {
                return true
            }
        }
        return false
    }

    func error(_ code: KeysetLogError.Code, _ member: String? = nil) -> KeysetLogError {
        KeysetLogError(code, row: row, [name, member].compactMap(\.self).joined(separator: "."))
    }

    subscript(name: String) -> JSONValue? { value[name] }
    func has(_ name: String) -> Bool { value[name] != nil }

    /// Requires an object with no other members.
    func allowOnly(_ names: some Sequence<String>) throws(KeysetLogError) {
        guard value.kind == .object else { throw error(.malformed) }
        for member in value.members where !names.contains(where: { member.hasName($0) }) {
            throw error(.malformed, member.name)
        }
    }

    func child(_ name: String) throws(KeysetLogError) -> RowReader {
        guard let value = value[name], value.kind == .object else { throw error(.malformed, name) }
        return try RowReader(value, row: row, name: name)
    }

    /// The members of an object; none if it isn't there.
    func members(of name: String) throws(KeysetLogError) -> [(name: String, RowReader)] {
        guard has(name) else { return [] }
        var result = [(name: String, RowReader)]()
        for member in try child(name).value.members {
            result.append((member.name, try RowReader(member.value, row: row, name: "\(name).\(member.name)")))
        }
        return result
    }

    /// The elements of an array, which isn't empty; none if it isn't there.
    func elements(of name: String) throws(KeysetLogError) -> [RowReader] {
        guard let array = value[name] else { return [] }
        guard array.kind == .array, !array.elements.isEmpty else { throw error(.malformed, name) }
        var result = [RowReader]()
        for element in array.elements { result.append(try RowReader(element, row: row, name: name)) }
        return result
    }

    func number(_ name: String, in range: ClosedRange<Int64>) throws(KeysetLogError) -> Int64 {
        guard let number = value[name]?.protocolInteger, range.contains(number) else { throw error(.malformed, name) }
        return number
    }

    func time(_ name: String) throws(KeysetLogError) -> UnixTime {
        guard let time = value[name]?.string.flatMap(UnixTime.init(rfc3339:)) else { throw error(.malformed, name) }
        return time
    }

    func time(ifAny name: String) throws(KeysetLogError) -> UnixTime? { has(name) ? try time(name) : nil }

    /// A text for people, without control characters.
    func text(_ name: String) throws(KeysetLogError) -> String {
        guard let text = value[name]?.string, KeysetLine.textByteCounts.contains(text.utf8.count),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { throw error(.malformed, name) }
        return text
    }

    func bytes(_ name: String, count: Int) throws(KeysetLogError) -> [UInt8] {
        guard let bytes = value.base64URL(name), bytes.count == count else { throw error(.malformed, name) }
        return bytes
    }

    func choice<Choice: RawRepresentable<String>>(
        _ name: String, of choices: [Choice]
    ) throws(KeysetLogError) -> Choice {
        guard let choice = value[name]?.choice(of: choices) else { throw error(.malformed, name) }
        return choice
    }

    func keysetID(_ name: String) throws(KeysetLogError) -> KeysetID {
        guard let id = value[name]?.utf8.flatMap({ KeysetID($0) }) else { throw error(.malformed, name) }
        return id
    }

    /// This value itself as the id of a keyset.
    var keysetID: KeysetID {
        get throws(KeysetLogError) {
            guard let id = value.utf8.flatMap({ KeysetID($0) }) else { throw error(.malformed) }
            return id
        }
    }

    var point: LogPoint {
        get throws(KeysetLogError) {
            LogPoint(
                number: try number("n", in: 1...KeysetLine.maximumNumber),
                hash: try bytes("hash", count: KeysetLine.hashByteCount))
        }
    }

    /// Converts the error of a value's own reader. A failure of the cryptographic library isn't one of the file.
    func parsed<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as KeyError where error.code == .kidMismatch {
            throw self.error(.kidMismatch, name)
        } catch let error as KeyError where error.code == .backendFailure {
            throw error
        } catch let error as CryptoError {
            throw error
        } catch {
            throw self.error(.malformed, name)
        }
    }
}
