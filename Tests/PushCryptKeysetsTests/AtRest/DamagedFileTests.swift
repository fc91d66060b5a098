import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import Testing

/// Files with a missing end or a flipped bit, as a disk may damage them. ``TamperedFileTests`` has deliberate changes.
@Suite("Damaged keysets")
struct DamagedFileTests {
    static let protections = ["plain", "encrypted"]

    /// A flipped bit in the name of the digest makes an unknown member.
    @Test("a keyset with a flipped bit is refused, or has the same content", arguments: protections)
    func flips(_ protection: String) throws {
        let keyset = try keyset(protection)
        let whole = try keyset.fileText()
        let plainText = try plainText(KeysetFile(whole, path: "keyset.json"))
        var refused = 0
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 1 << UInt8(index % 8)
            do {
                let file = try KeysetFile(bytes, path: "keyset.json")
                #expect(try self.plainText(file) == plainText, "byte \(index)")
            } catch {
                #expect(error is KeyError || error is KeystoreError, "\(error)")
                refused += 1
            }
        }
        #expect(refused > whole.count - 10)
    }

    @Test("a keyset that was cut off is refused, except at its last newline", arguments: protections)
    func truncation(_ protection: String) throws {
        let whole = try keyset(protection).fileText()
        for count in 0..<whole.count - 1 {
            let code = KeyError.Code.thrown { try KeysetFile(Array(whole[..<count]), path: "keyset.json") }
            #expect(code == .malformed, "\(count) bytes")
        }
        _ = try KeysetFile(whole.dropLast(), path: "keyset.json")
    }

    private func keyset(_ protection: String) throws -> StoredKeyset {
        let shape = SealedSample.Shape(description: "two keys", kind: .recipient, keys: 2)
        return protection == "plain"
            ? try SealedSample.keyset(shape, .plaintext, nil) : try SealedSample.keyset(shape)
    }

    /// The content of the keyset, written in plain text.
    private func plainText(_ file: KeysetFile) throws -> [UInt8] {
        var stored = try file.unlocked(.asked { SealedSample.passphrase() })
        stored.protection = .plaintext
        return try stored.fileText()
    }
}
