import PushCryptKeysets
import PushCryptPrimitives

/// A typed secret line, in one buffer that is wiped.
struct TypedLine {
    private var bytes = [UInt8](repeating: 0, count: KeysetSecret.maximumPassphraseByteCount)
    private var count = 0

    mutating func wipe() {
        PushCryptPrimitives.wipe(&bytes)
        count = 0
    }

    /// Returns false if the buffer is full.
    mutating func append(_ byte: UInt8) -> Bool {
        guard count < bytes.count else { return false }
        bytes[count] = byte
        count += 1
        return true
    }

    /// Removes all UTF-8 bytes of the last character: the first byte, and up to three of the form 10xxxxxx.
    mutating func removeLastCharacter() {
        while count > 0 {
            count -= 1
            if bytes[count] & 0b1100_0000 != 0b1000_0000 { return }
        }
    }

    mutating func removeAll() { count = 0 }

    func secret() throws -> KeysetSecret {
        try .passphrase(line: bytes.bytes.extracting(first: count), from: "the terminal")
    }
}
