public import PushCryptCore

/// Opens sealed payloads: a function of payload, keys and time, without side effects.
public struct Opener: Sendable {
    private let topic: Topic
    private let keyring: any RecipientKeyring
    private let senders: TrustedSenders?

    /// - Parameters:
    ///   - topic: the app's bundle identifier, not the extension's.
    ///   - keyring: the recipient's keys.
    ///   - senders: the pinned sender keys; with them, unsigned payloads are refused.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(topic: String, keyring: any RecipientKeyring, senders: TrustedSenders? = nil) throws {
        self.topic = try Topic(topic)
        self.keyring = keyring
        self.senders = senders
    }

    /// Restores what was sealed, or says why not.
    ///
    /// The order of the checks is the order of the protocol: form, keys, decryption, signature, content, time.
    ///
    /// - Parameters:
    ///   - payload: the outer payload, UTF-8 JSON.
    ///   - highestIssuedAt: the highest `iat` that this recipient has accepted, so that a clock set back doesn't
    ///     reopen the past.
    public func open(
        _ payload: [UInt8], at time: UnixTime, highestIssuedAt: UnixTime? = nil
    ) -> Result<OpenedPush, FailureClass> {
        Result { () throws(FailureClass) in
            let outer = try Self.outerPayload(payload)
            let key = try keyring.key(outer.kid, at: time)
            let message = try openEnvelope(outer, with: key, at: time)
            let inner = try InnerPayload(message: message)
            guard let header = inner.header else { throw .malformed }
            try Freshness.check(header, clock: time, highestIssuedAt: highestIssuedAt)
            return OpenedPush(inner, header, signedBy: outer.skid)
        }
    }

    private static func outerPayload(_ payload: [UInt8]) throws(FailureClass) -> OuterPayload {
        let text: JSONText
        do {
            text = try JSONText(payload)
        } catch {
            throw .malformed
        }
        return try OuterPayload(text)
    }

    /// The key that a payload names, for diagnostics; nil for a payload that can't be read.
    static func kid(of payload: [UInt8]) -> KeyID? {
        (try? outerPayload(payload))?.kid
    }

    private func openEnvelope(
        _ outer: OuterPayload, with key: RecipientKey, at time: UnixTime
    ) throws(FailureClass) -> [UInt8] {
        guard let skid = outer.skid else {
            guard senders == nil else { throw .undecryptable }
            return try Envelope.open(outer.sealed, with: key, signedBy: nil, topic: topic)
        }
        guard let senders else { throw .unknownKey }
        let verificationKey = try senders.verificationKey(skid, at: time)
        return try Envelope.open(outer.sealed, with: key, signedBy: (skid, verificationKey), topic: topic)
    }
}

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
    /// The pinned key that signed it; nil where none is pinned.
    public let signedBy: KeyID?

    init(_ inner: InnerPayload, _ header: MessageHeader, signedBy: KeyID?) {
        payload = inner.withoutHeader
        content = NotificationContent(payload: inner.text, userInfo: payload)
        pushID = Self.pushID(in: inner.text.root)
        messageID = Base64URL.encode(header.id)
        issuedAt = header.issuedAt
        expiresAt = header.expiresAt
        paddingByteCount = inner.paddingByteCount
        self.signedBy = signedBy
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
