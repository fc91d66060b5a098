extension JSONScanner {
    //  number = [ minus ] int [ frac ] [ exp ]
    //  int = zero / ( digit1-9 *DIGIT )
    //  frac = decimal-point 1*DIGIT
    //  exp = e [ minus / plus ] 1*DIGIT
    mutating func scanNumber() throws(JSONError) {
        let start = position
        skip { $0 == UInt8(ascii: "-") }
        if skip({ $0 == UInt8(ascii: "0") }) {
            if position < bytes.count, isDigit(bytes[position]) { throw unexpectedByte() }
        } else {
            try scanDigits()
        }
        if skip({ $0 == UInt8(ascii: ".") }) { try scanDigits() }
        if skip({ $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E") }) {
            skip { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
            try scanDigits()
        }
        append(.number, from: start)
    }

    //  1*DIGIT
    private mutating func scanDigits() throws(JSONError) {
        guard isDigit(try nextByte()) else { throw unexpectedByte() }
        while skip(isDigit) {}
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    @discardableResult
    private mutating func skip(_ isWanted: (UInt8) -> Bool) -> Bool {
        guard position < bytes.count, isWanted(bytes[position]) else { return false }
        position += 1
        return true
    }
}
