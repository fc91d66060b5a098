#if os(Linux)
import Foundation
import PushCryptTestSupport
import Testing

/// What somebody at a terminal sees of a batch.
@Suite("a batch on a terminal", .enabled(if: TerminalSession.isAvailable, "no pseudo-terminals here"))
struct BatchTerminalTests {
    private func terminal(_ script: String, _ batch: BatchPlace) throws -> TerminalSession {
        try TerminalSession(script, in: batch.place.folder.url, pushcrypt: CLI.binary.get().path)
    }

    /// A signal from the keyboard, which the whole pipeline gets. A second run does the rest.
    @Test("shows how far it is, and ends at Ctrl-C where it says")
    func interrupted() throws {
        let batch = try BatchPlace()
        let lines = (0..<200).map { BatchPlace.line($0) }
        try batch.place.write(BatchPlace.data(lines), to: "lines")
        // The shell goes on after the signal, to tell of the end, and the pipe stays open.
        let terminal = try terminal(
            """
            trap : INT; mkfifo in; exec 3<>in; head -n 150 lines >&3; \
            \(BatchPlace.sealScript) --errors errors.jsonl <in >out 2>/dev/tty
            """, batch)
        try terminal.wait(for: " lines  ")
        try terminal.type("\u{3}")
        #expect(try terminal.exitStatus() == 130)
        let screen = terminal.screen.replacing("\r\n", with: "\n")
        let words = try #require(screen.firstMatch(of: /pushcrypt: interrupted.*\n/), "\(screen)")
        let end = try BatchEnding(String(words.output))
        #expect(terminal.screen.contains("/s\u{1b}[K") && terminal.screen.contains("\r\u{1b}[Kpushcrypt: "))
        let rest = try batch.place.shell("\(BatchPlace.sealScript) --resume-from \(end.next) <lines")
        #expect(rest.exit == 0, "\(rest)")
        #expect(BatchPlace.numbers(try batch.place.read("out") + rest.stdout) == Array(0..<200))
    }

    /// Of a file it knows how much is left.
    @Test("draws a bar for a file, and leaves the summary alone")
    func bar() throws {
        let batch = try BatchPlace()
        try batch.place.write(BatchPlace.data((0..<10).map { BatchPlace.line($0) }), to: "lines")
        let terminal = try terminal("\(BatchPlace.sealScript) <lines >out", batch)
        #expect(try terminal.exitStatus() == 0)
        #expect(terminal.screen.contains("\r██████████ 100%  10 lines  "), "\(terminal.screen)")
        #expect(terminal.screen.contains(" left\u{1b}[K\r\u{1b}[Kpushcrypt: 10 lines: 10 sealed, 0 refused\r\n"))
    }

    @Test("draws nothing where data would stand between, or on a dumb terminal", arguments: ["", "TERM=dumb"])
    func nothing(_ variable: String) throws {
        let batch = try BatchPlace()
        try batch.place.write(BatchPlace.data([BatchPlace.line(0)]), to: "lines")
        let terminal = try terminal(
            "\(variable) \(BatchPlace.sealScript) <lines \(variable.isEmpty ? "" : ">out")", batch)
        #expect(try terminal.exitStatus() == 0)
        #expect(!terminal.screen.contains("\u{1b}"), "\(terminal.screen)")
    }
}
#endif
