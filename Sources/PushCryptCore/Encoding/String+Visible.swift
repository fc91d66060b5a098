extension String {
    /// Whether the string has a character that is neither white space nor without a glyph.
    ///
    /// These have no glyph: control and format characters, Unicode's default ignorable characters (zero-width spaces and
    /// joiners, direction marks, variation selectors, Hangul fillers), noncharacters, the Braille pattern without dots and
    /// the object replacement character.
    package var isVisible: Bool { unicodeScalars.contains(where: \.isVisible) }
}

extension Unicode.Scalar {
    fileprivate var isVisible: Bool {
        !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint && !properties.isNoncharacterCodePoint
            && self != "\u{2800}" && self != "\u{FFFC}" && ![.control, .format].contains(properties.generalCategory)
    }
}
