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

    /// The characters.
    public var description: String { text }

    /// The 11 ASCII bytes.
    package var utf8: String.UTF8View { text.utf8 }

    /// By their ASCII bytes.
    public static func < (left: KeyID, right: KeyID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// Names one registration of one device: 1 to 64 characters of `[A-Za-z0-9_-]`, random, never used again. If a
/// device id is used again, the next owner of the phone gets the previous owner's key.
public struct DeviceID: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    /// - Throws: `KeyError` with `invalidDeviceID`.
    public init(_ text: String) throws(KeyError) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isAlphanumeric || $0.isOne(of: "_-") })
        else {
            throw KeyError(.invalidDeviceID, "a device id is 1 to 64 characters of A-Z a-z 0-9 _ -")
        }
        self.text = text
    }

    /// The characters.
    public var description: String { text }
}

extension UInt8 {
    /// Whether this is an ASCII letter or digit.
    var isAlphanumeric: Bool { isLowercaseOrDigit || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }

    /// Whether this is a lower-case ASCII letter or a digit.
    var isLowercaseOrDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    /// Whether this is an ASCII digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether this is one of a few ASCII characters.
    func isOne(of characters: StaticString) -> Bool {
        characters.withUTF8Buffer { unsafe $0.contains(self) }
    }
}
