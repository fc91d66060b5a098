/// Which addresses a transfer may go to: the first one, and after every redirect the next.
public struct TransferPolicy: Hashable, Sendable {
    /// The only hosts that are asked, in small letters, without port; nil for any. A subdomain is another host.
    public var allowedHosts: Set<String>?
    /// For tests: http to 127.0.0.0/8, `[::1]` and `localhost`.
    public var allowsLoopbackHTTP: Bool
    /// How many redirects of one transfer are followed.
    public var maximumRedirects: Int

    public init(allowedHosts: Set<String>? = nil, allowsLoopbackHTTP: Bool = false, maximumRedirects: Int = 5) {
        self.allowedHosts = allowedHosts
        self.allowsLoopbackHTTP = allowsLoopbackHTTP
        self.maximumRedirects = maximumRedirects
    }

    /// Says whether a request may go there.
    ///
    /// - Throws: `TransferError` with `addressRefused`.
    public func check(_ address: String) throws(TransferError) {
        guard let address = WebAddress(address) else {
            throw TransferError(.addressRefused, "the address is not one of scheme, host and path")
        }
        guard address.scheme == "https" || allowsLoopbackHTTP && address.scheme == "http" && address.isLoopback else {
            throw TransferError(.addressRefused, "the address is not an https address")
        }
        guard allowedHosts?.contains(address.host) ?? true else {
            throw TransferError(.addressRefused, "the address is on a host that is not among the allowed ones")
        }
    }
}
