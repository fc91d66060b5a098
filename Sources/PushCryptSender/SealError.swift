/// Why a push wasn't sealed. It carries nothing of the payload.
public struct SealError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        let name: String

        public var description: String { name }

        /// The inner payload isn't strict JSON, is too large for any message, has no alert text, or was sealed before.
        public static let invalidPayload = Code(name: "invalidPayload")
        /// The placeholder has no text.
        public static let invalidPlaceholder = Code(name: "invalidPlaceholder")
        /// The topic isn't a bundle identifier.
        public static let invalidTopic = Code(name: "invalidTopic")
        /// A limit, a lifetime or the name of an exposed member that the protocol doesn't have.
        public static let invalidOption = Code(name: "invalidOption")
        /// The payload doesn't have a member that is to be exposed, or its value isn't of the member's type.
        public static let notExposable = Code(name: "notExposable")
        /// The payload doesn't fit; `bytesNeeded` and `bytesAvailable` say by how much.
        public static let tooLarge = Code(name: "tooLarge")
        /// The cryptographic library failed: no entropy, no memory.
        public static let backendFailure = Code(name: "backendFailure")
    }

    public let code: Code
    /// What is wrong and where.
    public let reason: String
    /// With `tooLarge`: the length of the outer payload without any padding.
    public let bytesNeeded: Int?
    /// With `tooLarge`: the limit.
    public let bytesAvailable: Int?

    init(_ code: Code, _ reason: String, bytesNeeded: Int? = nil, bytesAvailable: Int? = nil) {
        self.code = code
        self.reason = reason
        self.bytesNeeded = bytesNeeded
        self.bytesAvailable = bytesAvailable
    }

    public var description: String { reason }
}
