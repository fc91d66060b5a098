/// How many columns of a terminal a text takes. The table is East_Asian_Width W and F of Unicode 16 (UAX #11), with unassigned
/// code points between its ranges; the standard library knows emoji and combining marks.
extension Character {
    /// 0, 1 or 2 for most characters. Terminals show an emoji in two columns, also if it is joined from several.
    var columnCount: Int {
        let scalars = unicodeScalars
        let isEmoji = scalars.contains { $0.properties.isEmojiPresentation || $0 == "\u{fe0f}" }
        return isEmoji ? 2 : scalars.reduce(0) { $0 + $1.columnCount }
    }
}

extension StringProtocol {
    /// The width in columns.
    var columnCount: Int { reduce(0) { $0 + $1.columnCount } }

    /// The longest beginning that isn't wider than `columns`. It has at least one character, so that a loop ends.
    func prefix(columns: Int) -> SubSequence {
        var (width, end) = (0, startIndex)
        while end < endIndex {
            width += self[end].columnCount
            guard width <= columns || end == startIndex else { break }
            formIndex(after: &end)
        }
        return self[..<end]
    }
}

extension Unicode.Scalar {
    fileprivate var columnCount: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        // Vowels and final consonants of Hangul are drawn into the syllable that they follow.
        if (0x1160...0x11ff).contains(value) { return 0 }
        return Self.wide.contains { $0.contains(value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2329...0x232a, 0x2e80...0x303e, 0x3041...0x4dbf, 0x4dc0...0x4dff, 0x4e00...0xa4cf,
        0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff01...0xff60,
        0xffe0...0xffe6, 0x16fe0...0x18dff, 0x1aff0...0x1b2ff, 0x1f200...0x1f2ff, 0x20000...0x3fffd,
    ]
}
