import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import Testing

/// Changes by an attacker who can write the file and doesn't know the passphrase. Tests of the encryption recompute the
/// digest, which would detect the change first.
@Suite("Tampered encrypted keysets")
struct TamperedFileTests {
    @Test("a changed keyset is detected by its digest before a secret is requested")
    func digest() throws {
        let text = EditedText(try SealedSample.text())
        for change in [
            try text.setting("pushcrypt.seq", to: "8"), try text.setting("sealed.keys", to: #""AAAA""#),
            try text.setting("digest", to: #""AAAA""#), try text.setting("digest", to: "1"),
        ] {
            var isAsked = false
            let code = KeystoreError.Code.thrown {
                try change.file().unlocked(
                    .asked {
                        isAsked = true
                        return SealedSample.passphrase()
                    })
            }
            #expect(code == .damaged)
            #expect(!isAsked)
        }
    }

    /// Flips one bit of every byte, in turn a different one. The text has no digest: it would detect the change, and a
    /// flipped bit in its name would make an unknown member.
    @Test("an encrypted keyset with a flipped bit is refused", arguments: 0..<8)
    func flips(_ shift: Int) throws {
        let text = try EditedText(SealedSample.text()).withoutDigest()
        try text.unlocked()
        for index in stride(from: shift, to: text.bytes.count, by: 8) {
            var bytes = text.bytes
            bytes[index] ^= 1 << UInt8((index / 8 + shift) % 8)
            do {
                _ = try KeysetFile(bytes, path: "keyset.json").unlocked(SecretSource(SealedSample.passphrase()))
                Issue.record("byte \(index) of \(text.text)")
            } catch {
                #expect(error is KeyError || error is KeystoreError, "\(error)")
            }
        }
    }

    @Test("an encrypted keyset that was cut off is refused")
    func truncation() throws {
        let bytes = Array(try SealedSample.text().dropLast().utf8)
        for count in stride(from: 0, to: bytes.count, by: 7) {
            let code = KeyError.Code.thrown { try KeysetFile(Array(bytes[..<count]), path: "keyset.json") }
            #expect(code == .malformed, "\(count) bytes")
        }
    }

    static let damages = [
        "sealed.dataKey": KeystoreError.Code.damaged, "sealed.keys": .damaged,
        "sealed.passphrase.salt": .wrongSecret, "sealed.passphrase.check": .wrongSecret,
    ]

    @Test(
        "a changed member of sealed is reported as damage, or as a wrong passphrase for salt and check",
        arguments: damages.keys.sorted())
    func classes(_ path: String) throws {
        let text = EditedText(try SealedSample.text())
        let old = try #require(try text.find(path).utf8.flatMap(Base64URL.decode))
        for index in old.indices {
            var new = old
            new[index] ^= 0x80
            let changed = try text.setting(path, to: "\"\(Base64URL.encode(new))\"").withDigest()
            #expect(KeystoreError.Code.thrown { try changed.unlocked() } == Self.damages[path], "byte \(index)")
        }
    }

    @Test("changed scrypt parameters are reported as a wrong passphrase", arguments: [("n", 4), ("r", 2), ("p", 2)])
    func parameters(_ name: String, _ value: Int) throws {
        let changed = try EditedText(SealedSample.text()).setting("sealed.passphrase.\(name)", to: "\(value)")
            .withDigest()
        #expect(KeystoreError.Code.thrown { try changed.unlocked() } == .wrongSecret)
    }

    /// A revoked key made valid again, another activation, another policy, an older sequence, another history.
    static let edits = [
        ("pushcrypt.seq", "6"), ("pushcrypt.updatedAt", #""2020-01-01T00:00:00Z""#),
        ("pushcrypt.policy.rotateEvery", #""P9000D""#), ("pushcrypt.policy.keep", "1"),
        ("pushcrypt.audit.count", "1"), ("pushcrypt.audit.last", "[]"),
        ("pushcrypt.keys.KID.revokedAt", nil), ("pushcrypt.keys.KID.activatesAt", #""2020-01-01T00:00:00Z""#),
        ("pushcrypt.keys.KID.psk", nil),
    ]

    @Test("changed metadata is readable without the secret and refused with it", arguments: edits)
    func lifecycles(_ path: String, _ value: String?) throws {
        var stored = try SealedSample.keyset(SealedSample.Shape(description: "psk", kind: .recipient, psk: true))
        stored.metadata.timeline.keys[0].lifecycle.revokedAt = SealedSample.time
        let text = EditedText(try stored.fileText())
        let path = path.replacing("KID", with: "\(stored.metadata.timeline.keys[0].kid)")
        let changed = try (try value.map { try text.setting(path, to: $0) } ?? text.removing(path)).withDigest()
        let file = try changed.file()
        #expect(file.metadata != stored.metadata)
        let error = #expect(throws: KeystoreError.self) { try changed.unlocked() }
        #expect(error?.code == .damaged)
        #expect(error?.reason.hasPrefix("keyset.json: ") == true)
    }

    @Test("additional white space in the metadata is refused")
    func spelling() throws {
        let text = EditedText(try SealedSample.text())
        let changed = try text.setting("pushcrypt.seq", to: " 7").withDigest()
        #expect(try changed.file().metadata == text.file().metadata)
        #expect(KeystoreError.Code.thrown { try changed.unlocked() } == .damaged)
    }

    @Test("a keyset with a part of another keyset is refused")
    func swaps() throws {
        let (one, other) = (EditedText(try SealedSample.text()), EditedText(try SealedSample.text()))
        for parts in [
            ["sealed"], ["pushcrypt"], ["sealed.keys"], ["sealed.dataKey"], ["sealed.passphrase"],
            ["sealed.passphrase", "sealed.dataKey"], ["sealed.dataKey", "sealed.keys"],
            ["sealed.passphrase", "sealed.keys"], ["sealed.keys", "pushcrypt"],
        ] {
            let changed = try parts.reduce(one) { text, path in try text.setting(path, to: other.value(path)) }
            #expect(KeystoreError.Code.thrown { try changed.withDigest().unlocked() } == .damaged, "\(parts)")
        }
    }

    /// An attacker inserts sections of a keyset with their own passphrase, data key and keys.
    @Test("a section encrypted with another passphrase is reported as a wrong passphrase")
    func ownSections() throws {
        let (text, foreign) = (
            EditedText(try SealedSample.text()),
            EditedText(try SealedSample.text(.sender, SealedSample.passphrase("mine")))
        )
        for parts in [
            ["sealed.passphrase"], ["sealed.passphrase", "sealed.dataKey"], ["sealed"], ["sealed", "pushcrypt"],
        ] {
            let changed = try parts.reduce(text) { text, path in try text.setting(path, to: foreign.value(path)) }
            #expect(KeystoreError.Code.thrown { try changed.withDigest().unlocked() } == .wrongSecret, "\(parts)")
        }
    }

    @Test(
        "an encrypted keyset is refused with a similar passphrase",
        arguments: ["", "Correct horse", "correct horse ", "correct horse\n", "correct"])
    func wrongPassphrases(_ passphrase: String) throws {
        let text = EditedText(try SealedSample.text())
        let error = #expect(throws: KeystoreError.self) { try text.unlocked(SealedSample.passphrase(passphrase)) }
        #expect(error?.code == .wrongSecret)
        #expect(error?.reason == "keyset.json: the passphrase is wrong")
    }

    @Test("a keyset for a passphrase refuses a command, and a keyset for a command refuses a passphrase")
    func kinds() throws {
        let text = EditedText(try SealedSample.text())
        let claimed = EditedText(
            text.text.replacing(/"passphrase": \{[^}]*\}/, with: #""command": true"#))
        #expect(KeystoreError.Code.thrown { try claimed.withDigest().unlocked() } == .secretNeeded)
        #expect(KeystoreError.Code.thrown { try text.unlocked(.command("true")) } == .secretNeeded)
    }
}
