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

    /// The bytes without the root member of that name and one comma; unchanged where there is no such member.
    ///
    /// The comma before the member goes, with the white space around it; of the first member the comma after it.
    package func removingFromRoot(_ name: String) -> [UInt8] {
        var members = root.members.makeIterator()
        var previous: JSONMember?
        while let member = members.next() {
            guard member.hasName(name) else {
                previous = member
                continue
            }
            var removed = member.range
            if let previous {
                removed = previous.range.upperBound..<removed.upperBound
            } else if let next = members.next() {
                removed = removed.lowerBound..<next.range.lowerBound
            }
            var result = bytes
            result.removeSubrange(removed)
            return result
        }
        return bytes
    }
}
