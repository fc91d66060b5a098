import PushCryptPrimitives

/// What a message carries besides encryption to a key (PROTOCOL section 4).
struct Profile: OptionSet {
    let rawValue: UInt8

    /// Bit 0: the recipient's record demands a pre-shared key.
    static let psk = Profile(rawValue: 1)
    /// Bit 1: signed by a sender key.
    static let signed = Profile(rawValue: 2)
}

/// Calls `body` with the context that a message is bound to (PROTOCOL section 4), at most 197 bytes.
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
/// R         = SHA-256(serialised public key)                     suites 1 and 2
///             HMAC-SHA256(K as used, "pushcrypt/1 recipient")    suite 4
/// ```
/// R names the recipient, so that a recipient who opens a signed message can't seal it again to somebody else.
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
