import Foundation
import PushCryptTestSupport
import Testing

@testable import pushcrypt

@Suite("progress line of a batch")
struct BatchProgressTests {
    @Test(
        "the text has counts and a rate, and for a known length a bar and the remaining time",
        arguments: [
            (1_234_567, 453, 1_000, 4, "████▌       45%  1,234,567 lines  308,641/s  4s left"),
            (0, 0, 1_000, 1, "             0%  0 lines  0/s  0s left"),
            (10, 1_000, 1_000, 2, "██████████ 100%  10 lines  5/s  0s left"),
            (10, 2_000, 1_000, 2, "██████████ 100%  10 lines  5/s  0s left"),
            (1, 1, 1_000_000, 1, "▏            0%  1 lines  1/s  11d left"),
            (500, 99, nil, 2, "500 lines  250/s"), (500, 99, 0, 2, "500 lines  250/s"),
        ] as [(Int, Int, Int?, Int, String)])
    func words(_ lines: Int, _ position: Int, _ byteCount: Int?, _ seconds: Int, _ expected: String) {
        let words = BatchProgress.text(lines, position: position, of: byteCount, after: .seconds(seconds))
        #expect(words == expected)
    }
}

#if os(Linux)
@Suite("batch on a terminal", .ownThreads, .enabled(if: TerminalSession.isAvailable, "no pseudo-terminals here"))
struct BatchTerminalTests {
    private func terminal(_ script: String, _ batch: BatchPlace) throws -> TerminalSession {
        try TerminalSession(script, in: batch.place)
    }

    /// The keyboard sends the signal to the whole pipeline. A second run processes the remaining lines.
    @Test("Ctrl-C clears the progress line and names the line to continue with")
    func interrupted() throws {
        let batch = try BatchPlace()
        let lines = (0..<200).map { BatchPlace.line($0) }
        try batch.place.write(BatchPlace.data(lines), to: "lines")
        // The shell survives the signal, to report the exit status, and keeps the pipe open.
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

    @Test("a file as stdin shows a bar, which the summary replaces")
    func bar() throws {
        let batch = try BatchPlace()
        try batch.place.write(BatchPlace.data((0..<10).map { BatchPlace.line($0) }), to: "lines")
        let terminal = try terminal("\(BatchPlace.sealScript) <lines >out", batch)
        #expect(try terminal.exitStatus() == 0)
        #expect(terminal.screen.contains("\r██████████ 100%  10 lines  "), "\(terminal.screen)")
        #expect(terminal.screen.contains(" left\u{1b}[K\r\u{1b}[Kpushcrypt: 10 lines: 10 sealed, 0 refused\r\n"))
    }

    @Test("no progress is drawn when stdout is the terminal or the terminal is dumb", arguments: ["", "TERM=dumb"])
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
