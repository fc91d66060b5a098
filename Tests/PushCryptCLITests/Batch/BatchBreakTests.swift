import Foundation
import PushCryptTestSupport
import Testing

/// An interrupted batch names the line to continue with, so that no line is lost or sealed twice.
@Suite("an interrupted batch", .ownThreads)
struct BatchBreakTests {
    private static let count = 400

    /// Every tenth line is broken.
    private static func lines() -> [String] {
        (0..<count).map { number in
            let line = BatchPlace.line(number, filling: String(repeating: "é", count: number % 97))
            return number % 10 == 9 ? String(line.dropLast()) : line
        }
    }

    private static func place() throws -> BatchPlace {
        let batch = try BatchPlace()
        try batch.place.write(BatchPlace.data(lines()), to: "lines")
        return batch
    }

    /// Expects that a second run from the named line completes the whole lines of the first run.
    private func expectComplete(_ batch: BatchPlace, _ end: BatchEnding) throws {
        let out = try batch.place.read("out")
        let written = out.lastIndex(of: UInt8(ascii: "\n")).map { out.prefix(through: $0) } ?? Data()
        #expect(written.count { $0 == UInt8(ascii: "\n") } == end.out)
        #expect(end.lines == end.out + end.refused && end.next == end.lines + 1)
        let rest = try batch.place.shell(
            "\(BatchPlace.sealScript) --errors more --resume-from \(end.next) <lines")
        #expect(rest.exit == (end.next > Self.count ? 0 : 65), "\(rest)")
        let good = (0..<Self.count).filter { $0 % 10 != 9 }
        #expect(BatchPlace.numbers(written + rest.stdout) == good)
        let refused = try batch.place.refusedLines() + batch.place.refusedLines("more")
        #expect(refused.map(\.line) == (0..<Self.count).filter { $0 % 10 == 9 }.map { $0 + 1 })
    }

    @Test(
        "a full output ends the batch, and --resume-from completes it",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsFiles)"), arguments: [1, 9, 200])
    func fullOutput(_ blocks: Int) throws {
        let batch = try Self.place()
        let output = try batch.place.shell(
            "(trap '' XFSZ; ulimit -f \(blocks); exec \(BatchPlace.sealScript) --errors errors.jsonl) <lines >out")
        #expect(output.exit == 74, "\(output)")
        let end = try BatchEnding(output.stderr)
        #expect(end.reason.hasPrefix("can't write to stdout: "))
        try expectComplete(batch, end)
    }

    @Test(
        "a full errors file ends the batch and contains whole lines only",
        .enabled(if: Sanitizer.isAbsent, "\(Sanitizer.limitsFiles)"))
    func fullErrors() throws {
        let batch = try Self.place()
        let output = try batch.place.shell(
            """
            ((trap '' XFSZ; ulimit -f 4; exec \(BatchPlace.sealScript) --errors errors.jsonl) <lines 2>&1 >&3; \
            echo $? >status) 3>&1 | cat >both; grep -v '^{' both; grep '^{' both >out; exit $(cat status)
            """)
        #expect(output.exit == 74, "\(output)")
        let end = try BatchEnding(output.text)
        #expect(end.reason.hasPrefix("can't write errors.jsonl.part-"), "\(end)")
        #expect(end.refused > 0)
        try expectComplete(batch, end)
    }

    /// The reader closes the pipe after three lines. Lines that the pipe buffered count as written.
    @Test("a batch whose reader closes stdout exits 74 and names the next line")
    func earlyClose() throws {
        let batch = try Self.place()
        let output = try batch.place.shell(
            "{ \(BatchPlace.sealScript) --errors errors.jsonl <lines; echo $? >status; } | head -n 3")
        #expect(try batch.place.read("status") == Data("74\n".utf8), "\(output)")
        let end = try BatchEnding(output.stderr)
        #expect(end.reason == "can't write to stdout: Broken pipe")
        #expect((4...Self.count).contains(end.next))
        #expect(BatchPlace.numbers(output.stdout) == [0, 1, 2])
        #expect(try batch.place.refusedLines().map(\.line) == (1..<end.next).filter { $0 % 10 == 0 })
    }

    @Test("SIGTERM ends a batch after the lines that were read")
    func terminated() throws {
        let batch = try Self.place()
        let output = try batch.place.shell(
            """
            mkfifo in; \(BatchPlace.sealScript) --errors errors.jsonl <in >out 2>words & child=$!; exec 3>in
            head -n 123 lines >&3; printf '{"n":123,' >&3; until test -s out; do :; done
            kill -TERM $child; wait $child; echo $? >status; exec 3>&-
            """)
        #expect(output.exit == 0, "\(output)")
        #expect(try batch.place.read("status") == Data("143\n".utf8))
        let end = try BatchEnding(String(decoding: batch.place.read("words"), as: UTF8.self))
        #expect(end.reason == "terminated")
        #expect((2...124).contains(end.next))
        try expectComplete(batch, end)
    }
}
