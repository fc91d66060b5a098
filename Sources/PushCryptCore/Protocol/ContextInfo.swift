import PushCryptPrimitives

/// The options of a message, which are bound to its ciphertext (PROTOCOL section 4).
struct Profile: OptionSet {
    let rawValue: UInt8
    /// Bit 0: sealed with a pre-shared key, which the recipient's record demands.
    static let psk = Profile(rawValue: 1)
    /// Bit 1: signed with a sender key.
    static let signed = Profile(rawValue: 2)
    /// Bit 2: a challenge (PROTOCOL section 13). The function that seals or opens sets it, never the received text.
    static let challenge = Profile(rawValue: 4)
}

/// Calls `body` with `info`, the context that is bound to a message (PROTOCOL section 4), at most 197 bytes.
///
/// ```
/// info = "pushcrypt/1" || 0x00 || u8(suite) || u8(profile) || lp16(kid) || lp16(skid or empty) || lp16(topic)
/// ```
func withContextInfo<Result, Failure>(
    suite: Suite, profile: Profile, kid: KeyID, skid: KeyID?, topic: Topic,
    _ body: (Span<UInt8>) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withTemporaryBytes(capacity: 197) { info throws(Failure) in
        info.append("pushcrypt/1")
        info.append(0)
        info.append(suite.rawValue)
        info.append(profile.rawValue)
        info.append(lengthPrefixed: kid.description)
        info.append(lengthPrefixed: skid?.description ?? "")
        info.append(lengthPrefixed: topic.description)
        return try body(info.bytes)
    }
}

/// The signed profile (PROTOCOL section 4).
///
/// ```
/// plaintext = signature(64) || message
/// signature = Ed25519("pushcrypt/1 signature" || 0x00 || info || R || message)
/// ```
/// R identifies the recipient (`EncryptionScheme.recipientName`), so that a recipient can't seal a signed message again to
/// another recipient.
enum MessageSignature {
    static let byteCount = 64

    static func input(info: Span<UInt8>, recipientName: [UInt8], message: Span<UInt8>) -> [UInt8] {
        var input = [UInt8]()
        input.reserveCapacity(22 + info.count + recipientName.count + message.count)
        input += "pushcrypt/1 signature".utf8
        input.append(0)
        input.append(contentsOf: info)
        input += recipientName
        input.append(contentsOf: message)
        return input
    }
}

/// A buffer on the stack for the input of a key derivation or digest.
struct TemporaryBytes: ~Copyable, ~Escapable {
    private var storage: MutableSpan<UInt8>
    private var count = 0

    @_lifetime(copy storage)
    fileprivate init(_ storage: consuming MutableSpan<UInt8>) { self.storage = storage }

    /// The bytes that were appended.
    var bytes: Span<UInt8> {
        @_lifetime(borrow self)
        get { storage.span.extracting(first: count) }
    }

    mutating func append(_ byte: UInt8) {
        storage[count] = byte
        count += 1
    }

    mutating func append(_ text: String) {
        storage.write(utf8: text, at: count)
        count += text.utf8.count
    }

    /// `lp16(x) = u16 big-endian length || UTF-8 bytes of x`
    ///
    /// Every caller passes a short string: a kid, a topic, a device id.
    mutating func append(lengthPrefixed text: String) {
        let count = text.utf8.count
        precondition(count <= Int(UInt16.max))
        append(UInt8(count >> 8))
        append(UInt8(count & 0xff))
        append(text)
    }
}

/// Calls `body` with a buffer of `capacity` bytes. Appending more stops the process.
func withTemporaryBytes<Result, Failure>(
    capacity: Int, _ body: (inout TemporaryBytes) throws(Failure) -> Result
) throws(Failure) -> Result {
    try withTemporarySecret(count: capacity) { storage throws(Failure) in
        var bytes = TemporaryBytes(storage)
        storage = MutableSpan()
        return try body(&bytes)
    }
}
