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
