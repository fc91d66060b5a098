import PushCryptPrimitives

extension [UInt8] {
    /// The bytes that `hex` writes; white space between them is allowed. Stops the test process at anything else.
    public init(hex: String) {
        let digits = hex.filter { !$0.isWhitespace }.map { character in
            guard let value = character.hexDigitValue else { preconditionFailure("not a hex digit: \(character)") }
            return UInt8(value)
        }
        precondition(digits.count.isMultiple(of: 2), "an odd number of hex digits")
        self = stride(from: 0, to: digits.count, by: 2).map { index in digits[index] << 4 | digits[index + 1] }
    }
}

/// Bytes that a JSON file writes as a string of hex digits.
public struct HexBytes: Decodable, Sendable {
    public let bytes: [UInt8]

    public var span: Span<UInt8> {
        @_lifetime(borrow self)
        get { bytes.bytes }
    }

    public init(from decoder: any Decoder) throws {
        bytes = [UInt8](hex: try decoder.singleValueContainer().decode(String.self))
    }
}
