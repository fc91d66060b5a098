import PushCryptPrimitives

/// The location and key of an attachment. It contains a secret and is sent inside a sealed message.
///
/// ```
/// {"url": "https://...", "key", "size", "sha256", "type": "image/png", ["id": "<1 to 64 of [A-Za-z0-9_-]>",]
///  ["use": "avatar"]}
/// ```
public struct AttachmentReference: Equatable, Sendable {
    /// The blob's https URL, at most 2,048 bytes.
    public let url: String
    /// The blob's key, size and digest.
    public let blob: BlobReference
    /// The plaintext's MIME type in lower case. Each half has at most 64 bytes.
    public let type: String
    /// The app's name for the attachment, unique in its message: 1 to 64 of `[A-Za-z0-9_-]`.
    public let id: String?
    /// What the recipient does with the attachment.
    public let use: Use
    /// The largest number of attachments of one message.
    public static let maximumCount = 8

    /// What the recipient does with an attachment.
    public struct Use: Hashable, Sendable {
        /// The value of the `use` member, which is absent for ``shown``.
        let name: String?

        /// The notification shows it.
        public static let shown = Use(name: nil)
        /// The app's extension gets it, for example as the sender's picture. The notification doesn't show it as an
        /// attachment. A message has at most one, and must be signed or sealed with a psk or a shared key.
        public static let avatar = Use(name: "avatar")

        /// - Parameter value: the `use` member; nil if there is none.
        /// - Returns: nil for a use that this version doesn't know.
        init?(_ value: JSONValue?) {
            guard let value else {
                self = .shown
                return
            }
            guard value.isString("avatar") else { return nil }
            self = .avatar
        }

        private init(name: String?) { self.name = name }
    }

    /// Makes a reference to an uploaded blob.
    ///
    /// - Throws: `BlobError` with `invalidReference` for a string outside its grammar or a blob of another purpose.
    public init(
        url: String, blob: BlobReference, type: String, id: String? = nil, use: Use = .shown
    ) throws(BlobError) {
        try blob.require(.attachment)
        try Self.checkURL(url)
        try Self.checkType(type)
        if let id { try Self.checkID(id) }
        self.url = url
        self.blob = blob
        self.type = type
        self.id = id
        self.use = use
    }

    /// - Throws: `BlobError` with `invalidReference`.
    package static func checkURL(_ url: String) throws(BlobError) {
        try BlobError.require(
            ReferenceGrammar.isURL(url.utf8),
            "the URL is not an escaped https://HOST[:PORT][/PATH][?QUERY] of at most 2,048 bytes"
                + (ReferenceGrammar.fault(in: url.utf8).map { ": \($0)" } ?? ""))
    }

    /// - Throws: `BlobError` with `invalidReference`.
    package static func checkType(_ type: String) throws(BlobError) {
        try BlobError.require(
            ReferenceGrammar.isMediaType(type.utf8), "the type is not a MIME type in lower case without parameters")
    }

    /// - Throws: `BlobError` with `invalidReference`.
    package static func checkID(_ id: String) throws(BlobError) {
        try BlobError.require(ReferenceGrammar.isID(id.utf8), "an attachment's id is 1 to 64 of A-Z, a-z, 0-9, _ and -")
    }

    /// - Returns: nil if a member is missing, has the wrong type or doesn't match its grammar.
    package init?(_ value: JSONValue) {
        let id = value["id"]?.string
        guard id != nil || value["id"] == nil, let use = Use(value["use"]),
            let blob = BlobReference(.attachment, value),
            let url = value["url"]?.string, let type = value["type"]?.string,
            let reference = try? AttachmentReference(url: url, blob: blob, type: type, id: id, use: use)
        else { return nil }
        self = reference
    }

    /// The reference as JSON, which an app can store between sealing and sending. A secret, because it contains the key.
    public var json: [UInt8] {
        // The grammar allows no character that needs an escape.
        var json = Array(#"{"url":"\#(url)","#.utf8)
        blob.appendMembers(to: &json)
        json += #","type":"\#(type)""#.utf8
        if let id { json += #","id":"\#(id)""#.utf8 }
        if let name = use.name { json += #","use":"\#(name)""#.utf8 }
        json.append(UInt8(ascii: "}"))
        return json
    }

    /// Reads the JSON of ``json``.
    ///
    /// - Throws: `BlobError` with `invalidReference`.
    public init(json: some Collection<UInt8>) throws(BlobError) {
        guard let text = try? JSONText(Array(json)), let reference = Self(text.root) else {
            throw BlobError(
                .invalidReference, "the JSON is not an attachment's reference: a member is missing or wrong")
        }
        self = reference
    }
}

extension AttachmentReference: CustomStringConvertible, CustomReflectable {
    /// The type and the size, without the URL, which may be a secret too.
    public var description: String { "AttachmentReference(\(type), \(blob.size) bytes)" }
    /// A mirror without members, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The location and key of an inner payload that is too long for a push. A secret.
///
/// ```
/// {"url": "https://...", "key", "size", "sha256"}
/// ```
public struct OffloadReference: Equatable, Sendable {
    /// The blob's https URL, at most 2,048 bytes.
    public let url: String
    /// The blob's key, size and digest.
    public let blob: BlobReference
    /// The longest padded payload, 256 KiB. The extension opens it in memory, of which it has little.
    public static let maximumSize = Int64(InnerPayload.maximumByteCount)

    /// Makes a reference to an uploaded blob.
    ///
    /// - Throws: `BlobError` with `invalidReference` for a wrong URL, or a blob of another purpose or above ``maximumSize``.
    public init(url: String, blob: BlobReference) throws(BlobError) {
        try blob.require(.payload)
        try AttachmentReference.checkURL(url)
        try BlobError.require(
            blob.size <= Self.maximumSize, "an offloaded payload has at most \(Self.maximumSize) bytes")
        self.url = url
        self.blob = blob
    }

    /// - Returns: nil if a member is missing, has the wrong type or doesn't match its grammar.
    package init?(_ value: JSONValue) {
        guard let blob = BlobReference(.payload, value), let url = value["url"]?.string,
            let reference = try? OffloadReference(url: url, blob: blob)
        else { return nil }
        self = reference
    }

    /// The reference as JSON, which an app can store between sealing and sending. A secret, because it contains the key.
    public var json: [UInt8] {
        var json = Array(#"{"url":"\#(url)","#.utf8)
        blob.appendMembers(to: &json)
        json.append(UInt8(ascii: "}"))
        return json
    }

    /// Reads the JSON of ``json``.
    ///
    /// - Throws: `BlobError` with `invalidReference`.
    public init(json: some Collection<UInt8>) throws(BlobError) {
        guard let text = try? JSONText(Array(json)), let reference = Self(text.root) else {
            throw BlobError(
                .invalidReference, "the JSON is not an offloaded payload's reference: a member is missing or wrong")
        }
        self = reference
    }
}

extension OffloadReference: CustomStringConvertible, CustomReflectable {
    /// The size, without the URL, which may be a secret too.
    public var description: String { "OffloadReference(\(blob.size) bytes)" }
    /// A mirror without members, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
