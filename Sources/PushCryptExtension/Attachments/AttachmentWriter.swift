/// Writes an attachment as it comes, and looks at it on the way: the type as soon as its first bytes are there, the size
/// with every piece.
struct AttachmentWriter: Sendable {
    private let file: PartFile
    private let declaredType: String?
    private var type: AttachmentType?
    /// What was received before the type is known.
    private var head: [UInt8] = []
    private var byteCount = 0

    /// - Parameter declaredType: what the sender calls it; nil where nobody said.
    init(_ file: PartFile, declaredType: String? = nil) {
        self.file = file
        self.declaredType = declaredType
    }

    /// - Throws: `AttachmentError` with `wrongType`, `tooLarge`, `noSpace`, `inputOutput`.
    mutating func append(_ bytes: [UInt8]) throws(AttachmentError) {
        byteCount += bytes.count
        if let type {
            try checkSize(type)
            try file.write(bytes)
        } else {
            head += bytes
            guard head.count >= AttachmentType.headByteCount else { return }
            let type = try recognize()
            try checkSize(type)
            try file.write(head)
            head = []
        }
    }

    /// Gives the file its name; nothing comes after it, nor after a failure.
    ///
    /// - Throws: `AttachmentError` with `wrongType` for a file too short to be of any type, `noSpace`, `inputOutput`; the
    ///   file is gone then.
    func publish() throws(AttachmentError) -> (path: String, type: AttachmentType) {
        guard let type else {
            remove()
            throw AttachmentError(.wrongType, "the file is too short to be of a supported type")
        }
        return (try file.publish(extension: type.fileExtension), type)
    }

    func remove() {
        file.remove()
    }

    private mutating func recognize() throws(AttachmentError) -> AttachmentType {
        guard let type = AttachmentType.recognize(head, declared: declaredType) else {
            throw AttachmentError(
                .wrongType,
                declaredType == nil ? "the file is of no supported type" : "the file is not of its declared type")
        }
        self.type = type
        return type
    }

    private func checkSize(_ type: AttachmentType) throws(AttachmentError) {
        let limit = type.family.limitInBytes
        guard byteCount <= limit else {
            throw AttachmentError(.tooLarge, "the file has more than the \(limit) bytes of its kind")
        }
    }
}

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

    /// The kind of failure.
    public let code: Code
    /// What went wrong, for logs; it names no address, key or content.
    public let reason: String

    /// Makes an error of its members.
    public init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The reason.
    public var description: String { reason }
}
