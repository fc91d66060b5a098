extension String {
    /// Whether the string has a character that a person can see (PROTOCOL section 2).
    package var isVisible: Bool { unicodeScalars.contains(where: \.isVisible) }
}

extension Unicode.Scalar {
    /// The characters that show nothing (PROTOCOL section 2). The list is closed, so that all senders and recipients decide
    /// alike with any version of Unicode.
    private static let invisible: [ClosedRange<UInt32>] = [
        0x0...0x20, 0x7F...0xA0, 0xAD...0xAD, 0x34F...0x34F, 0x61C...0x61C, 0x115F...0x1160, 0x1680...0x1680,
        0x17B4...0x17B5, 0x180B...0x180F, 0x2000...0x200F, 0x2028...0x202F, 0x205F...0x206F, 0x2800...0x2800,
        0x3000...0x3000, 0x3164...0x3164, 0xFDD0...0xFDEF, 0xFE00...0xFE0F, 0xFEFF...0xFEFF, 0xFFA0...0xFFA0,
        0xFFF0...0xFFFC, 0x13430...0x1343F, 0x16FE4...0x16FE4, 0x1BCA0...0x1BCA3, 0x1D159...0x1D159,
        0x1D173...0x1D17A, 0xE0000...0xE0FFF,
    ]

    /// Whether the character shows anything.
    package var isVisible: Bool {
        // The last two code points of each plane are noncharacters.
        value & 0xFFFE != 0xFFFE && !Self.invisible.contains { $0.contains(value) }
    }

    /// Whether the character changes how text is shown and has no glyph itself: Unicode's categories Cc and Cf, and U+2028 and
    /// U+2029, at which some readers end a line.
    package var isControlOrFormat: Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
    }
}
