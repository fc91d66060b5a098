/// How the extension reaches the network. An app uses `URLSessionTransport` of PushCryptApple; a tool that only opens payloads
/// needs no network library.
public protocol HTTPTransport: Sendable {
    /// Fetches a body piece by piece, in order. Cancelling the task ends the transfer.
    ///
    /// - Parameters:
    ///   - address: https, or what the transport's policy allows.
    ///   - receive: called with each piece as it arrives, and not any more once this function has returned; the next
    ///     piece waits for it, so that slow work doesn't pile them up. An error from it ends the transfer and is thrown
    ///     on.
    /// - Throws: `TransferError`, or what `receive` throws.
    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws

    /// Sends a body and waits for the head of an answer of success; the answer's body isn't read. Cancelling the task ends
    /// the transfer.
    ///
    /// - Throws: `TransferError`.
    func post(_ body: [UInt8], contentType: String, to address: String) async throws
}

/// Why nothing was transferred. It names no address: those may be secrets of the message.
public struct TransferError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// Not a URL, not https, or a host that the policy doesn't allow, at first or after a redirect.
        public static let addressRefused = Code(name: "addressRefused")
        /// An answer other than success: 200, when something is sent any of 2xx.
        public static let status = Code(name: "status")
        /// A body in a content encoding that wasn't asked for: a small one may unpack to any size.
        public static let encoding = Code(name: "encoding")
        /// The network failed, or the body wasn't as long as its head said.
        public static let network = Code(name: "network")
        /// It was cancelled or took too long.
        public static let cancelled = Code(name: "cancelled")
    }

    /// The kind of failure.
    public let code: Code
    /// What went wrong, for logs; it names no address.
    public let reason: String

    /// Makes an error of its members.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
