public import PushCryptCore

/// A push that was opened and verified.
public struct OpenedPush: Sendable {
    /// The APNs payload as its sender wrote it, UTF-8 JSON, without the member that sealing added.
    public let payload: [UInt8]
    /// How many bytes of the message were padding.
    public let paddingByteCount: Int
    /// The recipient's key that opened it.
    public let kid: KeyID
    /// The pinned key that signed it; nil if no sender is pinned.
    public let signedBy: KeyID?

    private let message: JSONText
    private let header: MessageHeader
    /// Whether ``payload`` was fetched and isn't the message's own.
    private let isOffloaded: Bool

    init(_ inner: InnerPayload, _ header: MessageHeader, kid: KeyID, signedBy: KeyID?) {
        payload = inner.withoutHeader
        paddingByteCount = inner.paddingByteCount
        self.kid = kid
        self.signedBy = signedBy
        message = inner.text
        self.header = header
        isOffloaded = false
    }

    private init(_ push: OpenedPush, showing inner: InnerPayload) {
        payload = inner.text.bytes
        paddingByteCount = inner.paddingByteCount
        kid = push.kid
        signedBy = push.signedBy
        message = push.message
        header = push.header
        isOffloaded = true
    }

    /// The push with the payload that was offloaded; everything else stays the sealed message's, and nothing is left
    /// to fetch in its place.
    ///
    /// - Parameter json: the plaintext of the blob that ``offload`` names, verified to its end, with its padding.
    /// - Throws: `FailureClass.malformed` for a payload without alert text or with a `pushcrypt` member of its own.
    public func replacing(offloaded json: [UInt8]) throws(FailureClass) -> OpenedPush {
        OpenedPush(self, showing: try OffloadedPayload.innerPayload(plaintext: json))
    }
}

/// Members of the message, read from its text on each call.
extension OpenedPush {
    /// The content of the notification.
    public var content: NotificationContent {
        NotificationContent(payload: offloaded ?? message, userInfo: payload)
    }

    /// Scanned each time: the index of a large payload takes more memory than the payload.
    private var offloaded: JSONText? { isOffloaded ? try? JSONText(payload) : nil }

    /// The sender's own name for the push, for receipts: `push_id` beside `aps` or in its `alert`, a string or a number.
    public var pushID: String? {
        Self.pushID(in: message.root) ?? offloaded.flatMap { Self.pushID(in: $0.root) }
    }

    /// 16 bytes as 22 characters of base64url.
    public var messageID: String { Base64URL.encode(header.id) }

    /// When the sender sealed it, `iat`.
    public var issuedAt: UnixTime { header.issuedAt }

    /// Until when it may be shown, `exp`.
    public var expiresAt: UnixTime { header.expiresAt }

    /// The attachments to fetch, open and show with it: at most 8, with distinct ids.
    public var attachments: [AttachmentReference] { header.extras.attachments }

    /// Where the payload is that replaces this one, if it can be fetched; see ``replacing(offloaded:)``.
    public var offload: OffloadReference? { isOffloaded ? nil : header.extras.offload }

    /// Whether the sender sealed it to see if the extension works.
    public var isSelfTest: Bool { header.extras.isSelfTest }

    private static func pushID(in root: JSONValue) -> String? {
        guard let value = root["push_id"] ?? root["aps"]?["alert"]?["push_id"] else { return nil }
        switch value.kind {
        case .string: return value.string
        case .number: return String(decoding: value.rawBytes, as: UTF8.self)
        default: return nil
        }
    }
}
