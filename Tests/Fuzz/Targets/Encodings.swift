import Foundation
import PushCryptCore
import PushCryptPrimitives

/// The input as base64url and base64 to decode, and as bytes to encode; all against Foundation's base64.
func fuzzBase64URL(_ input: [UInt8]) throws {
    let decoded = Base64URL.decode(input[...])
    try require(decoded == slowBase64URL(input), "base64url is decoded like a slow decoder does")
    try require(Base64URL.isCanonical(input[...]) == (decoded != nil), "isCanonical agrees with decode")
    let secret = Base64URL.decodeSecret(input[...]).map { [UInt8]($0.bytes) }
    try require(secret == decoded, "secrets are decoded like other bytes")
    if let decoded {
        try require(Base64URL.encode(decoded.bytes) == input, "accepted base64url is canonical")
        try require(decoded.count == Base64URL.decodedCapacity(input.count), "the capacity is exact")
    }
    let encoded = Base64URL.encode(input.bytes)
    let reference = Data(input).base64EncodedString()
    try require(
        String(decoding: encoded, as: UTF8.self) == urlSafe(reference), "base64url is encoded like Foundation does")
    try require(encoded.count == Base64URL.encodedCount(input.count), "the encoded count is exact")
    try require(Base64URL.decode(encoded[...]) == input, "encoded bytes are decoded again")
    try require(Base64.encode(input.bytes) == Array(reference.utf8), "base64 is encoded like Foundation does")
    try fuzzBase64(input)
}

private func fuzzBase64(_ input: [UInt8]) throws {
    let characters = input.filter { !($0 == 0x20 || (0x09...0x0d).contains($0)) }
    let text = String(decoding: characters, as: UTF8.self)
    let padded = Base64.decode(input.bytes, .padded).map { [UInt8]($0.bytes) }
    // Foundation ignores trailing bits.
    let standard = Data(base64Encoded: text).flatMap {
        $0.base64EncodedString() == text && !$0.isEmpty ? [UInt8]($0) : nil
    }
    try require(padded == standard, "padded base64 is decoded like Foundation does")
    let any = Base64.decode(input.bytes, .any).map { [UInt8]($0.bytes) }
    try require(padded == nil || any == padded, "every padded text is accepted as any variant")
    if let any {
        let found = urlSafe(text.replacingOccurrences(of: "=", with: ""))
        try require(found == Base64URL.encode(any), "each accepted variant is canonical")
    }
}

private func urlSafe(_ base64: String) -> String {
    base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        .replacingOccurrences(of: "=", with: "")
}

/// 6 bits for each character; the bits after the last whole byte are zero.
private func slowBase64URL(_ text: [UInt8]) -> [UInt8]? {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var (bytes, bits, count): ([UInt8], Int, Int) = ([], 0, 0)
    for character in text {
        guard let value = alphabet.firstIndex(of: character) else { return nil }
        bits = bits << 6 | value
        count += 6
        if count >= 8 {
            count -= 8
            bytes.append(UInt8(bits >> count))
            bits &= 1 << count - 1
        }
    }
    return bits == 0 && count < 6 ? bytes : nil
}

/// The input as JSON: `JSONText` against `SlowJSON` and `JSONSerialization`, and editing.
func fuzzJSON(_ input: [UInt8]) throws {
    let slow = SlowJSON(input)
    let text: JSONText
    do throws(JSONError) {
        text = try JSONText(input)
    } catch {
        try require(slow == nil, "JSONText accepts what the slow reader accepts (\(error))")
        try require((0...input.count).contains(error.byteOffset), "an error's offset is in the text")
        return
    }
    let tree = try require(slow, "the slow reader accepts what JSONText accepts")
    try require(try JSONReading.tree(text.root) == tree, "both readers read the same values")
    if tree.isReadByFoundation {
        try JSONReading.compare(tree, JSONSerialization.jsonObject(with: Data(input), options: .fragmentsAllowed))
    }
    try require((try? JSONText(input, maximumValueCount: tree.valueCount)) != nil, "the value count is exact")
    try require((try? JSONText(input, maximumValueCount: tree.valueCount - 1)) == nil, "the value limit holds")
    try require((try? JSONText(input, maximumCount: input.count - 1)) == nil, "the length limit holds")
    try JSONReading.edit(text, tree)
}

enum JSONReading {
    /// The values as `JSONText` gives them. Lookups by name return the same values as iteration.
    static func tree(_ value: JSONValue) throws -> SlowJSON {
        switch value.kind {
        case .object:
            return .object(
                try value.members.map { member in
                    try require(member.hasName(member.name), "a member has its name")
                    try require(value[member.name]?.range == member.value.range, "a lookup finds the member")
                    return SlowJSON.Member(name: Array(member.name.utf8), value: try tree(member.value))
                })
        case .array: return .array(try value.elements.map(tree))
        case .string:
            let content = Array(try require(value.utf8, "a string has content"))
            try require(value.string.map { Array($0.utf8) } == content, "string and utf8 agree")
            var written = [UInt8]()
            JSONWriter.appendString(utf8: content[...], to: &written)
            try require(SlowJSON(written) == .string(content), "a written string is read again")
            return .string(content)
        case .number:
            let number = SlowJSON.number(String(decoding: value.rawBytes, as: UTF8.self))
            try require(value.protocolInteger == number.integer.map(Int64.init), "integers of the protocol agree")
            return number
        case .boolean: return .boolean(try require(value.boolean, "a boolean has a value"))
        case .null: return .null
        }
    }

    /// Foundation's numbers lose precision and its dictionaries merge names that are canonically equivalent, so numbers
    /// are compared as doubles, and objects only if no names were merged.
    static func compare(_ tree: SlowJSON, _ object: Any) throws {
        switch tree {
        case .object(let members):
            let dictionary = try require(object as? [String: Any], "Foundation reads an object")
            guard dictionary.count == members.count else { return }
            for member in members {
                let name = String(decoding: member.name, as: UTF8.self)
                try compare(member.value, try require(dictionary[name], "Foundation reads the same names"))
            }
        case .array(let elements):
            let array = try require(object as? [Any], "Foundation reads an array")
            try require(array.count == elements.count, "Foundation reads the same elements")
            for (element, object) in zip(elements, array) { try compare(element, object) }
        case .string(let bytes):
            let string = try require(object as? String, "Foundation reads a string")
            try require(Array(string.utf8) == bytes, "Foundation reads the same string")
        case .number(let text):
            let number = try require(object as? NSNumber, "Foundation reads a number")
            let (ours, theirs) = (try require(Double(text), "a number is a double"), number.doubleValue)
            try require(abs(ours - theirs) <= abs(ours) * 1e-15, "Foundation reads the same number")
        case .boolean(let boolean): try require(object as? Bool == boolean, "Foundation reads the same boolean")
        case .null: try require(object is NSNull, "Foundation reads null")
        }
    }

    /// Adding a member and removing it restores the text; removing any member removes only that one.
    static func edit(_ text: JSONText, _ tree: SlowJSON) throws {
        guard case .object(let members) = tree else {
            return try require(
                (try? text.appendingToRoot(rawMember: Array(#""a":1"#.utf8))) == nil, "only objects get members")
        }
        if tree["pushcrypt"] == nil {
            let longer = try JSONText(text.appendingToRoot(rawMember: Array(#""pushcrypt":{"a":[1]}"#.utf8)))
            try require(longer.root["pushcrypt"]?.kind == .object, "an added member is found")
            try require(
                longer.removingFromRoot("pushcrypt") == text.bytes, "removing an added member restores the text")
            try require(text.removingFromRoot("pushcrypt") == text.bytes, "removing a missing member changes nothing")
        }
        for member in members.prefix(8) {
            let name = String(decoding: member.name, as: UTF8.self)
            let shorter = SlowJSON(text.removingFromRoot(name))
            try require(shorter == tree.removing([name]), "removing a member removes only that member")
            let value = try require(text.root[name], "a lookup finds the member")
            let replaced = SlowJSON(text.replacing([(value, Array("[7]".utf8))]))
            let expected = members.map {
                $0.name == member.name ? .init(name: $0.name, value: .array([.number("7")])) : $0
            }
            try require(replaced == .object(expected), "replacing a value replaces only that value")
        }
    }
}
