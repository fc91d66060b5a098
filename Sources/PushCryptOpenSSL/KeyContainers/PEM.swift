import PushCryptPrimitives

// RFC 7468 section 3; RFC 1421's headers, between the first line and the data, are refused:
//
// -----BEGIN name-----
// base64 of DER, in lines of 64 characters
// -----END name-----

/// One block of PEM.
struct PEM {
    let name: String
    let der: SecretBytes

    /// - Returns: nil where no line begins a block.
    static func read(_ text: Span<UInt8>) throws(KeyContainerError) -> PEM? {
        var lines = PEMLines(text)
        guard var name = lines.skipToBlock() else { return nil }
        if name == "EC PARAMETERS" {
            // `openssl ecparam -genkey` writes the curve in a block of its own; the key names it as well.
            _ = try lines.endOfBlock(name)
            guard lines.skipToBlock() == "EC PRIVATE KEY" else {
                throw KeyContainerError(.notAKeyContainer, "curve parameters without an EC PRIVATE KEY after them")
            }
            name = "EC PRIVATE KEY"
        }
        let start = lines.position
        let end = try lines.endOfBlock(name)
        try lines.finish()
        guard let der = Base64.decode(text.extracting(start..<end)) else {
            throw KeyContainerError(.malformed, "the PEM block's data isn't Base64")
        }
        return PEM(name: name, der: der)
    }

    static func write(_ name: String, _ der: Span<UInt8>) -> SecretBytes {
        let digits = Base64.encode(der)
        let lineCount = (digits.count + 63) / 64
        let lines = SecretBytes(count: digits.count + lineCount) { text in
            for index in 0..<digits.count {
                text[index + index / 64] = digits.bytes[index]
            }
            for line in 1...lineCount {
                text[min(64 * line, digits.count) + line - 1] = UInt8(ascii: "\n")
            }
        }
        let (front, back) = ("-----BEGIN \(name)-----\n", "-----END \(name)-----\n")
        return SecretBytes(joining: Array(front.utf8), lines, Array(back.utf8))
    }
}
