/// The addresses that a transfer may use. The policy is checked for the first request and for every redirect.
public struct TransferPolicy: Hashable, Sendable {
    /// The allowed hosts, in lower case, without port; nil allows any host. A subdomain is another host.
    public var allowedHosts: Set<String>?
    /// For tests: allows http to 127.0.0.0/8, `[::1]` and `localhost`.
    public var allowsLoopbackHTTP: Bool
    /// How many redirects one transfer follows.
    public var maximumRedirects: Int

    /// Creates a policy. The default allows https to any host and 5 redirects.
    public init(allowedHosts: Set<String>? = nil, allowsLoopbackHTTP: Bool = false, maximumRedirects: Int = 5) {
        self.allowedHosts = allowedHosts
        self.allowsLoopbackHTTP = allowsLoopbackHTTP
        self.maximumRedirects = maximumRedirects
    }

    /// Checks whether a request to the address is allowed.
    ///
    /// - Throws: `TransferError` with `addressRefused`.
    public func check(_ address: String) throws(TransferError) {
        guard let address = WebAddress(address) else {
            throw TransferError(.addressRefused, "the address does not consist of scheme, host and path")
        }
        guard address.scheme == "https" || allowsLoopbackHTTP && address.scheme == "http" && address.isLoopback else {
            throw TransferError(.addressRefused, "the address is not an https address")
        }
        guard allowedHosts?.contains(address.host) ?? true else {
            throw TransferError(.addressRefused, "the host of the address is not allowed")
        }
    }
}

/// The parts of an address that a policy checks.
///
/// ```
/// address = scheme "://" host [":" port] [("/" | "?" | "#") rest]
/// host    = label *("." label) | "[" IPv6 "]"
/// label   = 1*(letter | digit | "-" | "_")
/// ```
///
/// RFC 3986 without user names, and without anything that two parsers could read differently. An attacker who gets a
/// backslash, a line break or an `@` past the check could send the request to another host than the checked one. Host
/// names outside ASCII must be written as punycode.
struct WebAddress {
    /// In lower case.
    let scheme: String
    /// In lower case; an IPv6 address with its brackets.
    let host: String

    static let maximumByteCount = 8192

    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.maximumByteCount, Self.hasOnlyAddressCharacters(bytes) else { return nil }
        guard let separator = text.firstRange(of: "://") else { return nil }
        scheme = text[..<separator.lowerBound].lowercased()
        guard !scheme.isEmpty, scheme.utf8.allSatisfy(Self.isLetterOrDigit) else { return nil }
        let authority = text[separator.upperBound...].prefix { !"/?#".contains($0) }
        guard let host = Self.host(of: authority) else { return nil }
        self.host = host.lowercased()
    }

    /// Whether the host is this machine, by its reserved addresses or name.
    var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        // Only four decimal numbers are accepted, because resolvers don't agree on other spellings.
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { number in UInt8(number).map(String.init) == String(number) }
    }

    private static func host(of authority: Substring) -> Substring? {
        var host = authority
        if authority.first == "[" {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            guard host.dropFirst().dropLast().utf8.allSatisfy(isIPv6Character), host.count > 3 else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            let labels = host.split(separator: ".", omittingEmptySubsequences: false)
            guard labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isLabelCharacter) }) else { return nil }
        }
        let port = authority[host.endIndex...]
        guard port.isEmpty || isPort(port) else { return nil }
        return host
    }

    private static func isPort(_ text: Substring) -> Bool {
        guard text.first == ":", text.dropFirst().utf8.allSatisfy(isDigit) else { return false }
        return UInt16(text.dropFirst()).map { $0 > 0 } ?? false
    }

    /// Visible ASCII except `"<>\^`{|}`; `%` only before two hexadecimal digits.
    private static func hasOnlyAddressCharacters(_ bytes: [UInt8]) -> Bool {
        for (index, byte) in bytes.enumerated() {
            guard byte > 0x20, byte < 0x7f, !#""<>\^`{|}"#.utf8.contains(byte) else { return false }
            if byte == UInt8(ascii: "%") {
                let digits = bytes[(index + 1)...].prefix(2)
                guard digits.count == 2, digits.allSatisfy(isHexDigit) else { return false }
            }
        }
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isLabelCharacter(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    private static func isIPv6Character(_ byte: UInt8) -> Bool {
        isHexDigit(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }
}
