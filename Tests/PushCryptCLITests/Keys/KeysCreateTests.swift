import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@Suite("keys create", .ownThreads)
struct KeysCreateTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    private static let plain = ["--insecure-plaintext", "--at", Workplace.now]

    struct Case: Sendable, CustomTestStringConvertible {
        let options: [String]
        let algorithm: String
        let members: Set<String>

        var testDescription: String { options.joined(separator: " ") }
    }

    static let cases = [
        Case(options: ["recipient"], algorithm: "HPKE-7", members: ["x", "y", "d"]),
        Case(
            options: ["recipient", "--suite", "p256", "--psk"], algorithm: "HPKE-7", members: ["x", "y", "d", "psk"]),
        Case(options: ["recipient", "--suite", "x25519"], algorithm: "HPKE-3", members: ["x", "d"]),
        Case(options: ["shared"], algorithm: "HKDF-A256GCM", members: ["k"]),
        Case(options: ["sender"], algorithm: "Ed25519", members: ["x", "d"]),
        Case(options: ["publisher"], algorithm: "Ed25519", members: ["x", "d", "role"]),
    ]

    @Test("keys create makes a keyset of every kind, and its kid stands alone on stdout", arguments: cases)
    func create(_ test: Case) throws {
        let output = try place.run(["keys", "create", "Keys/ios", "--kind"] + test.options + Self.plain)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.wholeMatch(of: /[A-Za-z0-9_-]{11}\n/) != nil)
        let last = try #require(try place.read("Keys/ios.keyset").split(separator: UInt8(ascii: "\n")).last)
        let key = try #require((try Payload.member("keys", of: Data(last)) as? [[String: String]])?.first)
        #expect(key["kid"] == output.line && key["alg"] == test.algorithm)
        #expect(Set(key.keys).subtracting(["kty", "crv", "alg", "kid"]) == test.members)
        #expect(try place.states("Keys/ios", at: Workplace.now) == ["primary"])
        #expect(try place.log("Keys/ios").state.writer == CLI.writer)
    }

    @Test("keystore and file are the owner's alone with every umask", arguments: ["000", "022", "077"])
    func modes(_ umask: String) throws {
        let output = try place.shell(
            "umask \(umask); \"$PUSHCRYPT\" keys create new/deep/Keys/ios --kind sender --insecure-plaintext")
        #expect(output.exit == 0, "\(output)")
        #expect(try place.mode(of: "new/deep/Keys/ios.keyset") == 0o600)
        #expect(try place.mode(of: "new/deep/Keys") == 0o700)
        #expect(try place.names(in: "new/deep/Keys") == ["ios.keyset"])
    }

    @Test("what has the name stays as it is", arguments: ["keyset", "file", "dangling link"])
    func taken(_ what: String) throws {
        try place.makeFolder("Keys")
        switch what {
        case "keyset": try place.create("Keys/ios", "recipient")
        case "file": try place.write(Data("mine".utf8), to: "Keys/ios.keyset")
        default:
            try FileManager.default.createSymbolicLink(
                atPath: place.folder.file("Keys/ios.keyset").path, withDestinationPath: "nowhere")
        }
        let before = try? place.read("Keys/ios.keyset")
        let output = try place.run(["keys", "create", "Keys/ios", "--kind", "shared"] + Self.plain)
        #expect(output.exit != 0 && output.stdout.isEmpty, "\(output)")
        #expect(what != "keyset" || output.exit == 73)
        #expect((try? place.read("Keys/ios.keyset")) == before)
        #expect(try place.names(in: "Keys") == ["ios.keyset"])
    }

    @Test("exactly one of ten processes makes the keyset, and no other file is left")
    func race() throws {
        let output = try place.shell(
            """
            for i in 1 2 3 4 5 6 7 8 9 10; do
              ( "$PUSHCRYPT" keys create a/b/ios --kind shared --insecure-plaintext >out.$i 2>err.$i; echo $? >status.$i ) &
            done
            wait
            """)
        #expect(output.isSuccess, "\(output)")
        let statuses = try (1...10).map { String(decoding: try place.read("status.\($0)"), as: UTF8.self) }
        #expect(statuses.count { $0 == "0\n" } == 1 && statuses.count { $0 == "73\n" } == 9, "\(statuses)")
        let winner = try #require(statuses.firstIndex(of: "0\n")) + 1
        let kid = String(decoding: try place.read("out.\(winner)"), as: UTF8.self)
        #expect(try place.log("a/b/ios").state.keys.map { "\($0.kid)\n" } == [kid])
        #expect(try place.names(in: "a/b") == ["ios.keyset"])
    }

    @Test("a path below a file, a keystore in which others can write and a link to a keystore are refused")
    func keystores() throws {
        try place.write(Data("mine".utf8), to: "file")
        try place.makeFolder("open", mode: 0o777)
        try place.makeFolder("Keys")
        _ = try place.shell("ln -s Keys link")
        for (path, status) in [("file/ios", 66), ("open/ios", 77), ("link/ios", 78)] as [(String, Int32)] {
            let output = try place.run(["keys", "create", path, "--kind", "shared"] + Self.plain)
            #expect(output.exit == status && output.stdout.isEmpty, "\(output)")
        }
        #expect(try place.names() == ["Keys", "file", "link", "open"] && place.names(in: "Keys").isEmpty)
    }
}

/// With the settings of a host.
@Suite("keys create with settings", .ownThreads)
struct KeysCreateSettingsTests {
    private let host: KeystorePlace
    private var place: Workplace { host.place }

    init() throws {
        host = try .empty()
        let output = try host.initialise("--yes")
        try #require(output.exit == 0, "\(output)")
    }

    @Test("a keyset in a keystore of the settings gets their secret, and rotate finds and opens it")
    func secret() throws {
        let made = try host.succeed("keys", "create", host.file("a/Keys/fleet"), "--kind", "shared")
        #expect(made.stderr.isEmpty && made.line.count == 11, "\(made)")
        #expect(try place.log("a/Keys/fleet").state.secrets.map(\.description) == ["passphrase"])
        #expect(place.has("a/history/\(try host.id("a/Keys/fleet.keyset"))"))
        let rotated = try host.run("rotate", "fleet", "--now", day: 1)
        #expect(rotated.exit == 0 && rotated.stderr.contains("added key"), "\(rotated)")
        expectRefusal(
            try host.run("keys", "create", host.file("a/Keys/x"), "--kind", "shared", "--insecure-plaintext"), 64,
            saying: "would be unused")
    }

    @Test("a keyset outside of the keystores is made, and a note says so")
    func stray() throws {
        let made = try host.run("keys", "create", "other/stray", "--kind", "shared", "--insecure-plaintext")
        #expect(made.exit == 0 && made.stderr.contains("isn't a keystore of"), "\(made)")
        #expect(place.has("other/stray.keyset"))
    }
}
