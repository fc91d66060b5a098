import Foundation
import PushCryptTestSupport
import Testing

@Suite("keys import", .ownThreads)
struct KeysImportTests {
    static let kinds = ["recipient", "recipient --suite x25519", "sender", "shared"]

    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.write(Data("a passphrase\n".utf8), to: "passphrase")
    }

    /// Creates Keys/old of that kind and returns its kid.
    private func create(_ kind: String) throws -> String {
        let words = kind.split(separator: " ").map(String.init)
        return try place.create("Keys/old", words[0], Array(words.dropFirst()), at: Workplace.newYear)
    }

    private func exported(_ options: String...) throws -> Data {
        let output = try place.run(
            ["keys", "export", "Keys/old", "--private", "--at", Workplace.newYear] + options)
        try #require(output.isSuccess, "\(output)")
        return output.stdout
    }

    private func imported(_ file: Data, into path: String = "Keys/new", _ options: String...) throws -> Output {
        try place.write(file, to: "file")
        return try place.run(
            ["keys", "import", path, "--from", "file", "--insecure-plaintext", "--at", Workplace.newYear] + options)
    }

    @Test("keys import reads every format that keys export writes", arguments: kinds, ["jwk", "pem", "der", "raw"])
    func roundTrip(_ kind: String, _ form: String) throws {
        let kid = try create(kind)
        guard kind != "shared" || ["jwk", "raw"].contains(form) else {
            let output = try place.run("keys", "export", "Keys/old", "--format", form, "--at", Workplace.newYear)
            return expectRefusal(output, 65, saying: "is a shared secret")
        }
        let words = kind.split(separator: " ").map(String.init)
        let file = try exported("--format", form, "--insecure-plaintext")
        try place.write(file, to: "file")
        let hints = form == "raw" ? ["--kind"] + words : []
        let output = try place.run(
            ["keys", "import", "Keys/new", "--from", "file", "--insecure-plaintext", "--at", Workplace.newYear] + hints)
        #expect(output.isSuccess && output.line == kid, "\(output)")
        #expect(try place.states("Keys/new", at: Workplace.newYear) == ["primary"])
        #expect(
            try place.secrets(in: "Keys/new/keyset.json") == (try place.secrets(in: "Keys/old/keyset.json")))
    }

    @Test("an encrypted file is imported only with its passphrase", arguments: ["pem", "der"])
    func encrypted(_ form: String) throws {
        let kid = try create("sender")
        let file = try exported("--format", form, "--export-passphrase-file", "passphrase")
        let output = try imported(file, into: "Keys/new", "--key-passphrase-file", "passphrase")
        #expect(output.isSuccess && output.line == kid, "\(output)")
        expectRefusal(try imported(file, into: "Keys/other"), 64, saying: "passphrase")
        try place.write(Data("another\n".utf8), to: "passphrase")
        expectRefusal(
            try imported(file, into: "Keys/other", "--key-passphrase-file", "passphrase"), 77, saying: "passphrase")
        #expect(try place.names(in: "Keys") == ["new", "old"])
    }

    @Test("keys import adds the key to an existing keyset as the next key")
    func existing() throws {
        let old = try create("shared")
        let other = try place.run(
            "keys", "create", "Keys/other", "--kind", "shared", "--insecure-plaintext", "--at", Workplace.newYear)
        let file = try place.run(
            "keys", "export", "Keys/other", "--private", "--insecure-plaintext", "--at", Workplace.newYear)
        try place.write(file.stdout, to: "file")
        let output = try place.run(
            "keys", "import", "Keys/old", "--from", "file", "--at", "2026-02-01T00:00:00Z", "--reason", "moved")
        #expect(output.text == "imported \(other.line): seals from 2026-02-08T00:00:00Z\n")
        #expect(try place.keys("Keys/old", at: "2026-02-08T00:00:00Z").map(\.kid) == [old, other.line])
        #expect(try place.states("Keys/old", at: "2026-02-08T00:00:00Z") == ["retiring", "primary"])
    }

    @Test("keys import refuses a key that is or was in the keyset", arguments: ["primary", "revoked", "destroyed"])
    func known(_ state: String) throws {
        let kid = try create("shared")
        let file = try exported("--insecure-plaintext")
        let time = "2026-02-01T00:00:00Z"
        if state != "primary" {
            #expect(try place.run("keys", "revoke", "Keys/old", kid, "--yes", "--at", time).exit == 0)
        }
        if state == "destroyed" {
            #expect(try place.run("keys", "destroy", "Keys/old", kid, "--force", "--at", time).exit == 0)
        }
        try place.write(file, to: "file")
        let before = try place.read("Keys/old/keyset.json")
        let output = try place.run("keys", "import", "Keys/old", "--from", "file", "--at", time)
        expectRefusal(output, 65, saying: "an id is never used again")
        #expect(try place.read("Keys/old/keyset.json") == before)
    }

    @Test("keys import refuses public keys, garbage and demo keys")
    func refused() throws {
        _ = try create("recipient")
        let publicPEM = try place.run("keys", "export", "Keys/old", "--format", "pem", "--at", Workplace.newYear)
        let publicJWK = try place.run("keys", "export", "Keys/old", "--format", "jwk", "--at", Workplace.newYear)
        let set = try place.run("keys", "export", "Keys/old", "--at", Workplace.newYear)
        expectRefusal(try imported(publicPEM.stdout), 65, saying: "public key")
        expectRefusal(try imported(publicJWK.stdout), 65, saying: "public key")
        expectRefusal(try imported(set.stdout), 65, saying: "public key")
        expectRefusal(try imported(Data("AAAA\n".utf8), into: "Keys/new", "--kind", "shared"), 65, saying: "32 bytes")
        expectRefusal(try imported(Data(Data(repeating: 7, count: 32).base64EncodedData())), 65, saying: "--kind")
        let zero = Data(repeating: 0, count: 32).base64EncodedData()
        expectRefusal(try imported(zero, into: "Keys/new", "--kind", "recipient"), 65)
        for garbage in [
            "", "{}", "hello world", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", "\u{30}\u{82}",
        ] {
            expectRefusal(try imported(Data(garbage.utf8)), 65)
        }
        let demo = Repository.root.appendingPathComponent("Keys/demo/shared/keyset.json")
        expectRefusal(try imported(Data(contentsOf: demo)), 64, saying: "demo key")
        #expect(try place.names(in: "Keys") == ["old"])
    }

    @Test(
        "keys import of a private key, encrypted or not, that other users can open exits 77 and names chmod",
        arguments: [("jwk", []), ("pem", []), ("raw", ["--kind", "sender"]), ("encrypted", [])] as [(String, [String])])
    func loose(_ form: String, _ kind: [String]) throws {
        _ = try create("sender")
        let isEncrypted = form == "encrypted"
        let file =
            isEncrypted
            ? try exported("--format", "pem", "--export-passphrase-file", "passphrase")
            : try exported("--format", form, "--insecure-plaintext")
        try place.write(file, to: "file")
        let options = kind + (isEncrypted ? ["--key-passphrase-file", "passphrase"] : [])
        let command = ["keys", "import", "Keys/new", "--from"]
        let end = ["--insecure-plaintext", "--at", Workplace.newYear] + options
        for mode in [0o644, 0o604, 0o660] {
            try place.setMode(mode, of: "file")
            let refused = try place.run(command + ["file"] + end)
            expectRefusal(refused, 77, saying: "chmod 600 file")
            #expect(try place.names(in: "Keys") == ["old"])
        }
        let piped = try place.run(command + ["-"] + end, stdin: file)
        #expect(piped.isSuccess, "\(piped)")
    }

    @Test("keys import refuses a key of another kind than the keyset's")
    func wrongKind() throws {
        _ = try create("recipient")
        let raw = Data(repeating: 7, count: 32).base64EncodedData()
        try place.write(raw, to: "file")
        let output = try place.run("keys", "import", "Keys/old", "--from", "file", "--kind", "shared")
        expectRefusal(output, 65, saying: "the keyset contains recipient keys")
    }

    @Test(
        "--kind and --suite that contradict the file are refused",
        arguments: [
            ("recipient", ["--kind", "sender"], "contains a recipient key"),
            ("sender", ["--kind", "shared"], "contains a sender key"),
            ("recipient", ["--suite", "x25519"], "another suite"),
            ("shared", ["--kind", "recipient"], "contains a shared key"),
        ])
    func contradiction(_ kind: String, _ options: [String], _ reason: String) throws {
        let place = try Workplace()
        try place.create("Keys/old", kind)
        try place.export("Keys/old", to: "file", "--private", "--insecure-plaintext")
        let output = try place.run(["keys", "import", "Keys/new", "--from", "file", "--insecure-plaintext"] + options)
        expectRefusal(output, 64, saying: reason)
        #expect(!place.has("Keys/new"))
    }

    @Test(
        "an encrypted PEM without --key-passphrase-file is refused with that option, and seal and open name keys import"
    )
    func encryptedPEM() throws {
        let place = try Workplace()
        try place.create("Keys/old", "recipient")
        try place.write(Data("secret horse\n".utf8), to: "pass")
        try place.export("Keys/old", to: "key.pem", "--private", "--format", "pem", "--export-passphrase-file", "pass")
        let output = try place.run("keys", "import", "Keys/new", "--from", "key.pem", "--insecure-plaintext")
        expectRefusal(output, 64, saying: "it needs its passphrase (--key-passphrase-file FILE)")
        expectRefusal(try place.open(keys: "key.pem", payload: Data("{}".utf8)), 65, saying: "`pushcrypt keys import`")
        expectRefusal(try place.seal(to: "key.pem"), 65, saying: "this is PEM")
    }

    @Test("--key-passphrase-file for a file that isn't encrypted has no effect, and a note says so")
    func uselessPassphrase() throws {
        let place = try Workplace()
        try place.create("Keys/old", "recipient")
        try place.write(Data("secret horse\n".utf8), to: "pass")
        try place.export("Keys/old", to: "file", "--private", "--insecure-plaintext")
        let output = try place.run(
            "keys", "import", "Keys/new", "--from", "file", "--insecure-plaintext", "--key-passphrase-file", "pass")
        #expect(output.exit == 0 && output.stderr.contains("--key-passphrase-file has no effect"), "\(output)")
    }
}
