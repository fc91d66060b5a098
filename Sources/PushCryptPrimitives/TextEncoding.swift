/// The encoding of a text that isn't plain UTF-8, as its first bytes show it. Some editors and tools write such files.
package enum TextEncoding: Hashable, Sendable {
    case utf8WithByteOrderMark, bigEndianUTF16, littleEndianUTF16

    /// - Returns: nil for plain UTF-8, and for bytes that are no text. UTF-16 has a byte order mark or, in a text of ASCII, a zero
    ///   in every second byte.
    package init?(of bytes: Span<UInt8>) {
        guard bytes.count >= 2 else { return nil }
        switch (bytes[0], bytes[1]) {
        case (0xEF, 0xBB) where bytes.count > 2 && bytes[2] == 0xBF: self = .utf8WithByteOrderMark
        case (0xFE, 0xFF): self = .bigEndianUTF16
        case (0xFF, 0xFE): self = .littleEndianUTF16
        case (0, 1...) where bytes.count > 3 && bytes[2] == 0 && bytes[3] != 0: self = .bigEndianUTF16
        case (1..., 0) where bytes.count > 3 && bytes[2] != 0 && bytes[3] == 0: self = .littleEndianUTF16
        default: return nil
        }
    }

    /// What the text is and how to correct it, after the words "the text is".
    package var flaw: String {
        self == .utf8WithByteOrderMark
            ? "UTF-8 with a byte order mark: save it without one" : "UTF-16: save it as UTF-8"
    }
}
