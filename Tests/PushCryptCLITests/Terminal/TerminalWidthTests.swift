import Foundation
import PushCryptTestSupport
import Testing

#if os(Linux)
/// On a terminal the tool breaks lines between words: a terminal would break them within words.
@Suite("text on a terminal", .ownThreads, .enabled(if: TerminalSession.isAvailable))
struct TerminalWidthTests {
    private static let snapshot = Result { try PlaceSnapshot(prepared()) }

    private static func prepared() throws -> Workplace {
        let place = try Workplace()
        for (path, kind) in [("Keys/fleet", "shared"), ("Keys/backend", "sender"), ("Keys/phone", "recipient")] {
            try place.createAtNewYear(path, kind)
        }
        try place.rotate("Keys/backend", at: Workplace.newYear)
        let sealed = try place.run(
            "seal", "--to", "Keys/phone", "--topic", Workplace.topic, "--at", Workplace.newYear, stdin: Workplace.inner)
        try place.write(sealed.stdout, to: "sealed.json")
        return place
    }

    private static let commands = [
        "rotate Keys/fleet --dry-run --at 2026-03-26T00:00:00Z", "rotate Keys/fleet --at 2026-03-26T00:00:00Z",
        "keys list Keys", "keys list Keys/fleet --at 2026-03-26T00:00:00Z", "keys log Keys/backend",
        "keys policy Keys/fleet", "keys rehearse Keys/fleet --devices 1000 --refresh-p50 6h --refresh-p99 20d",
        "demo", "inspect sealed.json",
        "revoke --yes --at 2026-03-26T00:00:00Z -- Keys/fleet $(\"$PUSHCRYPT\" keys list Keys/fleet --json | grep '\"kid\"' | "
            + "cut -d '\"' -f 4)",
    ]

    /// What the terminal shows, without escape sequences.
    private func shown(_ command: String, columns: Int, settings: String = "") throws -> [String] {
        let place = try Self.snapshot.get().place()
        let text = try place.screen(
            "\(settings) \"$PUSHCRYPT\" \(command)", columns: columns, statuses: [0, 10, 65])
        return text.replacing(/\u{1b}\[[0-9;]*[mK]/, with: "").split(separator: "\n").map(String.init)
    }

    @Test("no line is wider than the terminal, with 80 columns and with 40", arguments: commands, [80, 40])
    func width(_ command: String, _ columns: Int) throws {
        let lines = try shown(command, columns: columns)
        #expect(!lines.isEmpty)
        for line in lines where !line.contains("`pushcrypt") { #expect(line.count <= columns, "\(line)") }
    }

    @Test("messages on stderr are broken between words, and the commands in them are not")
    func messages() throws {
        let place = try Self.snapshot.get().place()
        let kid = try #require(try place.keys("Keys/fleet", at: Workplace.newYear).first?.kid)
        let lines = try shown("revoke --yes --at 2026-01-02T00:00:00Z -- Keys/fleet \(kid)", columns: 60)
        for line in lines where !line.contains("`pushcrypt") { #expect(line.count <= 60, "\(line)") }
        #expect(lines.contains { $0.contains("`pushcrypt rotate --now --at-once Keys/fleet`") }, "\(lines)")
        #expect(lines.contains("  - every push made with key \(kid) that is still on"), "\(lines)")
    }

    @Test("the question of revoke is broken between words")
    func question() throws {
        let place = try Self.snapshot.get().place()
        let kid = try #require(try place.keys("Keys/fleet", at: Workplace.newYear).first?.kid)
        let session = try TerminalSession(
            "stty cols 40; \"$PUSHCRYPT\" revoke --at 2026-01-02T00:00:00Z -- Keys/fleet \(kid)", in: place)
        try session.wait(for: "Type yes to go on: ")
        let lines = session.screen.replacing("\r\n", with: "\n").split(separator: "\n")
        for line in lines where !line.contains("`pushcrypt") { #expect(line.count <= 40) }
        try session.type("no\n")
        #expect(try session.exitStatus() == 64)
    }

    @Test("in the locale C everything is ASCII", arguments: commands, ["LC_ALL=C", "LANG=POSIX"])
    func ascii(_ command: String, _ settings: String) throws {
        for line in try shown(command, columns: 80, settings: settings) {
            #expect(line.utf8.allSatisfy { $0 < 0x80 }, "\(line)")
        }
    }

    @Test(
        "in a locale with UTF-8 the drawings have their characters", arguments: ["LC_ALL=C.UTF-8", "LANG=de_DE.UTF-8"])
    func unicode(_ settings: String) throws {
        #expect(try shown("keys list Keys/fleet", columns: 80, settings: settings).contains { $0.contains("█") })
    }

    @Test("with TERM=dumb no command writes escape sequences", arguments: commands)
    func dumb(_ command: String) throws {
        let place = try Self.snapshot.get().place()
        let session = try TerminalSession("TERM=dumb \"$PUSHCRYPT\" \(command)", in: place)
        _ = try session.exitStatus()
        #expect(!session.screen.unicodeScalars.contains("\u{1b}"))
    }

    @Test("blob seal refuses a terminal as stdout")
    func blob() throws {
        let place = try Workplace()
        let screen = try place.screen("\"$PUSHCRYPT\" blob seal --type a/b --reference r </dev/null", statuses: [64])
        #expect(screen.contains("stdout is a terminal"), "\(screen)")
        #expect(try place.names().isEmpty)
    }

    @Test("seal and open that wait for a terminal say so on stderr, and -q says nothing")
    func waiting() throws {
        let place = try Self.snapshot.get().place()
        for command in ["seal --to Keys/phone", "open --keys Keys/phone"] {
            let session = try TerminalSession("\"$PUSHCRYPT\" \(command) --topic a.b >out", in: place)
            try session.wait(
                for: "pushcrypt: reading from the terminal; Ctrl-D at the beginning of a line ends the input")
            try session.type("\u{4}")
            #expect(try session.exitStatus() == 65)
        }
        let quiet = try TerminalSession("\"$PUSHCRYPT\" seal -q --to Keys/phone --topic a.b >out", in: place)
        try quiet.type("\u{4}")
        #expect(try quiet.exitStatus() == 65)
        #expect(!quiet.screen.contains("reading from"))
    }
}
#endif
