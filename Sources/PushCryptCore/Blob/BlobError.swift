/// Why a blob wasn't sealed or can't be referred to. It carries no key, plaintext or URL.
public struct BlobError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// A reference with a URL, type, id, size, key or digest that the protocol doesn't have.
        public static let invalidReference = Code(name: "invalidReference")
        /// The plaintext is longer than a blob of its purpose may be.
        public static let tooLong = Code(name: "tooLong")
        /// The sealer has finished or failed before: what it has written so far is all, or nothing.
        public static let finished = Code(name: "finished")
        /// The cryptographic library failed: no entropy, no memory.
        public static let backendFailure = Code(name: "backendFailure")
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
