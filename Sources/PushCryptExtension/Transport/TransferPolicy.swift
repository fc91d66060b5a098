import PushCryptCore

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
            let fault = ReferenceGrammar.fault(in: address.utf8).map { "in the address, \($0)" }
            throw TransferError(.addressRefused, fault ?? "the address does not consist of scheme, host and path")
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
/// port    = 1*digit                            1 to 65535
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
        // Parts: the scheme, the host and the port.
        let address =
            #/
            ([A-Za-z0-9]++) ://
            ([A-Za-z0-9_.-]++ | \[[0-9A-Fa-f:.]{2,}+\])
            (?: : ([0-9]+) )?
            (?: [/?\#] .* )?
            /#
        guard text.utf8.count <= Self.maximumByteCount, Self.hasOnlyAddressCharacters(Array(text.utf8)),
            let match = text.wholeMatch(of: address), match.3.map({ ReferenceGrammar.isPort($0.utf8) }) ?? true,
            match.2.hasPrefix("[") || ReferenceGrammar.areLabels(match.2.utf8)
        else { return nil }
        scheme = match.1.lowercased()
        host = match.2.lowercased()
    }

    /// Whether the host is this machine, by its reserved addresses or name.
    var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        // Only four decimal numbers are accepted, because resolvers don't agree on other spellings.
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers[0] == "127"
            && numbers.allSatisfy { number in UInt8(number).map(String.init) == String(number) }
    }

    /// Visible ASCII except `"<>\^`{|}`; `%` only before two hexadecimal digits.
    private static func hasOnlyAddressCharacters(_ bytes: [UInt8]) -> Bool {
        bytes.indices.allSatisfy { index in
            guard (0x21...0x7e).contains(bytes[index]), !#""<>\^`{|}"#.utf8.contains(bytes[index]) else { return false }
            let digits = bytes[(index + 1)...].prefix(2)
            return bytes[index] != UInt8(ascii: "%") || digits.count == 2 && digits.allSatisfy(isHexDigit)
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { "0123456789abcdefABCDEF".utf8.contains(byte) }
}
