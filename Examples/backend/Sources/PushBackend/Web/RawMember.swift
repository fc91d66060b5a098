import Foundation

/// The value of a member of a JSON object, byte for byte: a decoder would round large numbers.
enum RawMember {
    /// - Parameter json: an object that `JSONDecoder` has read, so it is well-formed.
    /// - Returns: nil if there is no such member, or more than one.
    static func value(of name: String, in json: Data) -> Data? {
        let bytes = [UInt8](json)
        var values: [Data] = []
        var depth = 0
        var (isWanted, start) = (false, nil as Int?)
        var index = 0
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let end = endOfString(bytes, from: index)
                if depth == 1, start == nil {
                    isWanted = (try? JSONDecoder().decode(String.self, from: Data(bytes[index..<end]))) == name
                }
                index = end - 1
            case UInt8(ascii: ":") where depth == 1: start = index + 1
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 1, isWanted, let start { values.append(trimmed(bytes[start..<index])) }
                if depth == 1 { start = nil }
                if bytes[index] != UInt8(ascii: ",") { depth -= 1 }
            default: break
            }
            index += 1
        }
        return values.count == 1 ? values[0] : nil
    }

    /// The index after the closing quote.
    private static func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(index + 1, bytes.count)
    }

    private static func trimmed(_ value: ArraySlice<UInt8>) -> Data {
        func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        return Data(value.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
