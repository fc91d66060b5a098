import PushCryptCore
import PushCryptPrimitives

/// The id of a keyset: 16 random bytes, made once. For a sender keyset it is the `set` that apps pin.
package struct KeysetID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let bytes: [UInt8]
    /// 22 characters of base64url.
    package let description: String

    package static let byteCount = 16

    /// - Parameter text: canonical base64url of 16 bytes that doesn't begin with `-`; nil for anything else.
    package init?(_ text: some Collection<UInt8>) {
        let utf8 = Array(text)[...]
        guard let bytes = Base64URL.decode(utf8), bytes.count == Self.byteCount, utf8.first != UInt8(ascii: "-") else {
            return nil
        }
        self.bytes = bytes
        description = String(decoding: utf8, as: UTF8.self)
    }

    /// Makes an id. It doesn't begin with `-`, because a command line would parse it as an option.
    package static func random() throws -> KeysetID {
        while true {
            let text = Base64URL.encode(try DefaultBackend.shared.randomBytes(count: byteCount))
            if let id = KeysetID(text.utf8) { return id }
        }
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

/// A line of a log, by its number and its hash.
package struct LogPoint: Hashable, Sendable {
    /// 1 to 2^52.
    package let number: Int64
    /// SHA-256 of the line without its line feed, 32 bytes.
    package let hash: [UInt8]

    package init(number: Int64, hash: [UInt8]) {
        self.number = number
        self.hash = hash
    }
}
