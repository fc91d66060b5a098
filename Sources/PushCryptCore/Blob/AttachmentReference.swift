import PushCryptPrimitives

/// Where a notification's attachment lies and what opens it. A secret: it travels inside a sealed message.
///
/// ```
/// {"url": "https://...", "key", "size", "sha256", "type": "image/png", ["id": "<1 to 64 of [A-Za-z0-9_-]>"]}
/// ```
public struct AttachmentReference: Equatable, Sendable {
    /// https, at most 2,048 bytes.
    public let url: String
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

    /// - Throws: `BlobError` with `invalidReference`. The three are here for a tool that knows a part before the rest.
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
    public var customMirror: Mirror { Mirror(self, children: []) }
}
