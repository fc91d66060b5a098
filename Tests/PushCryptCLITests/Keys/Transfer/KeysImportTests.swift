import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@Suite("keys import", .ownThreads)
struct KeysImportTests {
    static let kinds = ["recipient", "recipient --suite x25519", "sender", "shared", "publisher"]

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
            ["keys", "import", path, "file", "--insecure-plaintext", "--at", Workplace.newYear] + options)
    }

    @Test("keys import reads every format that keys export writes", arguments: kinds, ["jwk", "pem", "der", "raw"])
    func roundTrip(_ kind: String, _ form: String) throws {
        let kid = try create(kind)
        guard kind != "shared" || ["jwk", "raw"].contains(form) else {
            let output = try place.run("keys", "export", "Keys/old", "--format", form, "--at", Workplace.newYear)
            return expectRefusal(output, 65, saying: "have no public half")
        }
        let words = kind.split(separator: " ").map(String.init)
        try place.write(exported("--format", form, "--insecure-plaintext"), to: "file")
        let hints = form == "raw" || kind == "publisher" ? ["--kind"] + words : []
        let output = try place.run(
            ["keys", "import", "Keys/new", "file", "--insecure-plaintext", "--at", Workplace.newYear] + hints)
        #expect(output.isSuccess && output.line == kid, "\(output)")
        #expect(try place.states("Keys/new", at: Workplace.newYear) == ["primary"])
        #expect(try place.secrets(in: "Keys/new") == place.secrets(in: "Keys/old"))
    }

    @Test("an encrypted file is imported only with its passphrase", arguments: ["pem", "der"])
    func encrypted(_ form: String) throws {
        let kid = try create("sender")
        let file = try exported("--format", form, "--new-passphrase-file", "passphrase")
        let output = try imported(file, into: "Keys/new", "--key-passphrase-file", "passphrase")
        #expect(output.isSuccess && output.line == kid, "\(output)")
        expectRefusal(try imported(file, into: "Keys/other"), 64, saying: "passphrase")
        try place.write(Data("another\n".utf8), to: "passphrase")
        expectRefusal(
            try imported(file, into: "Keys/other", "--key-passphrase-file", "passphrase"), 77, saying: "passphrase")
        #expect(try place.names(in: "Keys") == ["new.keyset", "old.keyset"])
    }

    @Test("keys import adds the key to an existing keyset as the next key")
    func existing() throws {
        let old = try create("shared")
        let other = try place.create("Keys/other", "shared")
        try place.write(place.privateKeys("Keys/other"), to: "file")
        let output = try place.run("keys", "import", "Keys/old", "file", "--at", "2026-02-01T00:00:00Z")
        #expect(output.exit == 0 && output.text == "\(other)\n", "\(output)")
        #expect(output.stderr.contains("added key \(other), primary from 2026-02-08T00:00:00Z"), "\(output)")
        #expect(try place.log("Keys/old").lines.last?.action == .imported)
        #expect(try place.keys("Keys/old", at: "2026-02-08T00:00:00Z").map(\.kid) == [old, other])
        #expect(try place.states("Keys/old", at: "2026-02-08T00:00:00Z") == ["retiring", "primary"])
    }

    @Test("keys import refuses a key that is or was in the keyset", arguments: ["primary", "destroyed"])
    func known(_ state: String) throws {
        let kid = try create("shared")
        let file = try exported("--insecure-plaintext")
        let time = "2026-02-01T00:00:00Z"
        if state != "primary" { try place.revoke("Keys/old", kid, at: time) }
        if state == "destroyed" {
            let script = "\"$PUSHCRYPT\" keys destroy Keys/old --yes --at \(time) -- \(kid)"
            #expect(try place.shell(script).exit == 0)
        }
        try place.write(file, to: "file")
        let before = try place.read("Keys/old.keyset")
        let output = try place.run("keys", "import", "Keys/old", "file", "--at", time)
        expectRefusal(output, 65, saying: "an id is never used again")
        #expect(try place.read("Keys/old.keyset") == before)
    }

    @Test("keys import refuses public keys, other kinds, garbage, demo keys, and files that others can open")
    func refused() throws {
        _ = try create("recipient")
        for form in [["--format", "pem"], ["--format", "jwk"], []] {
            let file = try place.run(["keys", "export", "Keys/old", "--at", Workplace.newYear] + form).stdout
            expectRefusal(try imported(file), 65, saying: "public key")
        }
        let recipient = try exported("--insecure-plaintext")
        expectRefusal(try imported(recipient, into: "Keys/new", "--kind", "sender"), 64, saying: "a recipient key")
        expectRefusal(try imported(recipient, into: "Keys/new", "--suite", "x25519"), 64, saying: "another suite")
        try place.setMode(0o644, of: "file")
        expectRefusal(
            try place.run("keys", "import", "Keys/new", "file", "--insecure-plaintext"), 77, saying: "chmod 600 file")
        expectRefusal(try imported(Data("AAAA\n".utf8), into: "Keys/new", "--kind", "shared"), 65, saying: "32 bytes")
        expectRefusal(try imported(Data(Data(repeating: 7, count: 32).base64EncodedData())), 65, saying: "--kind")
        for garbage in ["", "hello world", "\u{30}\u{82}"] { expectRefusal(try imported(Data(garbage.utf8)), 65) }
        let demo = Data("lGyujY04i9CTOZqVCmYwwsqrZUWnLDFEOltp2LPQ0is\n".utf8)
        expectRefusal(try imported(demo, into: "Keys/new", "--kind", "shared"), 64, saying: "demo key")
        #expect(try place.names(in: "Keys") == ["old.keyset"])
    }
}
