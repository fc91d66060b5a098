import PushCryptPrimitives

/// The signed profile (PROTOCOL section 4).
///
/// ```
/// plaintext = signature(64) || message
/// signature = Ed25519("pushcrypt/1 signature" || 0x00 || info || R || message)
/// R         = SHA-256(serialised public key)                     suites 1 and 2
///             HMAC-SHA256(K as used, "pushcrypt/1 recipient")    suite 4
/// ```
/// R names the recipient, so that who can open a signed message can't seal it again to somebody else.
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
