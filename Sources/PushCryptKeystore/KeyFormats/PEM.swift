import PushCryptCore
import PushCryptPrimitives

// RFC 7468 section 3. The headers of RFC 1421, between the first line and the data, are refused.
//
// -----BEGIN name-----
// base64 of DER, in lines of 64 characters
// -----END name-----

/// A block of text. It is decoded into `SecretBytes`, without a `String`, which can't be wiped.
struct PEM {
    let name: String
    let der: SecretBytes

    /// - Returns: nil if the text contains no block.
    static func read(_ text: Span<UInt8>) throws(KeyContainerError) -> PEM? {
        var lines = PEMLines(text)
        guard var name = lines.skipToBlock() else { return nil }
        if name == "EC PARAMETERS" {
            // `openssl ecparam -genkey` writes the curve in a separate block. The key also names it.
            _ = try lines.endOfBlock(name)
            guard lines.skipToBlock() == "EC PRIVATE KEY" else {
                throw KeyContainerError(.notAKeyContainer, "no EC PRIVATE KEY block follows the EC PARAMETERS block")
            }
            name = "EC PRIVATE KEY"
        }
        let start = lines.position
        let end = try lines.endOfBlock(name)
        try lines.finish()
        guard let der = Base64.decode(text.extracting(start..<end), .padded) else {
            throw KeyContainerError(.malformed, "the PEM block's data isn't Base64")
        }
        return PEM(name: name, der: der)
    }

    static func write(_ name: String, _ der: SecretBytes) -> SecretBytes {
        var digits = Base64.encode(der.bytes)
        defer { wipe(&digits) }
        let front = Array("-----BEGIN \(name)-----\n".utf8)
        let back = Array("-----END \(name)-----\n".utf8)
        let lineCount = (digits.count + 63) / 64
        return SecretBytes(count: front.count + digits.count + lineCount + back.count) { text in
            text.write(front.bytes)
            for index in digits.indices { text[front.count + index + index / 64] = digits[index] }
            for line in 1...lineCount {
                text[front.count + min(64 * line, digits.count) + line - 1] = UInt8(ascii: "\n")
            }
            text.write(back.bytes, at: front.count + digits.count + lineCount)
        }
    }
}

private struct PEMLines: ~Escapable {
    private let text: Span<UInt8>
    private(set) var position = 0

    @_lifetime(copy text)
    init(_ text: Span<UInt8>) { self.text = text }

    /// Skips to the end of the next BEGIN line and returns the name in it.
    @_lifetime(self: copy self)
    mutating func skipToBlock() -> String? {
        while let line = next() {
            if let name = boundary(line, "BEGIN") { return name }
        }
        return nil
    }

    /// Skips to the end of the END line with that name and returns the start of that line.
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
                    "the key is encrypted in the old PEM format: convert it with `openssl pkcs8 -topk8`")
            }
        }
        throw KeyContainerError(.malformed, "the PEM block has no END line with its name")
    }

    /// Refuses anything but white space after the block.
    @_lifetime(self: copy self)
    mutating func finish() throws(KeyContainerError) {
        let rest = text.extracting(droppingFirst: position)
        guard skipToBlock() == nil else {
            throw KeyContainerError(.malformed, "more than one PEM block: a container contains one key")
        }
        for index in rest.indices where !rest[index].isWhiteSpace {
            throw KeyContainerError(.malformed, "text after the PEM block")
        }
    }

    /// Returns the range of the next line without the white space at its end.
    @_lifetime(self: copy self)
    private mutating func next() -> Range<Int>? {
        guard position < text.count else { return nil }
        let start = position
        while position < text.count, text[position] != UInt8(ascii: "\n") { position += 1 }
        var end = position
        while end > start, text[end - 1].isWhiteSpace { end -= 1 }
        position = min(position + 1, text.count)
        return start..<end
    }

    /// The name in "-----BEGIN name-----" or "-----END name-----".
    ///
    /// The limit keeps key data out of strings, which can't be wiped: a block without line breaks is one long line.
    private func boundary(_ line: Range<Int>, _ keyword: String) -> String? {
        guard line.count <= 80, begins(line, with: "-----") else { return nil }
        let characters = String(decoding: [UInt8](text.extracting(line)), as: UTF8.self)
        guard characters.hasPrefix("-----\(keyword) "), characters.hasSuffix("-----") else { return nil }
        return String(characters.dropFirst(keyword.count + 6).dropLast(5))
    }

    private func begins(_ line: Range<Int>, with prefix: String) -> Bool {
        let prefix = Array(prefix.utf8)
        guard line.count >= prefix.count else { return false }
        return constantTimeEqual(text.extracting(line).extracting(first: prefix.count), prefix.bytes)
    }
}
