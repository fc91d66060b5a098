import PushCryptPrimitives

extension JSONText {
    /// The bytes with one more member at the end of the root object; everything else stays byte for byte.
    ///
    /// The member goes right behind the last member's value, or behind `{` where there is none, so that white space
    /// before `}` stays where it was. ``removingFromRoot(_:)`` takes it out again.
    ///
    /// - Parameter rawMember: name, colon and value as they shall stand in the text, for example `"a":1`. Not looked
    ///   at: that it is well-formed and its name new to the object is for the caller to know.
    /// - Throws: ``JSONError`` with code `rootIsNotAnObject`.
    package func appendingToRoot(rawMember: [UInt8]) throws(JSONError) -> [UInt8] {
        guard root.kind == .object else { throw JSONError(.rootIsNotAnObject, at: root.range.lowerBound) }
        var end = root.range.lowerBound + 1
        var isEmpty = true
        for member in root.members {
            end = member.range.upperBound
            isEmpty = false
        }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 1 + rawMember.count)
        result += bytes[..<end]
        if !isEmpty { result.append(UInt8(ascii: ",")) }
        result += rawMember
        result += bytes[end...]
        return result
    }

    /// The bytes without the root members of those names and their commas; unchanged where there are none.
    ///
    /// The comma before a member goes, with the white space around it; where the first members go, the comma behind
    /// them.
    package func removingFromRoot(_ names: String...) -> [UInt8] {
        guard root.kind == .object else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var (key, end, keptAny) = (1, 0, false)
        while key < tape[0].next {
            let (start, next) = (tape[key].range.lowerBound, tape[key + 1].range.upperBound)
            if end == 0 { append(0..<start, to: &result) }
            if !names.contains(where: { name in content(of: tape[key], equals: name) }) {
                append((keptAny ? end : start)..<next, to: &result)
                keptAny = true
            }
            end = next
            key = Int(tape[key + 1].next)
        }
        append(end..<bytes.count, to: &result)
        return result
    }

    private func append(_ range: Range<Int>, to result: inout [UInt8]) {
        result.append(contentsOf: bytes.bytes.extracting(range))
    }
}
