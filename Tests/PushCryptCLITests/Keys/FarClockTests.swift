import Foundation
import Testing

@Suite("changes under a clock that is far ahead", .ownThreads)
struct FarClockTests {
    private let place: Workplace
    private let primary: String
    private let waiting: String
    private static let far = "2036-01-01T00:00:00Z"

    init() throws {
        place = try Workplace()
        primary = try place.createAtNewYear("Keys/app", "sender")
        let time = "2026-01-02T00:00:00Z"
        // Its new key waits to be promoted, so that both keys are in the same state at every time.
        try place.succeed("keys", "policy", "Keys/app", "--require-coverage", "99%", at: time)
        try place.succeed("keys", "add", "Keys/app", at: time)
        waiting = try #require(try place.keys("Keys/app", at: time).last?.kid)
    }

    @Test(
        "every change exits 75 and changes nothing, and with --confirm-clock it is made",
        arguments: [
            ["keys", "policy", "--keep", "3"], ["keys", "policy", "--publish-topic", "com.example.app"],
            ["keys", "revoke", "KID", "--yes"], ["keys", "promote", "KID", "--force"],
            ["keys", "retire", "KID", "--yes"], ["keys", "destroy", "KID", "--force"],
            ["keys", "passwd", "--new-passphrase-file", "passphrase"], ["keys", "add", "--force"],
            ["rotate", "--emergency", "--revoke", "PRIMARY", "--yes"],
        ])
    func refused(_ command: [String]) throws {
        try place.write(Data("red horse".utf8), to: "passphrase")
        var command = command.map { $0 == "PRIMARY" ? primary : $0 == "KID" ? waiting : $0 }
        command.insert("Keys/app", at: command[0] == "rotate" ? 1 : 2)
        let before = try place.contents(of: "Keys")
        let output = try place.run(command + ["--at", Self.far])
        expectRefusal(output, 75, saying: "set it, or use --confirm-clock if it is right")
        #expect(try place.contents(of: "Keys") == before)
        let confirmed = try place.run(command + ["--at", Self.far, "--confirm-clock"])
        #expect(confirmed.exit == 0, "\(confirmed)")
        #expect(try place.contents(of: "Keys") != before)
    }

    @Test("a new audit log exits 75 and changes nothing, and with --confirm-clock it is begun")
    func log() throws {
        try place.edit("Keys/app/audit.jsonl") { $0.replacing("once", with: "last") }
        let before = try place.contents(of: "Keys")
        let command = ["keys", "log", "Keys/app", "--start-new", "--reason", "tried it", "--yes", "--at", Self.far]
        let output = try place.run(command)
        #expect(output.exit == 75 && output.stdout.isEmpty, "\(output)")
        #expect(output.stderr.contains("set it, or use --confirm-clock if it is right"))
        #expect(try place.contents(of: "Keys") == before)
        #expect(try place.run(command + ["--confirm-clock"]).exit == 0)
    }

    @Test("the question about losses isn't asked if the change would be refused")
    func beforeTheQuestion() throws {
        let output = try place.run("keys", "revoke", "Keys/app", waiting, "--at", Self.far)
        expectRefusal(output, 75, saying: "--confirm-clock")
    }

    @Test("400 days after the last change a change is made, and a second later it is refused")
    func limit() throws {
        let last = 1_767_312_000  // 2026-01-02T00:00:00Z
        let command = ["keys", "policy", "Keys/app", "--keep", "3", "--at"]
        expectRefusal(try place.run(command + ["\(last + 400 * 86_400 + 1)"]), 75, saying: "more than 400d after")
        let made = try place.run(command + ["\(last + 400 * 86_400)"])
        #expect(made.exit == 0, "\(made)")
    }

    @Test("a new keyset is made at any time, and a change that changes nothing is never refused")
    func allowed() throws {
        try place.createAtNewYear("Keys/other", "sender", "--insecure-plaintext")
        #expect(
            try place.run("keys", "create", "Keys/new", "--kind", "sender", "--insecure-plaintext", "--at", Self.far)
                .exit == 0)
        let same = try place.run("keys", "policy", "Keys/app", "--keep", "2", "--at", Self.far)
        #expect(same.exit == 0 && same.text == "nothing to change\n", "\(same)")
    }
}
