import PushCryptCore
import PushCryptPrimitives

/// Writes an attachment piece by piece. It checks the type when it has received the first 16 bytes, and the size with every
/// piece.
struct AttachmentWriter: Sendable {
    private let file: PartFile
    private let declaredType: String?
    private var type: AttachmentType?
    /// The bytes received before the type is known.
    private var head: [UInt8] = []
    private var byteCount = 0

    init(_ file: PartFile, declaredType: String? = nil) {
        self.file = file
        self.declaredType = declaredType
    }

    /// - Throws: `TransferError` with `wrongType`, `tooLarge`, `noSpace`, `inputOutput`.
    mutating func append(_ bytes: [UInt8]) throws(TransferError) {
        byteCount += bytes.count
        if let type {
            try checkSize(type)
            try file.write(bytes)
        } else {
            head += bytes
            guard head.count >= AttachmentType.headByteCount else { return }
            guard let type = AttachmentType.recognize(head, declared: declaredType) else {
                throw TransferError(
                    .wrongType,
                    declaredType == nil ? "the file is of no supported type" : "the file is not of its declared type")
            }
            self.type = type
            try checkSize(type)
            try file.write(head)
            head = []
        }
    }

    /// Renames the complete file. Don't call it after a failure. Throws `TransferError` with `wrongType` for a file
    /// that is too short for any type, `noSpace`, `inputOutput`; the file is removed then.
    func publish() throws(TransferError) -> (path: String, type: AttachmentType) {
        guard let type else {
            remove()
            throw TransferError(.wrongType, "the file is too short to be of a supported type")
        }
        return (try file.publish(extension: type.fileExtension), type)
    }

    func remove() { file.remove() }

    private func checkSize(_ type: AttachmentType) throws(TransferError) {
        let limit = type.family.limitInBytes
        guard byteCount <= limit else { throw .tooLarge(limit) }
    }
}

/// Opens the pieces of one download if they are sealed, and writes the plaintext. An unfinished file is removed when the
/// sink is released.
final class AttachmentSink: @unchecked Sendable {
    // Unchecked because of the opener, which is used under the lock only.
    /// nil for a file that isn't encrypted.
    private let opener: BlobOpener?
    private let writer: Locked<AttachmentWriter?>

    init(_ writer: AttachmentWriter, opener: BlobOpener? = nil) {
        self.writer = Locked(writer)
        self.opener = opener
    }

    deinit { remove() }

    func receive(_ piece: [UInt8]) throws {
        try writer.withLock { writer in Result { try writer?.append(opened(piece)) } }.get()
    }

    /// Verifies the end of the blob and renames the file.
    func finish() throws -> (path: String, type: AttachmentType) {
        try writer.withLock { writer in
            Result {
                guard let complete = writer else { throw TransferError(.inputOutput, "the file was removed") }
                do { try opener?.finish() } catch { throw TransferError.damaged }
                writer = nil
                return try complete.publish()
            }
        }.get()
    }

    /// Removes the file unless it was finished.
    func remove() {
        writer.withLock { writer in
            writer?.remove()
            writer = nil
        }
    }

    private func opened(_ piece: [UInt8]) throws(TransferError) -> [UInt8] {
        guard let opener else { return piece }
        var plaintext: [UInt8] = []
        do { try opener.open(piece, appendingTo: &plaintext) } catch { throw .damaged }
        return plaintext
    }
}

extension TransferError {
    /// The error for a truncated, changed or extended blob and for another blob, which the recipient can't distinguish.
    static let damaged = TransferError(.damaged, "the blob is not the one that the message refers to")

    static func tooLarge(_ limit: Int) -> TransferError {
        TransferError(.tooLarge, "the file is larger than the \(limit) bytes that its type may have")
    }
}
