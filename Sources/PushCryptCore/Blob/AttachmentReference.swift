import PushCryptPrimitives

/// Where a notification's attachment is and what opens it. A secret: it travels inside a sealed message.
///
/// ```
/// {"url": "https://...", "key", "size", "sha256", "type": "image/png", ["id": "<1 to 64 of [A-Za-z0-9_-]>"]}
/// ```
public struct AttachmentReference: Equatable, Sendable {
    /// https, at most 2,048 bytes.
    public let url: String
    /// What opens the blob: its key, size and digest.
    public let blob: BlobReference
    /// The plaintext's MIME type in lower case, each half at most 64 bytes.
    public let type: String
    /// The app's name for it, distinct within a message: 1 to 64 of `[A-Za-z0-9_-]`.
    public let id: String?

    /// The most attachments of one message.
    public static let maximumCount = 8

    /// - Throws: `BlobError` with `invalidReference` for a string outside its grammar or a blob of another purpose.
    public init(url: String, blob: BlobReference, type: String, id: String? = nil) throws(BlobError) {
        try blob.require(.attachment)
        try Self.checkURL(url)
        try Self.checkType(type)
        if let id { try Self.checkID(id) }
        (self.url, self.blob, self.type, self.id) = (url, blob, type, id)
    }

    /// Checks one part; for a tool that knows it before the others.
    ///
    /// - Throws: `BlobError` with `invalidReference`.
    package static func checkURL(_ url: String) throws(BlobError) {
        guard ReferenceGrammar.isURL(url.utf8) else {
            throw BlobError(
                .invalidReference,
                "the URL is not one of https://HOST[:PORT][/PATH][?QUERY], escaped, of at most 2,048 bytes")
        }
    }

    package static func checkType(_ type: String) throws(BlobError) {
        guard ReferenceGrammar.isMediaType(type.utf8) else {
            throw BlobError(.invalidReference, "the type is not a MIME type in lower case without parameters")
        }
    }

    package static func checkID(_ id: String) throws(BlobError) {
        guard ReferenceGrammar.isID(id.utf8) else {
            throw BlobError(.invalidReference, "an attachment's id is 1 to 64 of A-Z, a-z, 0-9, _ and -")
        }
    }

    /// - Returns: nil unless every member is there, of its type and in its grammar.
    package init?(_ value: JSONValue) {
        guard let blob = BlobReference(.attachment, value),
            let url = value["url"]?.string(ReferenceGrammar.isURL),
            let type = value["type"]?.string(ReferenceGrammar.isMediaType)
        else { return nil }
        var id: String?
        if let value = value["id"] {
            guard let read = value.string(ReferenceGrammar.isID) else { return nil }
            id = read
        }
        (self.url, self.blob, self.type, self.id) = (url, blob, type, id)
    }

    /// None of the strings needs an escape.
    package func append(to json: inout [UInt8]) {
        json += #"{"url":"\#(url)","#.utf8
        blob.appendMembers(to: &json)
        json += #","type":"\#(type)""#.utf8
        if let id { json += #","id":"\#(id)""#.utf8 }
        json.append(UInt8(ascii: "}"))
    }
}

extension AttachmentReference: CustomStringConvertible, CustomReflectable {
    /// Without the URL, which may be a secret too.
    public var description: String { "AttachmentReference(\(type), \(blob.size) bytes)" }
    /// No members: a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where an inner payload that is too long for a push is, and what opens it. A secret.
///
/// ```
/// {"url": "https://...", "key", "size", "sha256"}
/// ```
public struct OffloadReference: Equatable, Sendable {
    /// https, at most 2,048 bytes.
    public let url: String
    /// What opens the blob: its key, size and digest.
    public let blob: BlobReference

    /// The longest payload in bytes, padding included, 256 KiB: it is opened in memory, of which an extension has little.
    public static let maximumSize = Int64(InnerPayload.maximumByteCount)

    /// - Throws: `BlobError` with `invalidReference` for another URL, or a blob that is no payload or too long for one.
    public init(url: String, blob: BlobReference) throws(BlobError) {
        try blob.require(.payload)
        try AttachmentReference.checkURL(url)
        guard blob.size <= Self.maximumSize else {
            throw BlobError(.invalidReference, "an offloaded payload has at most \(Self.maximumSize) bytes")
        }
        (self.url, self.blob) = (url, blob)
    }

    /// - Returns: nil unless every member is there, of its type and in its grammar.
    package init?(_ value: JSONValue) {
        guard let blob = BlobReference(.payload, value), blob.size <= Self.maximumSize,
            let url = value["url"]?.string(ReferenceGrammar.isURL)
        else { return nil }
        (self.url, self.blob) = (url, blob)
    }

    package func append(to json: inout [UInt8]) {
        json += #"{"url":"\#(url)","#.utf8
        blob.appendMembers(to: &json)
        json.append(UInt8(ascii: "}"))
    }
}

extension OffloadReference: CustomStringConvertible, CustomReflectable {
    /// Without the URL, which may be a secret too.
    public var description: String { "OffloadReference(\(blob.size) bytes)" }
    /// No members: a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// A sender that seals and uploads at one time and pushes later keeps the references in between as JSON.

extension AttachmentReference {
    /// Reads what ``json`` is.
    ///
    /// - Throws: `BlobError` with `invalidReference`.
    public init(json: [UInt8]) throws(BlobError) {
        self = try read(json, "an attachment's reference") { AttachmentReference($0) }
    }

    /// The object as it stands in a message, UTF-8 JSON. A secret, because it holds the key.
    public var json: [UInt8] { written(append) }
}

extension OffloadReference {
    /// Reads what ``json`` is.
    ///
    /// - Throws: `BlobError` with `invalidReference`.
    public init(json: [UInt8]) throws(BlobError) {
        self = try read(json, "an offloaded payload's reference") { OffloadReference($0) }
    }

    /// The object as it stands in a message, UTF-8 JSON. A secret, because it holds the key.
    public var json: [UInt8] { written(append) }
}

private func read<Reference>(
    _ json: [UInt8], _ name: String, as reference: (JSONValue) -> Reference?
) throws(BlobError) -> Reference {
    guard let text = try? JSONText(json), let read = reference(text.root) else {
        throw BlobError(.invalidReference, "not \(name): a member is missing or wrong")
    }
    return read
}

private func written(_ append: (inout [UInt8]) -> Void) -> [UInt8] {
    var json: [UInt8] = []
    append(&json)
    return json
}
