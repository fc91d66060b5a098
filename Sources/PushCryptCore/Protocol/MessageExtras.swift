import PushCryptPrimitives

/// What a message may carry in addition to its payload: members of its header (PROTOCOL sections 5 to 7).
///
/// ```
/// "attachments": [1 to 8 of AttachmentReference, their ids distinct], "offload": OffloadReference, "test": true
/// ```
/// A member is not empty, or it is missing.
package struct MessageExtras: Equatable, Sendable {
    package var attachments: [AttachmentReference]
    /// Where to fetch the payload that is shown in place of this one.
    package var offload: OffloadReference?
    /// Whether the message is a test of the extension.
    package var isSelfTest: Bool

    package init(
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, isSelfTest: Bool = false
    ) {
        self.attachments = attachments
        self.offload = offload
        self.isSelfTest = isSelfTest
    }

    /// Why these can't be sealed; nil where they can.
    package var flaw: String? {
        guard attachments.count <= AttachmentReference.maximumCount else {
            return "a message has at most \(AttachmentReference.maximumCount) attachments"
        }
        return attachments.count < 2 || hasDistinctIDs ? nil : "two attachments have the same id"
    }

    private var hasDistinctIDs: Bool {
        let ids = attachments.compactMap(\.id)
        return Set(ids).count == ids.count
    }

    /// - Parameter header: the `pushcrypt` member of an inner payload.
    /// - Returns: nil where a member breaks a rule.
    init?(_ header: JSONValue) {
        self.init()
        if let list = header["attachments"] {
            let read = list.elements.compactMap(AttachmentReference.init)
            guard !read.isEmpty, read.count == list.elements.count else { return nil }
            attachments = read
        }
        if let value = header["offload"] {
            guard let read = OffloadReference(value) else { return nil }
            offload = read
        }
        if let value = header["test"] {
            guard value.boolean == true else { return nil }
            isSelfTest = true
        }
        guard flaw == nil else { return nil }
    }

    /// Members with a comma before each.
    func append(to member: inout [UInt8]) {
        for (index, attachment) in attachments.enumerated() {
            member += (index == 0 ? #","attachments":["# : ",").utf8
            attachment.append(to: &member)
        }
        if !attachments.isEmpty { member.append(UInt8(ascii: "]")) }
        if let offload {
            member += #","offload":"#.utf8
            offload.append(to: &member)
        }
        if isSelfTest { member += #","test":true"#.utf8 }
    }
}
