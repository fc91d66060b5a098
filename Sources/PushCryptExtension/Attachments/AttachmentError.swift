/// Why an attachment couldn't be had. It names no address, key or content.
public struct AttachmentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String

        /// More bytes than the system takes of such a file, or than the message says.
        public static let tooLarge = Code(name: "tooLarge")
        /// Not a file of a supported type, or of another than the declared one.
        public static let wrongType = Code(name: "wrongType")
        /// Not the bytes that the message is about: cut off, changed, somebody else's.
        public static let damaged = Code(name: "damaged")
        /// The device is full.
        public static let noSpace = Code(name: "noSpace")
        /// The file system failed.
        public static let inputOutput = Code(name: "inputOutput")
    }

    public let code: Code
    public let reason: String

    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason }
}
