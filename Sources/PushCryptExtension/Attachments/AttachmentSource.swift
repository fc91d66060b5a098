import PushCryptCore

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
