import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import Testing

/// A disk that loses the end of a file, or a bit of it. Whoever damages a file on purpose is in ``TamperedFileTests``.
@Suite("a damaged keyset")
struct DamagedFileTests {
    static let protections = ["plain", "encrypted"]

    /// In the digest's name a bit makes a member that nobody knows.
    @Test("a keyset with a flipped bit is refused or unchanged", arguments: protections)
    func flips(_ protection: String) throws {
        let keyset = try keyset(protection)
        let whole = try keyset.fileText()
        let spelled = try spelled(KeysetFile(whole, path: "keyset.json"))
        var refused = 0
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= 1 << UInt8(index % 8)
            do {
                let file = try KeysetFile(bytes, path: "keyset.json")
                #expect(try self.spelled(file) == spelled, "byte \(index)")
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

    /// What is in it, as it would be written in clear.
    private func spelled(_ file: KeysetFile) throws -> [UInt8] {
        var stored = try file.unlocked(.asked { SealedSample.passphrase() })
        stored.protection = .plaintext
        return try stored.fileText()
    }
}
