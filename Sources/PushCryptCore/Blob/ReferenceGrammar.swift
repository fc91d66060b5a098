/// The grammar of the strings of a reference. It allows less than the standards, so that all readers agree and no string
/// can be a path, a header or a command.
///
/// ```
/// url        = "https://" host [":" port] [("/" / "?") *uri-char]               at most 2,048 bytes
/// host       = label *("." label)                                               at most 253 bytes
/// label      = 1*(ALPHA / DIGIT / "-")                                          no user, no address in brackets
/// port       = 1*5DIGIT                                                         1 to 65535
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

    /// Which part of an address is wrong: the host, the port, or a character that must be written in another form, as in
    /// `https://example.com/Zoë 1.png`; nil if it is none of these.
    package static func fault(in address: some Collection<UInt8>) -> String? {
        let start = address.prefix { (0x21...0x7E).contains($0) && !$0.isOne(of: #""<>\^`{|}"#) }
        guard start.endIndex < address.endIndex else {
            guard address.starts(with: "https://".utf8) else { return nil }
            return authorityFault(address.dropFirst(8).prefix { !$0.isOne(of: "/?#") })
        }
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

    /// Whether the names of a host, between its dots, aren't empty. Devices read the addresses of requests with it too.
    package static func areLabels(_ host: some Collection<UInt8>) -> Bool {
        host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { !$0.isEmpty }
    }

    /// Whether digits are a port, 1 to 65535. Devices read the addresses of requests with it too.
    package static func isPort(_ text: some Collection<UInt8>) -> Bool {
        text.allSatisfy(\.isDigit) && (UInt16(String(decoding: text, as: UTF8.self)) ?? 0) > 0
    }

    private static func isAuthority(_ text: some Collection<UInt8>) -> Bool {
        let (host, port) = parts(ofAuthority: text)
        return host.count <= 253 && host.allSatisfy { $0.isAlphanumeric || $0.isOne(of: "-.") } && areLabels(host)
            && port.map { $0.count <= 5 && isPort($0) } ?? true
    }

    private static func authorityFault(_ text: some Collection<UInt8>) -> String? {
        guard !text.contains(UInt8(ascii: "@")) else { return nil }
        let (host, port) = parts(ofAuthority: text)
        guard areLabels(host) else { return "the host is not one name or several names with single dots between them" }
        return port.map { isPort($0) } ?? true ? nil : "the port is not a number from 1 to 65535"
    }

    /// A host in brackets contains colons.
    private static func parts<Text: Collection<UInt8>>(
        ofAuthority text: Text
    ) -> (host: Text.SubSequence, port: Text.SubSequence?) {
        let end = text.firstIndex(of: UInt8(ascii: "]")) ?? text.startIndex
        guard let colon = text[end...].firstIndex(of: UInt8(ascii: ":")) else { return (text[...], nil) }
        return (text[..<colon], text[colon...].dropFirst())
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
