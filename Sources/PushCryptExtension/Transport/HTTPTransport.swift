public import PushCryptPrimitives

/// The extension's access to the network. Apps use `URLSessionTransport` of PushCryptApple; a tool that only opens payloads
/// needs no network library.
public protocol HTTPTransport: Sendable {
    /// Fetches a body piece by piece, in order. Cancelling the task ends the transfer.
    ///
    /// - Parameters:
    ///   - address: https, or another address that the transport's policy allows.
    ///   - receive: called with each piece, and never after this function has returned. The next piece waits until
    ///     `receive` returns, so pieces don't accumulate in memory. An error that it throws ends the transfer and is
    ///     rethrown.
    /// - Throws: `TransferError`, or the error of `receive`.
    func get(_ address: String, receive: @escaping @Sendable ([UInt8]) throws -> Void) async throws

    /// Posts a body and waits for a response head with a success status; the response's body isn't read. Cancelling the
    /// task ends the transfer.
    ///
    /// - Throws: `TransferError`.
    func post(_ post: HTTPPost) async throws
}

/// Hands posts to the system, which completes them although the process is suspended or ended.
public protocol BackgroundTransport: Sendable {
    /// Hands over a post and returns.
    ///
    /// - Parameter receiptID: the receipt in the post. It is removed from the store when the server has accepted it.
    /// - Throws: `TransferError` if the system can't take it.
    func begin(_ post: HTTPPost, receiptID: String) throws(TransferError)
}

/// A body to post.
public struct HTTPPost: Hashable, Sendable {
    /// https, or another address that the transport's policy allows.
    public let address: String
    /// The body.
    public let body: [UInt8]
    /// The media type of the body.
    public let contentType: String
    /// The `User-Agent` header; nil for the system's own.
    public let userAgent: String?

    /// Creates a post.
    public init(_ body: [UInt8], contentType: String, userAgent: String? = nil, to address: String) {
        self.body = body
        self.contentType = contentType
        self.userAgent = userAgent
        self.address = address
    }
}

/// Why a transfer failed, or why a fetched file can't be used. It contains no address, key or content: addresses may be
/// secrets of the message.
public struct TransferError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// The address of the request or of a redirect is no URL, isn't https, or names a host that the policy doesn't allow.
        public static let addressRefused = Code(name: "addressRefused")
        /// The response has another status than 200 (`get`) or 2xx (`post`).
        public static let status = Code(name: "status")
        /// The body has a content encoding that wasn't requested: a small body could decompress to any size.
        public static let encoding = Code(name: "encoding")
        /// The network failed, or the body doesn't have the length that the head declares.
        public static let network = Code(name: "network")
        /// The transfer was cancelled or took too long.
        public static let cancelled = Code(name: "cancelled")
        /// The file is larger than the system accepts or than the message declares.
        public static let tooLarge = Code(name: "tooLarge")
        /// The file isn't of a supported type, or not of the declared type.
        public static let wrongType = Code(name: "wrongType")
        /// The blob isn't the one that the message refers to: truncated, changed, or another blob.
        public static let damaged = Code(name: "damaged")
        /// The disk is full.
        public static let noSpace = Code(name: "noSpace")
        /// A header has characters that headers can't have.
        public static let headerRefused = Code(name: "headerRefused")
        /// The file system failed.
        public static let inputOutput = Code(name: "inputOutput")
    }

    /// The kind of failure.
    public let code: Code
    /// What failed, for logs; it contains no address, key or content.
    public let reason: String

    /// Creates an error.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
