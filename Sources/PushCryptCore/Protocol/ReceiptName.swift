import PushCryptPrimitives

/// The name of a message in receipts (PROTOCOL section 12).
///
/// ```
/// SHA-256("pushcrypt/1 receipt" || 0x00 || message id, 16 bytes), as base64url
/// ```
/// A receipt doesn't contain the message id itself: with the id a sender can retract the message. A backend that knows the
/// ids of its messages computes their names and finds the receipts.
public struct ReceiptName: Hashable, Sendable, CustomStringConvertible {
    /// 43 characters of base64url.
    public let description: String

    /// The number of characters of a name.
    static let characterCount = 43

    /// Reads a name.
    ///
    /// - Parameter text: 43 characters of canonical base64url; nil for anything else.
    public init?(_ text: String) {
        let characters = Array(text.utf8)[...]
        guard characters.count == Self.characterCount, Base64URL.isCanonical(characters) else { return nil }
        description = text
    }

    /// Computes the name of a message.
    ///
    /// - Parameter messageID: 22 characters of base64url, which are 16 bytes.
    /// - Returns: nil if the id doesn't have this form.
    public init?(messageID: String) {
        guard let id = Base64URL.decode(Array(messageID.utf8)[...]), id.count == MessageHeader.idByteCount else {
            return nil
        }
        let input = Array("pushcrypt/1 receipt\0".utf8) + id
        guard let digest = try? DefaultBackend.shared.sha256(input.bytes) else { return nil }
        description = Base64URL.encode(digest)
    }
}
