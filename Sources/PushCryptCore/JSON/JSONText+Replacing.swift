extension JSONText {
    /// The bytes with other text in the place of some values; everything else stays byte for byte.
    ///
    /// - Parameter replacements: values of this text, none inside another, and the JSON that takes their place, which
    ///   is not looked at.
    package func replacing(_ replacements: [(value: JSONValue, json: [UInt8])]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + replacements.reduce(0) { $0 + $1.json.count })
        var end = 0
        for (value, json) in replacements.sorted(by: { $0.value.range.lowerBound < $1.value.range.lowerBound }) {
            result += bytes[end..<value.range.lowerBound]
            result += json
            end = value.range.upperBound
        }
        result += bytes[end...]
        return result
    }
}
