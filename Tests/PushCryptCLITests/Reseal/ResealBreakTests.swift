import Foundation
import PushCryptTestSupport
import Testing

/// When a stream fails, the message names the next line, and no line is lost.
@Suite("an interrupted reseal", .ownThreads)
struct ResealBreakTests {
    /// A file of limited size gets whole lines and a part of one. Without that part, a second run from the named line
    /// completes it.
    @Test(
        "a full output ends reseal, and the next run completes the queue",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsFiles)"), arguments: [4, 8, 9, 20])
    func resumed(_ blocks: Int) throws {
        let (rotated, lines) = try Self.queue(80)
        let limited = "(trap '' XFSZ; ulimit -f \(blocks); exec \(RotatedPlace.script) keys.json) <lines >out"
        let broken = try rotated.place.shell(limited)
        let end = try Ending(broken.stderr)
        #expect(broken.exit == 74)
        #expect(end.reason.hasPrefix("can't write to stdout: "))
        let out = try rotated.place.read("out")
        let written = out.prefix(through: try #require(out.lastIndex(of: UInt8(ascii: "\n"))))
        #expect(written.count { $0 == UInt8(ascii: "\n") } == end.resealed)
        #expect(end.done == end.next - 1)
        #expect(try rotated.refusedLines().count == end.refused)
        #expect(try rotated.refusedLines().map(\.line) == Self.refused(lines).filter { $0 < end.next })
        let rest = try rotated.place.shell(
            "tail -n +\(end.next) lines | \(RotatedPlace.script.replacing("errors.jsonl", with: "more")) keys.json"
        )
        #expect(rest.exit == 65, "\(rest)")
        let whole = String(decoding: written + rest.stdout, as: UTF8.self).linesWithNewline
        #expect(whole.map(\.masked) == lines.filter { $0.hasSuffix("}") }.map(\.masked))
        let refused = try rotated.refusedLines().compactMap(\.input) + rotated.refusedLines("more").compactMap(\.input)
        #expect(refused == lines.filter { !$0.hasSuffix("}") })
    }

    @Test(
        "a full device as stdout exits 74 and names the next line",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "no /dev/full here"))
    func full() throws {
        try expectNothingDone(">/dev/full", "can't write to stdout: No space left on device")
    }

    @Test("a closed stdout exits 74 and names the next line")
    func closed() throws {
        try expectNothingDone(">&-", "can't write to stdout: ")
    }

    /// The reader closes the pipe after three lines. Lines that the pipe buffered count as written.
    @Test("a closed pipe exits 74 and names the next line")
    func pipe() throws {
        let (rotated, lines) = try Self.queue(2_000)
        let output = try rotated.place.shell(
            "{ \(RotatedPlace.script) keys.json <lines; echo $? >status; } | head -n 3")
        #expect(try rotated.place.read("status") == Data("74\n".utf8))
        let end = try Ending(output.stderr)
        #expect(end.reason == "can't write to stdout: Broken pipe")
        #expect((4...2_000).contains(end.next))
        #expect(try rotated.refusedLines().map(\.line) == Self.refused(lines).filter { $0 < end.next })
        #expect(
            output.text.linesWithNewline.map(\.masked) == lines.filter { $0.hasSuffix("}") }.prefix(3).map(\.masked))
    }

    /// The errors file contains the records that fit. The line of the next record isn't counted.
    @Test(
        "a full errors file ends reseal and contains whole lines only",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsFiles)"))
    func fullErrors() throws {
        let (rotated, lines) = try Self.queue(80)
        _ = try rotated.place.shell(
            "((trap '' XFSZ; ulimit -f 4; exec \(RotatedPlace.script) keys.json) <lines 2>words; echo $? >status) | cat >out"
        )
        #expect(try rotated.place.read("status") == Data("74\n".utf8))
        let words = String(decoding: try rotated.place.read("words"), as: UTF8.self)
        let end = try Ending(words)
        #expect(end.reason.hasPrefix("can't write errors.jsonl.part-"))
        let refused = try rotated.refusedLines()
        #expect(!refused.isEmpty)
        #expect(try rotated.place.read("errors.jsonl").last == UInt8(ascii: "\n"))
        #expect(refused.map(\.line) == Array(Self.refused(lines).prefix(refused.count)))
        #expect(end.next == Self.refused(lines)[refused.count])
        #expect(try !rotated.place.names().contains { $0.hasPrefix("errors.jsonl.part-") })
    }

    @Test("refused lines are kept when another file takes the errors file's name")
    func takenMeanwhile() throws {
        let (rotated, lines) = try Self.queue(10)
        let output = try rotated.place.shell(
            """
            mkfifo in; { \(RotatedPlace.script) keys.json <in; echo $? >status; } & exec 3>in
            cat lines >&3; until ls | grep -q part- || test -e status; do :; done; echo mine >errors.jsonl; exec 3>&-; wait
            """)
        #expect(try rotated.place.read("status") == Data("73\n".utf8), "\(output)")
        #expect(output.hasOneLineOnStderr)
        #expect(try rotated.place.read("errors.jsonl") == Data("mine\n".utf8))
        let part = try #require(try rotated.place.names().first { $0.hasPrefix("errors.jsonl.part-") })
        #expect(output.stderr.contains("the data is in \(part)"), "\(output)")
        #expect(try rotated.refusedLines(part).map(\.line) == Self.refused(lines))
    }

    @Test("an unreadable stdin exits 66 and names the cause")
    func stdin() throws {
        let (rotated, _) = try Self.queue(1)
        let output = try rotated.place.shell("\(RotatedPlace.script) keys.json <Keys")
        expectRefusal(output, 66, saying: "can't read stdin")
        #expect(try rotated.place.read("errors.jsonl").isEmpty)
    }

    private func expectNothingDone(_ redirection: String, _ reason: String) throws {
        let (rotated, _) = try Self.queue(3)
        let output = try rotated.place.shell("\(RotatedPlace.script) keys.json <lines \(redirection)")
        expectRefusal(output, 74, saying: reason)
        #expect(output.stderr.contains("continue with line 1; 0 lines: 0 resealed, 0 unchanged, 0 in errors.jsonl"))
        #expect(try rotated.place.read("errors.jsonl").isEmpty)
    }

    /// Every fourth line lacks its last character.
    private static func queue(_ count: Int) throws -> (RotatedPlace, [String]) {
        let rotated = try RotatedPlace()
        let payload = try rotated.payload("x")
        let lines = (1...count).map { number in
            let line = #"{"n":\#(number),"payload":\#(payload)}"#
            return number % 4 == 0 ? String(line.dropLast()) + "?" : line
        }
        try rotated.place.write(Data(lines.map { $0 + "\n" }.joined().utf8), to: "lines")
        return (rotated, lines)
    }

    private static func refused(_ lines: [String]) -> [Int] {
        lines.indices.filter { !lines[$0].hasSuffix("}") }.map { $0 + 1 }
    }
}

/// The message of an interrupted run.
private struct Ending {
    let reason: String
    let next: Int
    let done: Int
    let resealed: Int
    let refused: Int

    init(_ words: String) throws {
        let counts = /(\d+) lines?: (\d+) resealed, 0 unchanged, (\d+) in errors.jsonl\n/
        let parts = try #require(words.wholeMatch(of: /pushcrypt: (.+); continue with line (\d+); (.+\n)/), "\(words)")
        let match = try #require(parts.3.wholeMatch(of: counts), "\(words)")
        reason = String(parts.1)
        (next, done) = (try #require(Int(parts.2)), try #require(Int(match.1)))
        (resealed, refused) = (try #require(Int(match.2)), try #require(Int(match.3)))
    }
}
