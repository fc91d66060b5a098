#if os(Linux)
import Foundation
import PushCryptTestSupport
import Testing

/// What a terminal shows during the work on a recipient directory.
@Suite(
    "recipients commands on a terminal", .ownThreads,
    .enabled(if: TerminalSession.isAvailable, "no pseudo-terminals here"))
struct RecipientsTerminalTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.writeDevices(3_000)
    }

    /// The first step, 1,024 of 3,000 records, is always drawn and then cleared.
    @Test("the progress line is cleared before the result is printed")
    func shown() throws {
        let words = "3000 recipients\n  suite 4  3000  "
        let copy = try place.screen("\"$PUSHCRYPT\" recipients import devices.jsonl --into d.sqlite")
        #expect(copy.contains("\rcopying: 34 %\u{1b}[K"), "\(copy)")
        #expect(copy.contains("\r\u{1b}[K3000 added, 0 unchanged\n"), "\(copy)")
        let database = try place.screen("\"$PUSHCRYPT\" recipients check d.sqlite")
        #expect(database.contains("\rchecking: 1,024 records\u{1b}[K"), "\(database)")
        #expect(database.contains("\r\u{1b}[K\(words)"), "\(database)")
    }

    /// The last line is not a key.
    @Test("the progress line is cleared before an error message")
    func refused() throws {
        let lines = try place.read("devices.jsonl") + Data("{\"kid\":\"zzzzzzzzzzw\",\"kty\":\"oct\"}\n".utf8)
        try place.write(lines, to: "devices.jsonl")
        let screen = try place.screen("\"$PUSHCRYPT\" recipients import devices.jsonl --into d.sqlite; test $? = 65")
        #expect(screen.contains("\rcopying: 34 %\u{1b}[K"), "\(screen)")
        #expect(screen.contains("\r\u{1b}[Kpushcrypt: devices.jsonl: line 3001: "), "\(screen)")
    }

    @Test(
        "no progress is drawn if stderr is a file or the terminal is dumb",
        arguments: [("", "2>words; cat words"), ("TERM=dumb", "")])
    func nothing(_ variable: String, _ redirection: String) throws {
        let screen = try place.screen(
            "\(variable) \"$PUSHCRYPT\" recipients import devices.jsonl --into d.sqlite \(redirection)")
        #expect(screen.contains("3000 added, 0 unchanged\n") && !screen.contains("\u{1b}"), "\(screen)")
    }
}
#endif
