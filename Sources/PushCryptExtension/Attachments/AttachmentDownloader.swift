package import PushCryptCore
import PushCryptPrimitives

/// Fetches one attachment into a file, and removes the file after a failure.
struct AttachmentDownloader: Sendable {
    let transport: any HTTPTransport
    let folder: AttachmentFolder

    /// - Throws: `TransferError`; with `cancelled` as soon as the task is cancelled.
    func download(_ source: AttachmentSource) async throws -> NotificationContent.Attachment {
        let sink: AttachmentSink
        let address: String
        switch source.place {
        case .blob(let reference):
            // Refuses a file that the system wouldn't show, before it is downloaded.
            guard let limit = AttachmentType.limitInBytes(declared: reference.type) else {
                throw TransferError(.wrongType, "the declared type is not supported")
            }
            guard reference.blob.size <= limit else { throw TransferError.tooLarge(limit) }
            let writer = AttachmentWriter(try folder.makePartFile(), declaredType: reference.type)
            sink = AttachmentSink(writer, opener: BlobOpener(reference.blob))
            address = reference.url
        case .file(let url):
            sink = AttachmentSink(AttachmentWriter(try folder.makePartFile()))
            address = url
        }
        defer { sink.remove() }
        try await transport.get(address) { piece in try sink.receive(piece) }
        let (path, type) = try sink.finish()
        return NotificationContent.Attachment(identifier: source.identifier, path: path, type: type)
    }
}

package struct AttachmentSource: Sendable {
    enum Place: Sendable {
        case blob(AttachmentReference)
        /// The address of a file that isn't encrypted.
        case file(String)
    }

    package let identifier: String
    let place: Place

    /// All sources that a push names: its blobs in their order, then the files of the members.
    ///
    /// - Parameter members: see ``AttachmentStage/Configuration/plainMembers``.
    package static func all(of push: OpenedPush, members: [String]) -> [AttachmentSource] {
        let blobs = push.attachments.enumerated().map { index, reference in
            // The ids that senders choose contain no dot, so the names differ.
            AttachmentSource(identifier: reference.id ?? "attachment.\(index)", place: .blob(reference))
        }
        guard !members.isEmpty, let payload = try? JSONText(push.payload) else { return blobs }
        let files = members.compactMap { member -> AttachmentSource? in
            guard let address = payload.root.member(member)?.string, !address.isEmpty else { return nil }
            return AttachmentSource(identifier: "member.\(member)", place: .file(address))
        }
        return blobs + files
    }
}

extension JSONValue {
    /// Looks up a member by its whole name, or else by its path, such as `aps.alert.image`.
    package func member(_ name: String) -> JSONValue? {
        self[name] ?? name.split(separator: ".").reduce(self) { value, name in value?[String(name)] }
    }
}
