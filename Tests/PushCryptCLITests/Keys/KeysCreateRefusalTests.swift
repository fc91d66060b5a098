import Foundation
import PushCryptTestSupport
import Testing

@Suite("refusals of keys create", .ownThreads)
struct KeysCreateRefusalTests {
    @Test(
        "keys create refuses a name that exists, and leaves the existing file alone",
        arguments: ["keyset", "file", "empty folder", "dangling link"])
    func taken(_ what: String) throws {
        let place = try Workplace()
        switch what {
        case "keyset": try place.create("Keys/ios", "recipient")
        case "file":
            try place.makeFolder("Keys")
            try place.write(Data("mine".utf8), to: "Keys/ios")
        case "empty folder": try place.makeFolder("Keys/ios")
        default:
            try place.makeFolder("Keys")
            try FileManager.default.createSymbolicLink(
                atPath: place.folder.file("Keys/ios").path, withDestinationPath: "nowhere")
        }
        let before = try? place.read("Keys/ios/keyset.json")
        let output = try place.run("keys", "create", "Keys/ios", "--kind", "shared", "--insecure-plaintext")
        expectRefusal(output, 73, saying: "Keys/ios exists already")
        #expect(try place.names(in: "Keys") == ["ios"])
        #expect((try? place.read("Keys/ios/keyset.json")) == before)
    }

    @Test(
        "keys create refuses a name under which rotate --all wouldn't find the keyset, before it asks for a secret",
        arguments: [
            ("Keys/.hidden", "skips hidden folders"), ("Keys/ios/inner", "Keys/ios is a keyset"),
            ("Keys/ios/deep/inner", "Keys/ios is a keyset"), ("Keys/team/ios", "choose Keys/ios, or a folder outside"),
            ("-", "can't begin with a hyphen"), ("./-x", "can't begin with a hyphen"),
        ])
    func unfindable(_ path: String, _ reason: String) throws {
        let place = try Workplace()
        try place.create("Keys/first", "recipient")
        try place.move("Keys/first", to: "Keys/ios")
        let before = try place.contents(of: ".")
        let output = try place.run("keys", "create", path, "--kind", "shared")
        expectRefusal(output, 64, saying: reason)
        try place.write(Data(repeating: 7, count: 32).base64EncodedData(), to: "key")
        let imported = try place.run("keys", "import", path, "--from", "key", "--kind", "shared")
        expectRefusal(imported, 64, saying: reason)
        try place.remove("key")
        #expect(try place.contents(of: ".") == before)
        #expect(try place.names() == ["Keys"])
    }

    @Test(
        "keys create and keys import refuse a name with control, format or quote characters",
        arguments: ["a\nb", "a\u{9B}b", "\u{202E}soi", "a\u{200B}b", "a'b", "a\"b", "a`b", "“a”", "a\\b", "tab\t"])
    func unreadable(_ name: String) throws {
        let place = try Workplace()
        let output = try place.run("keys", "create", "Keys/" + name, "--kind", "shared", "--insecure-plaintext")
        expectRefusal(output, 64, saying: "can't have quotes, backslashes, and control or format characters")
        try place.write(Data(repeating: 7, count: 32).base64EncodedData(), to: "key")
        let imported = try place.run(
            "keys", "import", "Keys/" + name, "--from", "key", "--kind", "shared", "--insecure-plaintext")
        expectRefusal(imported, 64, saying: "can't have quotes")
        #expect(try place.names() == ["key"])
        let accepted = try place.run("keys", "create", "Keys/équipe iOS", "--kind", "shared", "--insecure-plaintext")
        #expect(accepted.isSuccess, "\(accepted)")
    }

    @Test("keys create refuses a keyset in the current folder if that is a keyset")
    func below() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let output = try place.shell(
            #"cd Keys/ios && "$PUSHCRYPT" keys create inner --kind shared --insecure-plaintext"#)
        expectRefusal(output, 64, saying: ". is a keyset")
    }

    @Test("keys create refuses a path below a file", arguments: ["file/ios", "file/deep/ios", "/dev/null/ios"])
    func impossible(_ path: String) throws {
        let place = try Workplace()
        try place.write(Data("mine".utf8), to: "file")
        let output = try place.run("keys", "create", path, "--kind", "shared", "--insecure-plaintext")
        expectRefusal(output, 73, saying: "can't create")
        #expect(try place.names() == ["file"])
    }

    @Test(
        "keys create exits 64 for bad usage",
        arguments: [
            ["Keys/x", "--kind", "recipient"],
            ["Keys/x", "--insecure-plaintext"],
            ["--kind", "recipient", "--insecure-plaintext"],
            ["", "--kind", "recipient", "--insecure-plaintext"],
            ["Keys/x", "--kind", "device", "--insecure-plaintext"],
            ["Keys/x", "--kind", "recipient", "--suite", "p384", "--insecure-plaintext"],
            ["Keys/x", "--kind", "sender", "--suite", "p256", "--insecure-plaintext"],
            ["Keys/x", "--kind", "shared", "--suite", "x25519", "--insecure-plaintext"],
            ["Keys/x", "--kind", "sender", "--psk", "--insecure-plaintext"],
            ["Keys/x", "--kind", "shared", "--psk", "--insecure-plaintext"],
            ["Keys/x", "Keys/y", "--kind", "shared", "--insecure-plaintext"],
        ])
    func usage(_ arguments: [String]) throws {
        let place = try Workplace()
        expectUsageError(try place.run(["keys", "create"] + arguments))
        #expect(try place.names().isEmpty)
    }

    /// A keyset with a time that key files can't contain could never be read again.
    @Test(
        "keys create exits 64 for a bad time",
        arguments: [
            "", "yesterday", "2026-03-01", "2026-03-01T09:00:00", "2026-02-29T09:00:00Z", "2026-13-01T00:00:00Z",
            "2026-03-01 09:00:00Z", "2026-03-01T24:00:00Z", "1.5", "1e9", "-5", "253402300800",
            "9007199254740991", "9223372036854775807", "99999999999999999999", "1969-12-31T23:59:59Z",
            "9999-12-31T23:59:59-01:00", "1772355600 ",
        ])
    func times(_ time: String) throws {
        let place = try Workplace()
        let output = try place.run(
            "keys", "create", "Keys/x", "--kind", "shared", "--insecure-plaintext", "--at=\(time)")
        expectUsageError(output)
        #expect(try place.names().isEmpty)
    }
}
