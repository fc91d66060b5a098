public import PushCryptPrimitives

/// The key, size and digest of one blob. It contains a secret and is sent inside a sealed message.
///
/// ```
/// "key":"<32 bytes, base64url>","size":<of the plaintext, in bytes>,"sha256":"<of the whole blob, base64url>"
/// ```
/// Every recipient of a blob has its key and could write another blob under it. The digest proves that the blob is the
/// sender's.
public struct BlobReference: Equatable, Sendable {
    /// What the blob is for.
    public let purpose: BlobPurpose
    /// The key, 32 bytes.
    public let key: SecretBytes
    /// The plaintext's length in bytes, 0 to 2^48.
    public let size: Int64
    /// The digest of the whole blob, 32 bytes.
    public let sha256: [UInt8]

    /// The blob's length in bytes.
    public var blobByteCount: Int64 { BlobFormat.blobByteCount(size: size) }

    /// - Returns: nil for a key, size or digest that no blob can have.
    package init?(_ purpose: BlobPurpose, key: SecretBytes, size: Int64, sha256: [UInt8]) {
        guard key.count == BlobFormat.keyByteCount, (0...BlobFormat.maximumSize).contains(size),
            sha256.count == BlobFormat.digestByteCount
        else { return nil }
        self.purpose = purpose
        self.key = key
        self.size = size
        self.sha256 = sha256
    }

    /// - Returns: nil if a member is missing or has the wrong type or length.
    package init?(_ purpose: BlobPurpose, _ value: JSONValue) {
        guard let key = value["key"]?.utf8.flatMap(Base64URL.decodeSecret), let size = value["size"]?.protocolInteger,
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
        try BlobError.require(
            purpose == wanted, "the blob was sealed as \(purpose); a blob sealed as \(wanted) is needed here")
    }
}

extension BlobReference: CustomStringConvertible, CustomReflectable {
    /// The purpose and the size, without key and digest.
    public var description: String { "BlobReference(\(purpose), \(size) bytes)" }
    /// A mirror without members, so that a dump shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The purpose of a blob. It is bound to the ciphertext, so that an attachment never opens as a payload.
public struct BlobPurpose: Hashable, Sendable, CustomStringConvertible {
    let rawValue: UInt8
    /// The name, as in `attachment`.
    public let description: String
    /// A file that the device shows with a notification.
    public static let attachment = BlobPurpose(rawValue: 1, description: "attachment")
    /// An inner payload that is too long for a push.
    public static let payload = BlobPurpose(rawValue: 2, description: "payload")
}

/// Encrypted blobs (PROTOCOL section 7).
///
/// ```
/// blob  = "PCB1" || chunk+                  at least one chunk
/// chunk = AES-256-GCM(key, nonce, aad, plaintext of 65,536 bytes)
///                                           the last 1...65,536, empty only for an empty plaintext
/// nonce = u88 big-endian counter from 0, below 2^32 || 0x00, or 0x01 on the last chunk
/// aad   = "PCB1" || u8(purpose: 1 attachment, 2 payload)
/// ```
/// Every blob has a new key, so that no nonce is used twice. The counter detects reordered chunks, the flag a missing or
/// an added end, and the purpose a blob that is used for something else.
enum BlobFormat {
    static let magic = Array("PCB1".utf8)
    static let keyByteCount = 32
    static let digestByteCount = 32
    /// The plaintext of a chunk, in bytes.
    static let chunkByteCount = 65_536
    static let maximumChunkCount: Int64 = 1 << 32
    /// The longest plaintext: 2^48 bytes.
    static let maximumSize = maximumChunkCount * Int64(chunkByteCount)

    static func aad(_ purpose: BlobPurpose) -> [UInt8] { magic + [purpose.rawValue] }

    /// - Parameter index: the index of the chunk, below 2^32.
    static func nonce(_ index: Int64, isLast: Bool) -> [UInt8] {
        var nonce = [UInt8](repeating: 0, count: AEADAlgorithm.nonceByteCount)
        for place in 0..<4 { nonce[10 - place] = UInt8(truncatingIfNeeded: index >> Int64(8 * place)) }
        nonce[11] = isLast ? 1 : 0
        return nonce
    }

    /// - Parameter size: the length of the plaintext, in 0...2^48.
    static func chunkCount(size: Int64) -> Int64 { max((size + Int64(chunkByteCount) - 1) / Int64(chunkByteCount), 1) }

    /// - Parameter size: the length of the plaintext, in 0...2^48.
    /// - Returns: the length of the blob.
    static func blobByteCount(size: Int64) -> Int64 {
        Int64(magic.count) + size + chunkCount(size: size) * Int64(AEADAlgorithm.tagByteCount)
    }
}

/// Why a blob can't be sealed or referred to. It contains no key, plaintext or URL.
public struct BlobError: DescribedError, Hashable, Sendable {
    /// The kind of failure; more may be added.
    public struct Code: Hashable, Sendable {
        let name: String
        /// The protocol doesn't allow this URL, type, id, size, key or digest in a reference.
        public static let invalidReference = Code(name: "invalidReference")
        /// The plaintext is too long for a blob of its purpose.
        public static let tooLong = Code(name: "tooLong")
        /// The sealer has already finished or failed.
        public static let finished = Code(name: "finished")
        /// The cryptographic library failed: no entropy, no memory.
        public static let backendFailure = Code(name: "backendFailure")
    }

    /// The kind of failure.
    public let code: Code
    /// The reason in a sentence.
    public let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    static func require(_ isValid: Bool, _ reason: @autoclosure () -> String) throws(BlobError) {
        guard isValid else { throw BlobError(.invalidReference, reason()) }
    }

    /// The reason.
    public var description: String { reason }
}
