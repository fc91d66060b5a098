import PushCryptCore
import PushCryptPrimitives

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

/// Where one attachment of a push comes from.
struct AttachmentSource: Sendable {
    enum Place: Sendable {
        /// An encrypted blob.
        case blob(AttachmentReference)
        /// A file that lies at that address as it is.
        case file(String)
    }

    let identifier: String
    let place: Place

    /// Everything that a push names, in the order of the message: its blobs, then the members.
    ///
    /// - Parameter members: see ``AttachmentStage/Configuration/plainMembers``.
    static func all(of push: OpenedPush, members: [String]) -> [AttachmentSource] {
        let blobs = push.attachments.enumerated().map { index, reference in
            // No id of the sender's has a dot in it.
            AttachmentSource(identifier: reference.id ?? "attachment.\(index)", place: .blob(reference))
        }
        guard !members.isEmpty, let payload = try? JSONText(push.payload) else { return blobs }
        let files = members.compactMap { member in
            address(in: payload, member).map { AttachmentSource(identifier: "member.\(member)", place: .file($0)) }
        }
        return blobs + files
    }

    /// A member of the root by its whole name, or by the path to it.
    private static func address(in payload: JSONText, _ member: String) -> String? {
        var value = payload.root[member]
        if value == nil {
            value = payload.root
            for name in member.split(separator: ".") { value = value?[String(name)] }
        }
        guard let address = value?.string, !address.isEmpty else { return nil }
        return address
    }
}

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
