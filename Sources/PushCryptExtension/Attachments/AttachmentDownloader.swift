import PushCryptCore

/// Fetches one attachment to a file. Whatever fails, no file is left.
struct AttachmentDownloader: Sendable {
    let transport: any HTTPTransport
    let folder: AttachmentFolder

    /// - Throws: `AttachmentError`, `TransferError`; when the task is cancelled the latter, at once.
    func download(_ source: AttachmentSource) async throws -> NotificationContent.Attachment {
        switch source.place {
        case .blob(let reference):
            try checkSize(of: reference)
            let writer = AttachmentWriter(try folder.makePartFile(), declaredType: reference.type)
            let sink = AttachmentSink(writer, opener: BlobOpener(reference.blob))
            return try await fill(sink, from: reference.url, source.identifier)
        case .file(let address):
            let sink = AttachmentSink(AttachmentWriter(try folder.makePartFile()))
            return try await fill(sink, from: address, source.identifier)
        }
    }

    private func fill(
        _ sink: AttachmentSink, from address: String, _ identifier: String
    ) async throws -> NotificationContent.Attachment {
        defer { sink.remove() }
        try await transport.get(address) { piece in try sink.receive(piece) }
        let (path, type) = try sink.finish()
        return NotificationContent.Attachment(identifier: identifier, path: path, type: type)
    }

    /// What the system wouldn't take isn't downloaded.
    private func checkSize(of reference: AttachmentReference) throws(AttachmentError) {
        guard let limit = AttachmentType.limitInBytes(declared: reference.type) else {
            throw AttachmentError(.wrongType, "the declared type is not a supported one")
        }
        guard reference.blob.size <= limit else {
            throw AttachmentError(.tooLarge, "the file has more than the \(limit) bytes of its kind")
        }
    }
}
