/// The id of a key: base64url of the first 8 bytes of its RFC 7638 SHA-256 thumbprint, 11 characters. Not a secret.
public struct KeyID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The number of characters of a key id.
    package static let characterCount = 11
    /// The number of bytes that a key id encodes.
    public static let byteCount = 8

    private let text: String

    /// - Parameter text: 11 characters of canonical base64url; nil for anything else.
    public init?(_ text: String) { self.init(utf8: Array(text.utf8)[...]) }

    package init?(utf8: ArraySlice<UInt8>) {
        guard utf8.count == Self.characterCount, Base64URL.isCanonical(utf8) else { return nil }
        text = String(decoding: utf8, as: UTF8.self)
    }

    /// - Parameter thumbprint: the 32 bytes of RFC 7638.
    init(thumbprint: [UInt8]) { text = Base64URL.encode(Array(thumbprint.prefix(Self.byteCount))) }

    /// The characters.
    public var description: String { text }

    /// The characters as 11 ASCII bytes.
    package var utf8: String.UTF8View { text.utf8 }

    /// Compares the ASCII bytes.
    public static func < (left: KeyID, right: KeyID) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}

/// The id of one registration of one device: 1 to 64 characters of `[A-Za-z0-9_-]`.
///
/// Make it random and never use it twice. Otherwise the next owner of the phone gets the previous owner's key.
public struct DeviceID: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    /// Reads a device id.
    ///
    /// - Throws: `KeyError` with `invalidDeviceID`.
    public init(_ text: String) throws(KeyError) {
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isAlphanumeric || $0.isOne(of: "_-") })
        else { throw KeyError(.invalidDeviceID, "a device id is 1 to 64 characters of A-Z a-z 0-9 _ -") }
        self.text = text
    }

    /// The characters.
    public var description: String { text }
}

extension UInt8 {
    /// Whether this is an ASCII letter or digit.
    package var isAlphanumeric: Bool { isLowercaseOrDigit || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }

    /// Whether this is a lower-case ASCII letter or a digit.
    var isLowercaseOrDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    /// Whether this is an ASCII digit.
    package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// Whether this is one of these ASCII characters.
    package func isOne(of characters: String) -> Bool { characters.utf8.contains(self) }
}

/// The bundle identifier of the app (not of its extension): 1 to 155 characters of `[A-Za-z0-9.-]`.
///
/// Both sides read it from their configuration. It is bound to every message.
package struct Topic: Hashable, Sendable, CustomStringConvertible {
    private let text: String

    /// - Throws: `KeyError` with `invalidTopic`.
    package init(_ text: String) throws(KeyError) {
        guard (1...155).contains(text.utf8.count), text.utf8.allSatisfy({ $0.isAlphanumeric || $0.isOne(of: ".-") })
        else { throw KeyError(.invalidTopic, "a topic is the app's bundle identifier: 1 to 155 of A-Z a-z 0-9 . -") }
        self.text = text
    }

    package var description: String { text }
}
