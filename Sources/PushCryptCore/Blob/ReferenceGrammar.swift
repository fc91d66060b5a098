/// The grammar of the strings of a reference. It allows less than the standards, so that all readers agree and no string
/// can be a path, a header or a command.
///
/// ```
/// url        = "https://" host [":" 1*5DIGIT] [("/" / "?") *uri-char]           at most 2,048 bytes
/// host       = 1*253(ALPHA / DIGIT / "-" / ".")                                 no user, no address in brackets
/// uri-char   = ALPHA / DIGIT / any of -._~:/?[]@!$&'()*+,;= / "%" 2HEXDIG       RFC 3986, without a fragment
/// type       = name "/" name
/// name       = (lower / DIGIT) *63(lower / DIGIT / any of .+_-)                 RFC 6838, in lower case
/// id         = 1*64(ALPHA / DIGIT / "_" / "-")
/// ```
package enum ReferenceGrammar {
    static func isURL(_ text: some Collection<UInt8>) -> Bool {
        guard text.count <= 2_048, text.starts(with: "https://".utf8) else { return false }
        let rest = text.dropFirst(8)
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        return isAuthority(rest[..<end]) && areURLCharacters(rest[end...])
    }

    /// Which character of an address must be written in another form, as in `https://example.com/Zoë 1.png`; nil if there is none.
    package static func unescapedCharacter(in address: some Collection<UInt8>) -> String? {
        let start = address.prefix { (0x21...0x7E).contains($0) && !$0.isOne(of: #""<>\^`{|}"#) }
        guard start.endIndex < address.endIndex else { return nil }
        let isInHost = !start.dropFirst("https://".utf8.count).contains { $0.isOne(of: "/?") }
        return "the character at byte \(start.count) "
            + (isInHost
                ? "isn't one of a host: write letters beyond ASCII in punycode (xn--…)"
                : "isn't percent-encoded, as in %20 for a space and %C3%AB for ë")
    }

    static func isMediaType(_ text: some Collection<UInt8>) -> Bool {
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")) else { return false }
        return isMediaTypeName(text[..<slash]) && isMediaTypeName(text[slash...].dropFirst())
    }

    static func isID(_ text: some Collection<UInt8>) -> Bool {
        (1...64).contains(text.count) && text.allSatisfy { $0.isAlphanumeric || $0.isOne(of: "_-") }
    }

    private static func isAuthority(_ text: some Collection<UInt8>) -> Bool {
        let colon = text.firstIndex(of: UInt8(ascii: ":"))
        let host = text[..<(colon ?? text.endIndex)]
        guard (1...253).contains(host.count), host.allSatisfy({ $0.isAlphanumeric || $0.isOne(of: "-.") })
        else { return false }
        guard let colon else { return true }
        let port = text[colon...].dropFirst()
        return (1...5).contains(port.count) && port.allSatisfy(\.isDigit)
    }

    private static func areURLCharacters(_ text: some Collection<UInt8>) -> Bool {
        var hexadecimalDigits = 0
        for byte in text {
            if hexadecimalDigits > 0 {
                guard JSONEscape.hexadecimalValue(of: byte) != nil else { return false }
                hexadecimalDigits -= 1
            } else if byte == UInt8(ascii: "%") {
                hexadecimalDigits = 2
            } else {
                guard byte.isAlphanumeric || byte.isOne(of: "-._~:/?[]@!$&'()*+,;=") else { return false }
            }
        }
        return hexadecimalDigits == 0
    }

    private static func isMediaTypeName(_ name: some Collection<UInt8>) -> Bool {
        guard let first = name.first, first.isLowercaseOrDigit, name.count <= 64 else { return false }
        return name.allSatisfy { $0.isLowercaseOrDigit || $0.isOne(of: ".+_-") }
    }
}
