import PushCryptPrimitives

/// Finds where the data of PEM blocks begins and ends.
struct PEMLines: ~Escapable {
    private let text: Span<UInt8>
    /// The beginning of the next line.
    private(set) var position = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) {
        self.text = text
    }

    /// Passes over everything up to and including the next BEGIN line, and returns the name in it.
    @_lifetime(self: copy self)
    mutating func skipToBlock() -> String? {
        while let line = next() {
            if let name = boundary(line, "BEGIN") { return name }
        }
        return nil
    }

    /// Passes over the END line of that name, and returns where it begins.
    @_lifetime(self: copy self)
    mutating func endOfBlock(_ name: String) throws(KeyContainerError) -> Int {
        while let line = next() {
            if let end = boundary(line, "END") {
                guard end == name else { break }
                return line.lowerBound
            }
            if boundary(line, "BEGIN") != nil { break }
            if begins(line, with: "Proc-Type:") {
                throw KeyContainerError(
                    .unsupportedEncryption,
                    "encrypted in the PEM format's old way: convert it with `openssl pkcs8 -topk8`")
            }
        }
        throw KeyContainerError(.malformed, "the PEM block has no END line of its name")
    }

    /// Refuses anything but white space.
    @_lifetime(self: copy self)
    mutating func finish() throws(KeyContainerError) {
        let rest = text.extracting(droppingFirst: position)
        guard skipToBlock() == nil else {
            throw KeyContainerError(.malformed, "more than one PEM block: a container holds one key")
        }
        for index in rest.indices where !rest[index].isWhiteSpace {
            throw KeyContainerError(.malformed, "text after the PEM block")
        }
    }

    /// The next line without white space at its end.
    @_lifetime(self: copy self)
    private mutating func next() -> Range<Int>? {
        guard position < text.count else { return nil }
        let start = position
        while position < text.count, text[position] != UInt8(ascii: "\n") {
            position += 1
        }
        var end = position
        while end > start, text[end - 1].isWhiteSpace {
            end -= 1
        }
        position = min(position + 1, text.count)
        return start..<end
    }

    /// The name in "-----BEGIN name-----" or "-----END name-----".
    ///
    /// The line becomes a string, which can't be wiped: hence the limit. A block that has lost its line breaks is one
    /// line, and longer.
    private func boundary(_ line: Range<Int>, _ word: String) -> String? {
        guard line.count <= 80, begins(line, with: "-----") else { return nil }
        let characters = String(decoding: [UInt8](text.extracting(line)), as: UTF8.self)
        guard characters.hasPrefix("-----\(word) "), characters.hasSuffix("-----") else { return nil }
        return String(characters.dropFirst(word.count + 6).dropLast(5))
    }

    private func begins(_ line: Range<Int>, with words: String) -> Bool {
        let words = Array(words.utf8)
        guard line.count >= words.count else { return false }
        return constantTimeEqual(text.extracting(line).extracting(first: words.count), words.bytes)
    }
}
