public import PushCryptPrimitives

/// What opens one blob and nothing else. A secret: it travels inside a sealed message.
///
/// ```
/// "key":"<32 bytes, base64url>","size":<of the plaintext, in bytes>,"sha256":"<of the whole blob, base64url>"
/// ```
/// Many recipients may know the key of one blob, and each of them could write another under it: the digest is what
/// makes it the sender's.
public struct BlobReference: Equatable, Sendable {
    /// What the blob is for.
    public let purpose: BlobPurpose
    /// 32 bytes.
    public let key: SecretBytes
    /// The plaintext's length in bytes, 0 to 2^48.
    public let size: Int64
    /// Of the whole blob, 32 bytes.
    public let sha256: [UInt8]

    /// The blob's exact length in bytes.
    public var blobByteCount: Int64 { BlobFormat.blobByteCount(size: size) }

    /// - Returns: nil for a key, size or digest that no blob has.
    package init?(_ purpose: BlobPurpose, key: SecretBytes, size: Int64, sha256: [UInt8]) {
        guard key.count == BlobFormat.keyByteCount, (0...BlobFormat.maximumSize).contains(size),
            sha256.count == BlobFormat.digestByteCount
        else { return nil }
        self.purpose = purpose
        self.key = key
        self.size = size
        self.sha256 = sha256
    }

    /// - Returns: nil unless every member is there, of its type and length.
    package init?(_ purpose: BlobPurpose, _ value: JSONValue) {
        guard let key = value["key"]?.utf8.flatMap(Base64URL.decodeSecret),
            let size = value["size"]?.protocolInteger,
            let sha256 = value["sha256"]?.utf8.flatMap(Base64URL.decode)
        else { return nil }
        self.init(purpose, key: key, size: size, sha256: sha256)
    }

    package func appendMembers(to json: inout [UInt8]) {
        json += #""key":""#.utf8
        Base64URL.append(key.bytes, to: &json)
        json += #"","size":"#.utf8
        json += String(size).utf8
        json += #","sha256":""#.utf8
        Base64URL.append(sha256.bytes, to: &json)
        json.append(UInt8(ascii: "\""))
    }
}

extension BlobReference {
    func require(_ wanted: BlobPurpose) throws(BlobError) {
        guard purpose == wanted else {
            throw BlobError(.invalidReference, "the blob was sealed as \(purpose), and \(wanted) is needed here")
        }
    }
}

extension BlobReference: CustomStringConvertible, CustomReflectable {
    /// Neither key nor digest.
    public var description: String { "BlobReference(\(purpose), \(size) bytes)" }
    /// No members: a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What a blob is for. It is bound to the ciphertext: a picture never opens as a payload.
public struct BlobPurpose: Hashable, Sendable, CustomStringConvertible {
    let rawValue: UInt8
    /// The name, as in `attachment`.
    public let description: String

    /// A file that is shown with a notification.
    public static let attachment = BlobPurpose(rawValue: 1, description: "attachment")
    /// An inner payload that is too long for a push.
    public static let payload = BlobPurpose(rawValue: 2, description: "payload")
}
