import Foundation
import PushCryptCore
import Testing

/// Damage by an attacker or a disk, which no crash causes.
@Suite("keys verify of a damaged keyset", .ownThreads)
struct KeysVerifyDamageTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let check: String
        let words: String
        var kind = "recipient"
        var count = 1
        let damage: @Sendable (Workplace) throws -> Void
    }

    private static let set = "Keys/ios/public.jwks.json"
    private static let log = "Keys/ios/audit.jsonl"

    static let cases = [
        Case(testDescription: "a changed byte", check: "digest", words: "doesn't match its digest") { place in
            let text = String(decoding: try place.read("Keys/ios/keyset.json"), as: UTF8.self)
            try place.write(Data(text.replacing("\"seq\": 1", with: "\"seq\": 2").utf8), to: "Keys/ios/keyset.json")
        },
        Case(testDescription: "no keyset", check: "metadata", words: "keys is missing") { place in
            try place.write(Data(#"{"pushcrypt": {}}"#.utf8), to: "Keys/ios/keyset.json")
        },
        Case(testDescription: "no JSON", check: "metadata", words: "not a JSON text") { place in
            try place.write(Data("{".utf8), to: "Keys/ios/keyset.json")
        },
        // The public set contains the lifecycles too.
        Case(
            testDescription: "a key that ends without a successor", check: "lives", words: "no key seals at",
            count: 2
        ) {
            try $0.edit("Keys/ios/keyset.json") { text in
                text.replacing("\"suite\"", with: "\"retiresAt\": \"2026-06-01T00:00:00Z\", \"suite\"")
            }
        },
        Case(testDescription: "a log of another keyset", check: "log", words: "doesn't belong") { place in
            try place.create("Keys/other", "recipient")
            try place.write(try place.read("Keys/other/audit.jsonl"), to: log)
        },
        Case(
            testDescription: "an additional line", check: "log",
            words: "line 2 of the audit log doesn't contain the hash"
        ) {
            try $0.edit(log) { $0 + $0.replacing("\"n\":1", with: "\"n\":2") }
        },
        Case(testDescription: "an edited line", check: "log", words: "doesn't belong") {
            try $0.edit(log) { $0.replacing("seals at once", with: "seals at last") }
        },
        Case(testDescription: "an edited public set", check: "public", words: "it was changed") {
            try $0.edit(set) { $0.replacing("2026-03-01", with: "2026-03-02") }
        },
        Case(testDescription: "a public set of a later change", check: "public", words: "the keyset is an old copy") {
            try $0.edit(set) { $0.replacing("\"seq\": 1", with: "\"seq\": 2") }
        },
        Case(testDescription: "a public set with the private key", check: "public", words: "contains secrets") {
            place in
            try place.write(try place.readForEditing("Keys/ios/keyset.json"), to: set, mode: 0o644)
        },
        Case(testDescription: "another key in the public set", check: "public", words: "not in the keyset") { place in
            try place.create("Keys/other", "recipient")
            try place.write(try place.read("Keys/other/public.jwks.json"), to: set, mode: 0o644)
        },
        Case(testDescription: "a link in place of the public set", check: "public", words: "symbolic link") { place in
            _ = try place.shell("cd Keys/ios && mv public.jwks.json ../p && ln -s ../p public.jwks.json")
        },
        Case(
            testDescription: "a public set of shared keys", check: "public", words: "shared keys have no public half",
            kind: "shared"
        ) { try $0.write(Data("{}".utf8), to: set, mode: 0o644) },
    ]

    @Test("keys verify names the damage, exits 65 and changes nothing", arguments: cases)
    func damage(_ test: Case) throws {
        let place = try Workplace()
        try place.create("Keys/ios", test.kind)
        try test.damage(place)
        let before = try place.contents(of: "Keys/ios")
        let output = try place.run("keys", "verify", "Keys/ios", "--at", Workplace.now)
        #expect(output.exit == 65, "\(output)")
        #expect(output.stderr == "pushcrypt: Keys/ios: \(test.count) finding\(test.count == 1 ? "" : "s")\n")
        let bad = output.text.split(separator: "\n").filter { $0.hasPrefix("bad") }
        #expect(bad.count == test.count && bad[0].hasPrefix("bad        \(test.check) "), "\(output)")
        #expect(bad.first?.contains(test.words) == true, "\(output)")
        #expect(try place.contents(of: "Keys/ios") == before)
    }

    /// The digest detects accidents. Only the encryption of the keys detects attacks.
    @Test("keys verify with the secret detects edited metadata of encrypted keys")
    func authenticated() throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/ios", .shared)
        try place.edit("Keys/ios/keyset.json") { $0.replacing("\"keep\": 2", with: "\"keep\": 3") }
        #expect(try place.run("keys", "verify", "Keys/ios", "--at", Workplace.now).exit == 0)
        let output = try place.run(
            "keys", "verify", "Keys/ios", "--at", Workplace.now, "--passphrase-file", "passphrase")
        #expect(output.exit == 65, "\(output)")
        #expect(output.text.contains("\nbad        keys       Keys/ios/keyset.json: the encrypted keys don't match"))
    }
}
