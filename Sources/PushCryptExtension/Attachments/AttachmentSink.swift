import PushCryptPrimitives

/// Takes the pieces of one download; what isn't finished in the end is removed.
final class AttachmentSink: Sendable {
    private let writer: Locked<AttachmentWriter?>

    init(_ writer: AttachmentWriter) {
        self.writer = Locked(writer)
    }

    deinit {
        remove()
    }

    /// - Throws: `AttachmentError`.
    func receive(_ piece: [UInt8]) throws {
        try writer.withLock { writer in
            Result { try writer?.append(piece) }
        }.get()
    }

    /// The download is complete.
    ///
    /// - Throws: `AttachmentError`.
    func finish() throws -> (path: String, type: AttachmentType) {
        try writer.withLock { writer in
            Result {
                guard let whole = writer else { throw AttachmentError(.damaged, "the file is gone") }
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
}
