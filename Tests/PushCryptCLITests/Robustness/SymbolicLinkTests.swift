import Foundation
import PushCryptTestSupport
import Testing

/// An attacker could change a link between a check and a use, so links are refused.
@Suite("a symbolic link in place of a keyset or its files", .ownThreads)
struct SymbolicLinkTests {
    static let commands = [
        ["keys", "list", "Keys/ios"], ["keys", "export", "Keys/ios"], ["keys", "policy", "Keys/ios"],
        ["keys", "log", "Keys/ios"], ["keys", "doctor", "Keys/ios"], ["keys", "add", "Keys/ios"],
        ["keys", "policy", "Keys/ios", "--keep", "3"], ["rotate", "Keys/ios"], ["keys", "verify", "Keys/ios"],
        ["seal", "--bare", "--to", "Keys/ios", "--topic", Workplace.topic],
        ["open", "--keys", "Keys/ios", "--topic", Workplace.topic],
    ]

    @Test("every command exits 65 for a link in place of the folder and changes nothing", arguments: commands)
    func folder(_ command: [String]) throws {
        let place = try makePlace()
        try place.move("Keys/ios", to: "real")
        _ = try place.shell("ln -s ../real Keys/ios")
        try expectRefused(command, place)
        #expect(try place.names(in: "real") == ["audit.jsonl", "keyset.json", "public.jwks.json"])
    }

    @Test("every command exits 65 for a link in place of the file and changes nothing", arguments: commands)
    func file(_ command: [String]) throws {
        let place = try makePlace()
        try place.move("Keys/ios/keyset.json", to: "real")
        _ = try place.shell("ln -s ../../real Keys/ios/keyset.json")
        try expectRefused(command, place)
    }

    @Test("changes exit 65 for a link in place of the log and don't touch its target")
    func log() throws {
        let place = try makePlace()
        try place.move("Keys/ios/audit.jsonl", to: "real")
        _ = try place.shell("ln -s ../../real Keys/ios/audit.jsonl")
        for command in [["keys", "add", "Keys/ios"], ["keys", "verify", "Keys/ios"], ["keys", "log", "Keys/ios"]] {
            try expectRefused(command, place)
        }
    }

    @Test("a change replaces a link in place of the public set and doesn't touch its target")
    func set() throws {
        let place = try makePlace()
        try place.move("Keys/ios/public.jwks.json", to: "real")
        _ = try place.shell("ln -s ../../real Keys/ios/public.jwks.json")
        let real = try place.read("real")
        try place.succeed("keys", "add", "Keys/ios")
        #expect(try place.read("real") == real)
        try place.succeed("keys", "verify", "Keys/ios")
    }

    @Test("keys create exits 73 if a dangling link has the new keyset's name")
    func create() throws {
        let place = try makePlace()
        _ = try place.shell("ln -s nowhere Keys/new")
        expectRefusal(
            try place.run("keys", "create", "Keys/new", "--kind", "shared", "--insecure-plaintext"), 73,
            saying: "exists already")
        #expect(!place.has("Keys/nowhere"))
    }

    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        return place
    }

    private func expectRefused(_ command: [String], _ place: Workplace) throws {
        let before = try place.contents(of: ".")
        let output = try place.run(command + ["--at", Workplace.now], stdin: Workplace.inner)
        #expect(output.exit == 65, "\(output)")
        #expect((output.stderr + output.text).contains("symbolic link"), "\(output)")
        #expect(try place.contents(of: ".") == before)
    }
}
