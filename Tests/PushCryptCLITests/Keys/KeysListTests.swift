import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@Suite("keys list", .ownThreads)
struct KeysListTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    private func rows(_ path: String, at time: String = Workplace.now) throws -> [[String: Any]] {
        let output = try place.run("keys", "list", path, "--json", "--at", time)
        return try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]], "\(output)")
    }

    /// A folder with a keyset of all states, an encrypted one, and one with keys in clear.
    private func makeKeystore() throws -> [String] {
        let kids = try place.writeKeyset("Keys/app", SampleLifecycles.all)
        try place.setMode(0o700, of: "Keys")
        return try kids + [place.create("Keys/ios", "recipient"), place.createEncrypted("Keys/web", .sender)]
    }

    @Test("a keyset is shown with its keys, the next step and a timeline")
    func table() throws {
        let kid = try place.create("Keys/ios", "recipient", "--psk")
        let output = try place.run("keys", "list", "Keys/ios", "--at", Workplace.now)
        #expect(output.isSuccess, "\(output)")
        let lines = output.text.split(separator: "\n")
        #expect(lines[0] == "KID          STATE    SUITE  PSK  AGE  SEALS  OPENS  NEXT CHANGE", "\(output)")
        #expect(lines[1] == "\(kid)  primary  p256   yes  0s   yes    yes    -", "\(output)")
        #expect(lines[2] == "Next: 2026-05-23T09:00:00Z add a key (in 83d)", "\(output)")
        #expect(try place.run("keys", "list", "Keys/ios.keyset", "--at", Workplace.now).text == output.text)
    }

    @Test(
        "--json has kind, suite and times of each key",
        arguments: [("recipient --suite x25519", "x25519"), ("sender", "ed25519")])
    func json(_ kind: String, _ suite: String) throws {
        let words = kind.split(separator: " ").map(String.init)
        let kid = try place.create("Keys/ios", words[0], Array(words.dropFirst()), at: Workplace.now)
        let row = try #require(try rows("Keys/ios").first)
        let texts = row.compactMapValues { $0 as? String }
        #expect(
            texts == [
                "kid": kid, "kind": words[0], "suite": suite, "state": "primary", "createdAt": Workplace.now,
                "activatesAt": Workplace.now,
            ])
        #expect(row["sealsNow"] as? Bool == true && row["opensNow"] as? Bool == true && row["psk"] as? Bool == false)
        let absent = row.filter { $0.value is NSNull }.keys.sorted()
        #expect(absent == ["destroyedAt", "expiresAt", "nextChange", "retiresAt", "revokedAt"])
    }

    @Test("each state has its next change, and destroyed keys come last")
    func states() throws {
        let kids = try place.writeKeyset("Keys/app", SampleLifecycles.all)
        let rows = try rows("Keys/app")
        #expect(rows.map { $0["kid"] as? String } == Array(kids.dropFirst() + kids.prefix(1)))
        #expect(
            rows.map { $0["state"] as? String } == [
                "expired", "retiring", "revoked", "primary", "pending", "destroyed",
            ])
        #expect(rows.map { $0["sealsNow"] as? Bool } == [false, false, false, true, false, false])
        #expect(rows.map { $0["opensNow"] as? Bool } == [false, true, false, true, true, false])
        let changes = rows.map { $0["nextChange"] as? [String: String] }
        #expect(changes.map { $0?["state"] } == [nil, "expired", nil, "retiring", "primary", nil])
        #expect(changes.compactMap { $0?["at"] } == Array(repeating: "2026-03-10T09:00:00Z", count: 3))
    }

    @Test("a keystore is shown with a line for each keyset, without a secret", arguments: ["Keys", "Keys//"])
    func keystore(_ path: String) throws {
        let kids = try makeKeystore()
        let output = try place.shell("COLUMNS=120 \"$PUSHCRYPT\" keys list \(path) --at \(Workplace.now)")
        #expect(output.isSuccess, "\(output)")
        let ids = try ["app", "ios", "web"].map { try "\(place.log("Keys/\($0)").state.id)" }
        #expect(
            Workplace.named(output.text, kids).split(separator: "\n").map { line in
                line.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            } == [
                ["KEYSET", "KIND", "ID", "KEYS", "PRIMARY", "PROTECTION", "NEXT STEP"],
                ["Keys/app", "shared", ids[0], "5", "key number4", "plain text", "due: destroy key key number1"],
                ["Keys/ios", "recipient", ids[1], "1", "key number6", "plain text", "add a key in 83d"],
                ["Keys/web", "sender", ids[2], "1", "key number7", "1 secret", "add a key in 83d"],
            ])
        let narrow = try place.shell("COLUMNS=60 \"$PUSHCRYPT\" keys list \(path) --at \(Workplace.now)").text
        #expect(narrow.hasPrefix("KEYSET") && narrow.split(separator: "\n").allSatisfy { $0.count <= 60 }, "\(narrow)")
    }

    @Test("--json of a keystore has id, last line, writer, secrets and plan of each keyset")
    func keystoreJSON() throws {
        let kids = try makeKeystore()
        let rows = try rows("Keys")
        #expect(rows.map { $0["keyset"] as? String } == ["Keys/app", "Keys/ios", "Keys/web"])
        #expect(rows.map { $0["primary"] as? String } == [kids[4], kids[6], kids[7]])
        #expect(rows.map { $0["secrets"] as? [String] } == [[], [], ["passphrase"]])
        #expect(rows.map { $0["line"] as? Int } == [1, 1, 1] && rows[1]["writer"] as? String == CLI.writer)
        let due = rows.map { ($0["due"] as? [[String: Any]])?.map { $0["kid"] as? String } }
        #expect(due == [[kids[1]], [], []])
        #expect(rows.map { ($0["next"] as? [String: Any])?["step"] as? String } == ["destroy", "add", "add"])
    }

    @Test("a keyset that can't be read, and two files of one keyset, are reported beside the others")
    func problems() throws {
        _ = try makeKeystore()
        try place.write(Data("{".utf8), to: "Keys/aaa.keyset")
        try place.setMode(0o644, of: "Keys/web.keyset")
        _ = try place.shell("cp -p Keys/ios.keyset Keys/copy.keyset")
        let output = try place.run("keys", "list", "Keys", "--at", Workplace.now)
        #expect(output.exit == 65, "\(output)")
        let ends = output.text.split(separator: "\n").map { String($0.suffix(17)) }
        #expect(ends.count { $0.hasSuffix("can't be read") } == 2 && ends.count { $0 == "two files, one id" } == 2)
        for words in ["`pushcrypt restore Keys/aaa.keyset FILE`", "chmod 600 Keys/web.keyset", "are one keyset"] {
            #expect(output.stderr.contains(words), "\(output)")
        }
        #expect(try rows("Keys").map { $0["problem"] is String } == [true, false, true, true, true])
    }

    @Test("demo keysets are shown without steps, and an older copy than this host has seen isn't shown")
    func noSteps() throws {
        try place.copyDemoKeys()
        let demo = try rows("Keys/demo")
        #expect(demo.count == 3 && demo.allSatisfy { $0["next"] is NSNull })
        let output = try place.run("keys", "list", "Keys/demo/sender")
        #expect(output.isSuccess && output.text.contains("primary") && !output.text.contains("add a key"), "\(output)")
        let host = try KeystorePlace()
        try host.succeed("rotate")
        try host.copyFile("a/Keys/senders.keyset", to: "old")
        try host.succeed("rotate", "--now", "senders")
        try host.copyFile("old", to: "a/Keys/senders.keyset")
        expectRefusal(try host.run("keys", "list", "senders"), 78, saying: "is an old copy")
    }

    @Test("a signed set is shown with its pins only, without arguments the keystores of the settings")
    func settings() throws {
        let host = try KeystorePlace()
        try host.succeed("rotate")
        let set = try host.file("www/\(host.id()).1.json")
        expectRefusal(try host.run("keys", "list", set), 65, saying: "--pins")
        let shown = try host.succeed("keys", "list", set, "--pins", host.file("a/sender-pins.json"))
        #expect(try shown.text.contains(host.kids()[0]) && shown.text.contains("epoch 1"), "\(shown)")
        let all = try host.succeed("keys", "list").text
        #expect(["fleet", "senders", "app"].allSatisfy { all.contains($0) }, "\(all)")
    }
}
