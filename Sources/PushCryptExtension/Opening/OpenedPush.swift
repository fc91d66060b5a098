public import PushCryptCore

/// A push that was opened and verified.
public struct OpenedPush: Sendable {
    /// The APNs payload as its sender wrote it, UTF-8 JSON, without the member added by sealing.
    public private(set) var payload: [UInt8]
    /// The number of padding bytes in the message.
    public let paddingByteCount: Int
    /// The recipient's key that opened the push.
    public let kid: KeyID
    /// The suite of this key.
    public let suite: Suite
    /// The pinned key that verified the signature; nil if no sender is pinned.
    public let signedBy: KeyID?
    /// The system's name of the notification, `UNNotificationRequest.identifier`: for `UNUserNotificationCenter` it names the
    /// notification when it is shown. nil if the push wasn't received in a service extension.
    public internal(set) var requestID: String?
    /// The content of the image file that ``avatar`` refers to; nil if ``ExtensionConfiguration/avatars`` is nil, or the picture
    /// couldn't be fetched in time.
    public internal(set) var avatarPicture: [UInt8]?

    /// What the sender proved: bit 0, that it has the psk or the shared key; bit 1, that it has the signing key. A retraction
    /// acts on a message only if the message's bits are a subset of the retracting message's bits.
    package let profile: UInt8
    /// The name under which a recipient remembers the message, 43 characters of base64url: the id is the sender's own.
    package let name: String
    /// The names of the messages that the sender takes back.
    package let retractedNames: [String]

    private let message: JSONText
    private let header: MessageHeader
    /// Whether ``payload`` was fetched and isn't part of the message.
    private var isOffloaded = false

    /// - Throws: `FailureClass.internalError` if the backend fails.
    init(
        _ inner: InnerPayload, _ header: MessageHeader, proof: SenderProof, key: RecipientKey, signedBy: KeyID?,
        sender: MessageSender
    ) throws(FailureClass) {
        payload = inner.withoutHeader
        paddingByteCount = inner.paddingByteCount
        kid = key.kid
        suite = key.suite
        self.signedBy = signedBy
        profile = proof.rawValue
        name = try sender.name(ofMessage: header.id)
        var names: [String] = []
        for id in header.extras.retractedIDs {
            names.append(try sender.name(ofMessage: Base64URL.decode(Array(id.utf8)[...]) ?? []))
        }
        retractedNames = names
        message = inner.text
        self.header = header
    }

    /// Returns the push with the offloaded payload. ``offload`` becomes nil; all other properties keep the values of the
    /// message.
    ///
    /// - Parameter json: the plaintext of the blob that ``offload`` refers to, verified to its end, with its padding.
    /// - Throws: `FailureClass.malformed` for a payload without alert text or with a `pushcrypt` member, or with `aps.badge`
    ///   if the message has a ``badgeIncrement``.
    public func replacing(offloaded json: [UInt8]) throws(FailureClass) -> OpenedPush {
        let inner = try OffloadedPayload.innerPayload(plaintext: json)
        guard badgeIncrement == nil || !inner.hasBadge else { throw .malformed }
        var push = self
        push.payload = inner.text.bytes
        push.isOffloaded = true
        return push
    }

    /// The content of the notification.
    public var content: NotificationContent { NotificationContent(payload: offloaded ?? message, userInfo: payload) }

    /// The payload is parsed on each use, because the index of a large payload needs more memory than the payload.
    private var offloaded: JSONText? { isOffloaded ? try? JSONText(payload) : nil }

    /// The sender's name for the push, for receipts: `push_id` next to `aps` or in its `alert`, a string or a number.
    public var pushID: String? { Self.pushID(in: message.root) ?? offloaded.flatMap { Self.pushID(in: $0.root) } }

    /// 16 bytes as 22 characters of base64url.
    public var messageID: String { Base64URL.encode(header.id) }

    /// The time of sealing, `iat`.
    public var issuedAt: UnixTime { header.issuedAt }

    /// The time until which the push may be shown, `exp`.
    public var expiresAt: UnixTime { header.expiresAt }

    /// The attachments to fetch, open and show: at most 8, with distinct ids.
    public var attachments: [AttachmentReference] { header.extras.attachments.filter { $0.use == .shown } }

    /// The picture of the message's sender, which the notification doesn't show as an attachment; see ``AvatarFetcher``.
    public var avatar: AttachmentReference? { header.extras.attachments.first { $0.use == .avatar } }

    /// The reference to a longer payload that replaces this one; see ``replacing(offloaded:)``.
    public var offload: OffloadReference? { isOffloaded ? nil : header.extras.offload }

    /// Whether the push is a self-test of the sender.
    public var isSelfTest: Bool { header.extras.isSelfTest }

    /// The ids of the messages that the sender takes back: at most 16, each 22 characters of base64url.
    public var retractedMessageIDs: [String] { header.extras.retractedIDs }

    /// Whether the push is not to be shown where the app may suppress it, and to be shown passively elsewhere.
    public var isQuiet: Bool { header.extras.isQuiet }

    /// The number to add to the app's badge, -999 to 999. If there is one, the payload has no `aps.badge`.
    public var badgeIncrement: Int? { header.extras.badgeIncrement }

    private static func pushID(in root: JSONValue) -> String? {
        guard let value = root["push_id"] ?? root["aps"]?["alert"]?["push_id"] else { return nil }
        switch value.kind {
        case .string: return value.string
        case .number: return String(decoding: value.rawBytes, as: UTF8.self)
        default: return nil
        }
    }
}

extension OpenedPush: CustomStringConvertible, CustomReflectable {
    /// The keys and the id, never the content, as in `opened push, id fKnd3ZJ2uN2p0hhsMrfSJQ, key qi99zniTdWc`.
    public var description: String {
        "opened push, id \(messageID), key \(kid)" + (signedBy.map { ", signed by \($0)" } ?? "")
    }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
