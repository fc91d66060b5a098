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
            guard let decoded = Base64.decode(text.bytes, .any) else {
                throw KeystoreError(
                    .notAKeyset, "the environment variable \(name) holds neither JSON, which begins with {, nor base64")
            }
            try self.init([UInt8](decoded.bytes), .environment(name: name), access: [])
            return
        }
        try self.init(text, .environment(name: name), access: [])
    }

    /// Of JSON, RFC 8259 section 2.
    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        [0x20, 0x09, 0x0A, 0x0D].contains(byte)
    }
}
