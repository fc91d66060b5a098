public import PushCryptCore

/// A push that was opened and verified.
public struct OpenedPush: Sendable {
    /// The APNs payload as its sender wrote it, UTF-8 JSON: without the member that sealing added.
    public let payload: [UInt8]
    public let content: NotificationContent
    /// The sender's own name for the push, for receipts: `push_id` beside `aps` or in its `alert`, a string or a number.
    public let pushID: String?
    /// 16 bytes as 22 characters of base64url.
    public let messageID: String
    public let issuedAt: UnixTime
    public let expiresAt: UnixTime
    /// How many bytes of the message were padding.
    public let paddingByteCount: Int
    /// The recipient's key that opened it.
    public let kid: KeyID
    /// The pinned key that signed it; nil where none is pinned.
    public let signedBy: KeyID?
    /// What is to be fetched, opened and shown with it: at most 8, their ids distinct.
    public let attachments: [AttachmentReference]
    /// Where the payload is that is to be shown in place of this one, if it can be had; see
    /// ``replacing(offloaded:)``.
    public let offload: OffloadReference?
    /// Whether the sender sealed it to see if the extension works.
    public let isSelfTest: Bool

    init(_ inner: InnerPayload, _ header: MessageHeader, kid: KeyID, signedBy: KeyID?) {
        payload = inner.withoutHeader
        content = NotificationContent(payload: inner.text, userInfo: payload)
        pushID = Self.pushID(in: inner.text.root)
        messageID = Base64URL.encode(header.id)
        issuedAt = header.issuedAt
        expiresAt = header.expiresAt
        paddingByteCount = inner.paddingByteCount
        self.kid = kid
        self.signedBy = signedBy
        attachments = header.extras.attachments
        offload = header.extras.offload
        isSelfTest = header.extras.isSelfTest
    }

    /// The push with the payload that was offloaded; everything else stays the sealed message's, and nothing is left
    /// to fetch in its place.
    ///
    /// - Parameter json: the plaintext of the blob that ``offload`` names, verified to its end, with its padding.
    /// - Throws: `FailureClass.malformed` for a payload without alert text or with a `pushcrypt` member of its own.
    public func replacing(offloaded json: [UInt8]) throws(FailureClass) -> OpenedPush {
        OpenedPush(self, showing: try OffloadedPayload.innerPayload(plaintext: json))
    }

    private init(_ push: OpenedPush, showing offloaded: InnerPayload) {
        payload = offloaded.text.bytes
        content = NotificationContent(payload: offloaded.text, userInfo: payload)
        pushID = push.pushID ?? Self.pushID(in: offloaded.text.root)
        paddingByteCount = offloaded.paddingByteCount
        messageID = push.messageID
        issuedAt = push.issuedAt
        expiresAt = push.expiresAt
        kid = push.kid
        signedBy = push.signedBy
        attachments = push.attachments
        offload = nil
        isSelfTest = push.isSelfTest
    }

    private static func pushID(in root: JSONValue) -> String? {
        guard let value = root["push_id"] ?? root["aps"]?["alert"]?["push_id"] else { return nil }
        switch value.kind {
        case .string: return value.string
        case .number: return String(decoding: value.rawBytes, as: UTF8.self)
        default: return nil
        }
    }
}
