import Foundation
import PushCryptTestSupport
import Testing

/// A copy of a whole keyset that was restored with its log. Only what another host recorded shows its age.
@Suite("--expect-seq and --expect-head", .ownThreads)
struct ExpectationTests {
    private static let made = Result {
        let place = try Workplace()
        try place.create("Keys/app", "sender")
        try place.create("Keys/fleet", "shared")
        try place.succeed("keys", "policy", "Keys/app", "--keep", "3")
        return try PlaceSnapshot(place)
    }

    private func verified(_ place: Workplace) throws -> (seq: Int, head: String) {
        let object = try place.run("keys", "log", "Keys/app", "--verify", "--json").object()
        return (try #require(object["seq"] as? Int), try #require(object["head"] as? String))
    }

    static let users = [
        "seal --to Keys/app-record --sign-with Keys/app --topic com.example.app",
        "open --keys Keys/fleet --topic com.example.app --trust Keys/app",
        "rotate Keys/app", "rotate Keys/app --dry-run", "keys add Keys/app", "keys policy Keys/app",
        "keys policy Keys/app --keep 4",
        "keys export Keys/app",
    ]

    @Test("a command accepts the keyset with the expected seq and head, and exits 75 for another one", arguments: users)
    func commands(_ command: String) throws {
        let place = try Self.made.get().place()
        try place.create("Keys/device", "recipient")
        try place.write(Data(place.publicJWK("Keys/device").utf8), to: "Keys/app-record")
        let (seq, head) = try verified(place)
        let arguments = command.split(separator: " ").map(String.init) + ["--at", Workplace.now]
        let other = String(repeating: "A", count: 43)
        for (option, value, words) in [
            ("--expect-seq", "\(seq + 1)", "seq \(seq + 1) or higher is expected"),
            ("--expect-head", other, "\(other) is expected"),
        ] {
            let before = try place.contents(of: "Keys/app")
            let output = try place.run(arguments + [option, value], stdin: Workplace.inner)
            expectRefusal(output, 75, saying: words)
            #expect(try place.contents(of: "Keys/app") == before)
        }
        guard !command.hasPrefix("open") else { return }
        let output = try place.run(
            arguments + ["--expect-seq", "\(seq)", "--expect-head", head], stdin: Workplace.inner)
        #expect(output.exit == 0, "\(output)")
    }

    @Test("a hash and a key's id that begin with a dash are values of their options")
    func dash() throws {
        let place = try Self.made.get().place()
        let (head, kid) = ("-" + String(repeating: "A", count: 42), "-" + String(repeating: "A", count: 10))
        expectRefusal(
            try place.run("keys", "export", "Keys/app", "--expect-head", head, "--at", Workplace.now), 75, saying: head)
        expectRefusal(try place.run("keys", "export", "Keys/app", "--kid", kid), 66, saying: "no key \(kid)")
        for options in [["rotate", "Keys/app", "--emergency", "--revoke"], ["rotate", "Keys/app", "--promote"]] {
            let output = try place.run(options + [kid])
            #expect(!output.stderr.contains("Missing value"), "\(output)")
        }
    }

    @Test("keys list of a keystore and keys log print the head as keys log --verify does")
    func printed() throws {
        let place = try Self.made.get().place()
        let (seq, head) = try verified(place)
        let list = try place.run("keys", "list", "Keys", "--json", "--at", Workplace.now)
        let keysets = try #require(try JSONSerialization.jsonObject(with: list.stdout) as? [[String: Any]])
        let app = try #require(keysets.first { $0["keyset"] as? String == "Keys/app" })
        #expect(app["seq"] as? Int == seq && app["head"] as? String == head)
        let log = try place.run("keys", "log", "Keys/app", "--json")
        let lines = try #require(try JSONSerialization.jsonObject(with: log.stdout) as? [[String: Any]])
        #expect(lines.last?["hash"] as? String == head)
    }

    @Test("a FILE of one private key is refused, and a registration record beside a keyset is accepted")
    func files() throws {
        let place = try Self.made.get().place()
        try place.create("Keys/device", "recipient")
        try place.export("Keys/device", to: "key.jwk", "--private", "--insecure-plaintext")
        let push = try place.sealed(to: "Keys/device")
        let output = try place.run(
            ["open", "--keys", "key.jwk", "--topic", Workplace.topic, "--at", Workplace.now, "--expect-seq", "1"],
            stdin: push)
        expectRefusal(output, 75, saying: "key.jwk has no audit log")
    }

    @Test("a head that isn't 43 characters of base64url and a seq that isn't a number are bad usage")
    func usage() throws {
        let place = try Self.made.get().place()
        for option in [["--expect-head", "abc"], ["--expect-seq", "x"]] {
            expectUsageError(try place.run(["keys", "add", "Keys/app"] + option))
        }
    }
}
