import Foundation
import Testing

@Suite("keys create", .ownThreads)
struct KeysCreateTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let options: [String]
        let algorithm: String
        let members: Set<String>

        var testDescription: String { options.joined(separator: " ") }
    }

    static let cases = [
        Case(options: ["recipient"], algorithm: "HPKE-7", members: ["x", "y", "d"]),
        Case(options: ["recipient", "--suite", "p256"], algorithm: "HPKE-7", members: ["x", "y", "d"]),
        Case(options: ["recipient", "--psk"], algorithm: "HPKE-7", members: ["x", "y", "d", "psk"]),
        Case(options: ["recipient", "--suite", "x25519"], algorithm: "HPKE-3", members: ["x", "d"]),
        Case(options: ["recipient", "--suite", "x25519", "--psk"], algorithm: "HPKE-3", members: ["x", "d", "psk"]),
        Case(options: ["shared"], algorithm: "HKDF-A256GCM", members: ["k"]),
        Case(options: ["sender"], algorithm: "Ed25519", members: ["x", "d"]),
    ]

    @Test("keys create creates a keyset of every kind and prints its kid", arguments: cases)
    func create(_ test: Case) throws {
        let place = try Workplace()
        let output = try place.run(["keys", "create", "Keys/ios", "--insecure-plaintext", "--kind"] + test.options)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.wholeMatch(of: /[A-Za-z0-9_-]{11}\n/) != nil)
        let file = try place.read("Keys/ios/keyset.json")
        let key = try #require((try Payload.member("keys", of: file) as? [[String: String]])?.first)
        #expect(key["kid"] == output.line)
        #expect(key["alg"] == test.algorithm)
        #expect(Set(key.keys).subtracting(["kty", "crv", "alg", "kid"]) == test.members)
    }

    @Test("keys create writes files that only the owner can read, with every umask", arguments: ["000", "022", "077"])
    func modes(_ umask: String) throws {
        let place = try Workplace()
        let output = try place.shell(
            "umask \(umask); \"$PUSHCRYPT\" keys create new/deep/Keys/ios --kind sender --insecure-plaintext")
        #expect(output.exit == 0, "\(output)")
        #expect(try place.mode(of: "new/deep/Keys/ios/keyset.json") == 0o600)
        for folder in ["new", "new/deep", "new/deep/Keys", "new/deep/Keys/ios"] {
            #expect(try place.mode(of: folder) == 0o700, "\(folder)")
        }
        #expect(try place.names(in: "new/deep/Keys") == ["ios"])
        #expect(try place.names(in: "new/deep/Keys/ios") == ["audit.jsonl", "keyset.json", "public.jwks.json"])
    }

    @Test("a keystore in a folder of its own is accepted beside others", arguments: ["Keys/prod/app", "a/b/c/app"])
    func separate(_ path: String) throws {
        let place = try Workplace()
        try place.create("Keys/test/app", "recipient")
        let output = try place.run(
            "keys", "create", path, "--kind", "shared", "--insecure-plaintext", "--at", Workplace.now)
        #expect(output.exit == 0, "\(output)")
    }

    @Test(
        "keys create in a new keystore says so with the first missing folder, unless it is the default keystore",
        arguments: [
            ("Kyes/y", "Kyes", "Kyes"), ("a/my keys/x", "a/my keys", "a"), ("Keys/new/x", "Keys/new", "Keys/new"),
        ])
    func newKeystore(_ path: String, _ keystore: String, _ missing: String) throws {
        let place = try Workplace()
        let options = ["--kind", "shared", "--insecure-plaintext"]
        #expect(try place.run(["keys", "create", "Keys/test/app"] + options).exit == 0)
        #expect(try place.run(["keys", "create", "./Keys/test/other"] + options).isSuccess)
        let typo = try place.run(["keys", "create", path] + options)
        let words =
            "pushcrypt: \(keystore) is a new keystore: there was no folder \(missing). Name it in commands for all keysets"
        #expect(typo.exit == 0 && typo.stderr.hasPrefix(words), "\(typo)")
        let command = try #require(typo.stderr.firstMatch(of: /`pushcrypt (.*)`/)?.1)
        #expect(try place.shell("\"$PUSHCRYPT\" \(command)").exit == 0)
        #expect(try place.run(["keys", "create", path + "2"] + options).isSuccess)
        #expect(try Workplace().run(["keys", "create", "Keys/x"] + options).isSuccess)
    }

    @Test("keys create of a publisher in a new keystore says so without rotate --all, which is not for publishers")
    func newPublisherKeystore() throws {
        let output = try Workplace().run(
            "keys", "create", "Publisher/app", "--kind", "publisher", "--insecure-plaintext")
        #expect(output.exit == 0, "\(output)")
        #expect(
            output.stderr == "pushcrypt: Publisher is a new keystore: there was no folder Publisher\n", "\(output)")
    }

    @Test("keys create accepts a trailing slash and a name without a folder", arguments: ["Keys/ios/", "ios", "./ios"])
    func spellings(_ path: String) throws {
        let place = try Workplace()
        let kid = try place.create(path, "recipient")
        #expect(try place.run("keys", "list", path).text.contains(kid))
    }

    @Test("two new keysets contain different keys")
    func fresh() throws {
        let place = try Workplace()
        let kids = try (0..<3).map { index in try place.create("Keys/k\(index)", "shared") }
        #expect(Set(kids).count == 3)
    }

    @Test(
        "the first key is primary from the given time on",
        arguments: [
            ("1772355600", "2026-03-01T09:00:00Z"), ("2026-03-01T09:00:00Z", "2026-03-01T09:00:00Z"),
            ("2026-03-01T10:30:00+01:30", "2026-03-01T09:00:00Z"), ("0", "1970-01-01T00:00:00Z"),
            ("2026-03-01t09:00:00.999z", "2026-03-01T09:00:00Z"), ("253402300799", "9999-12-31T23:59:59Z"),
        ])
    func times(_ argument: String, _ written: String) throws {
        let place = try Workplace()
        let output = try place.run(
            "keys", "create", "Keys/ios", "--kind", "shared", "--insecure-plaintext", "--at", argument)
        #expect(output.isSuccess, "\(output)")
        let rows = try place.run("keys", "list", "Keys/ios", "--json", "--at", argument)
        let row = try #require((try JSONSerialization.jsonObject(with: rows.stdout) as? [[String: Any]])?.first)
        #expect(row["state"] as? String == "primary")
        #expect(row["createdAt"] as? String == written)
        #expect(row["activatesAt"] as? String == written)
    }
}
