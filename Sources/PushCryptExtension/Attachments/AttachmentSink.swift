import PushCryptCore
import PushCryptPrimitives

/// Takes the pieces of one download, opens them where they are sealed, and writes what comes out; what isn't finished in
/// the end is removed.
final class AttachmentSink: @unchecked Sendable {
    // Unchecked because of the opener: it is used under the lock only.
    private let opener: BlobOpener?
    private let writer: Locked<AttachmentWriter?>

    /// - Parameter opener: nil for a file that comes as it is.
    init(_ writer: AttachmentWriter, opener: BlobOpener? = nil) {
        self.writer = Locked(writer)
        self.opener = opener
    }

    deinit {
        remove()
    }

    /// - Throws: `AttachmentError`.
    func receive(_ piece: [UInt8]) throws {
        try writer.withLock { writer in
            Result { try writer?.append(opened(piece)) }
        }.get()
    }

    /// The download is complete: the file gets its name if it is what the message is about.
    ///
    /// - Throws: `AttachmentError`.
    func finish() throws -> (path: String, type: AttachmentType) {
        try writer.withLock { writer in
            Result {
                guard let whole = writer else { throw AttachmentError(.inputOutput, "the file is gone") }
                do {
                    try opener?.finish()
                } catch {
                    throw AttachmentError.damaged
                }
                writer = nil
                return try whole.publish()
            }
        }.get()
    }

    /// Nothing of it is kept, unless it was finished.
    func remove() {
        writer.withLock { writer in
            writer?.remove()
            writer = nil
        }
    }

    private func opened(_ piece: [UInt8]) throws(AttachmentError) -> [UInt8] {
        guard let opener else { return piece }
        var plaintext: [UInt8] = []
        do {
            try opener.open(piece, appendingTo: &plaintext)
        } catch {
            throw .damaged
        }
        return plaintext
    }
}

extension AttachmentError {
    /// Cut off, changed, extended or somebody else's: one failure, as everywhere.
    static let damaged = AttachmentError(.damaged, "the blob is not the one that the message is about")
}
