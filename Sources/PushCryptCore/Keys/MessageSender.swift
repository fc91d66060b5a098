import PushCryptPrimitives

/// The sender S of a message (PROTOCOL section 4): the set whose key verified it. It is never sent.
///
/// ```
/// S = 0x01 || set id, 16 bytes     a key of a signed set
///     0x00 || lp16(name)           a key without such a set; the app gives the name, which is empty by default
///                                  and for unsigned messages
/// M = SHA-256("pushcrypt/1 message" || 0x00 || S || message id, 16 bytes)
/// ```
/// A recipient remembers messages by M: a sender neither retracts another's messages nor uses up their ids.
package struct MessageSender: Hashable, Sendable {
    /// What is hashed before the message's id.
    private let prefix: [UInt8]

    /// The sender of unsigned messages.
    package static let unnamed = MessageSender(bytes: [0, 0, 0])

    private init(bytes: [UInt8]) { prefix = Array("pushcrypt/1 message\0".utf8) + bytes }

    /// - Parameter set: the id of a signed set, 16 bytes.
    package init(set: [UInt8]) { self.init(bytes: [1] + set) }

    /// - Throws: `KeyError` with `malformed` for a name of more than 65,535 bytes.
    package init(name: String) throws(KeyError) {
        guard let count = UInt16(exactly: name.utf8.count) else {
            throw KeyError(.malformed, "the name of a sender has at most 65,535 bytes")
        }
        self.init(bytes: [0, UInt8(count >> 8), UInt8(count & 0xff)] + name.utf8)
    }

    /// M as base64url, 43 characters.
    ///
    /// - Parameter id: 16 bytes.
    /// - Throws: `FailureClass.internalError` if the backend fails.
    package func name(ofMessage id: [UInt8]) throws(FailureClass) -> String {
        let input = prefix + id
        guard let digest = try? DefaultBackend.shared.sha256(input.bytes) else { throw .internalError }
        return Base64URL.encode(digest)
    }
}
