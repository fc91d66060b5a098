import PushCryptCore
import PushCryptPrimitives

extension KeysetText {
    /// - Throws: `KeystoreError` with `notFound` or `notAKeyset`.
    convenience init(environment name: String) throws {
        guard let value = unsafe getenv(name) else {
            throw KeystoreError(.notFound, "the environment variable \(name) isn't set; it is to hold a keyset")
        }
        let bytes = unsafe UnsafeRawBufferPointer(start: value, count: strlen(value))
        var text = unsafe Array(bytes.drop(while: Self.isWhiteSpace))
        if text.first != UInt8(ascii: "{") {
            defer { wipe(&text) }
            guard let decoded = Self.decodedBase64(text) else {
                throw KeystoreError(
                    .notAKeyset, "the environment variable \(name) holds neither JSON, which begins with {, nor base64")
            }
            try self.init(decoded, .environment(name: name), access: [])
            return
        }
        try self.init(text, .environment(name: name), access: [])
    }

    /// RFC 4648 sections 4 and 5: both alphabets, with or without padding, in lines of any length.
    private static func decodedBase64(_ text: [UInt8]) -> [UInt8]? {
        var characters = [UInt8]()
        characters.reserveCapacity(text.count)
        defer { wipe(&characters) }
        for character in text where !isWhiteSpace(character) {
            switch character {
            case UInt8(ascii: "+"): characters.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): characters.append(UInt8(ascii: "_"))
            default: characters.append(character)
            }
        }
        let padding = characters.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard characters.count > padding, padding <= 2 else { return nil }
        return Base64URL.decode(characters[..<(characters.count - padding)])
    }

    /// Of JSON, RFC 8259 section 2.
    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D].contains(byte)
    }
}
