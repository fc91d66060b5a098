extension String {
    /// Whether a user sees anything of it: a character that is neither white space nor without a glyph of its own.
    ///
    /// Without a glyph are control and format characters, what Unicode calls default ignorable (zero-width spaces and
    /// joiners, direction marks, variation selectors, Hangul fillers), noncharacters, the Braille pattern without dots and the
    /// object replacement character.
    var isVisible: Bool { unicodeScalars.contains(where: \.isVisible) }
}

extension Unicode.Scalar {
    fileprivate var isVisible: Bool {
        guard !properties.isWhitespace, !properties.isDefaultIgnorableCodePoint,
            !properties.isNoncharacterCodePoint, self != "\u{2800}", self != "\u{FFFC}"
        else { return false }
        return switch properties.generalCategory {
        case .control, .format: false
        default: true
        }
    }
}
