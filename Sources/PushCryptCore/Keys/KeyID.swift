/// The name of a key on the wire: base64url of the first 8 bytes of the RFC 7638 SHA-256 thumbprint of its public
/// key, 11 characters. Not a secret.
public struct KeyID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// Characters of every key id.
    public static let characterCount = 11
    /// Bytes that a key id encodes.
    public static let byteCount = 8

    private let text: String

    /// - Parameter text: 11 characters of canonical base64url; nil for anything else.
    public init?(_ text: String) {
        self.init(utf8: Array(text.utf8)[...])
    }

    package init?(utf8: ArraySlice<UInt8>) {
        guard utf8.count == Self.characterCount, Base64URL.isCanonical(utf8) else { return nil }
        text = String(decoding: utf8, as: UTF8.self)
    }

    /// - Parameter thumbprint: the 32 bytes of RFC 7638.
    init(thumbprint: [UInt8]) {
        text = Base64URL.encode(Array(thumbprint.prefix(Self.byteCount)))
    }

    public var description: String { text }

    /// The 11 ASCII bytes.
    package var utf8: String.UTF8View { text.utf8 }

    public static func < (left: KeyID, right: KeyID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
