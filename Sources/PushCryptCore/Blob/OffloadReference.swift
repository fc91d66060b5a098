import PushCryptPrimitives

/// Where an inner payload lies that is too long for a push, and what opens it. A secret.
///
/// ```
/// {"url": "https://...", "key", "size", "sha256"}
/// ```
public struct OffloadReference: Equatable, Sendable {
    /// https, at most 2,048 bytes.
    public let url: String
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
    public var customMirror: Mirror { Mirror(self, children: []) }
}
