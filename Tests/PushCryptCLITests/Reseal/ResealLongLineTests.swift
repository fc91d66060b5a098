import Foundation
import Testing

/// A line has at most 1 MiB. A longer line is written to the errors file completely.
@Suite("long lines of reseal", .ownThreads)
struct ResealLongLineTests {
    private static let limit = 1 << 20

    @Test("a line of the longest length is resealed and a longer one is refused", arguments: [0, 1], ["\n", ""])
    func limit(_ excess: Int, _ end: String) throws {
        let rotated = try RotatedPlace()
        let short = #"{"payload":\#(try rotated.payload("x"))}"#
        let long = Self.line(short, byteCount: Self.limit + excess)
        let output = try rotated.reseal(Data("\(short)\n\(long)\(end)".utf8))
        #expect(output.exit == (excess == 0 ? 0 : 65), "\(output.stderr)")
        let lines = output.text.linesWithNewline
        #expect(lines.first?.masked == short.masked)
        let refused = try rotated.refusedLines()
        if excess == 0 {
            #expect(lines.count == 2 && lines[1].masked == long.masked)
            #expect(refused.isEmpty)
        } else {
            #expect(lines.count == 1)
            #expect(refused.map(\.reason) == ["lineTooLong"])
            #expect(refused.map(\.line) == [2])
            #expect(refused.first?.inputBase64 == Data(long.utf8))
        }
    }

    /// Lengths that are no multiple of a base64 group or of a read.
    @Test(
        "a long line is in the errors file byte for byte, and the next line is resealed",
        arguments: [2_000_000, 2_000_001, 2_000_003, 3_211_264])
    func pieces(_ byteCount: Int) throws {
        let rotated = try RotatedPlace()
        let short = #"{"payload":\#(try rotated.payload("x"))}"#
        let long = Data((0..<byteCount).map { index in UInt8(truncatingIfNeeded: index % 251 + 11) })
        let output = try rotated.reseal(long + Data("\n\(short)\n".utf8) + long + Data("\n\(short)".utf8))
        #expect(output.stderr == "pushcrypt: 4 lines: 2 resealed, 0 unchanged, 2 in errors.jsonl\n")
        #expect(output.text.masked == "\(short)\n\(short)\n".masked)
        let refused = try rotated.refusedLines()
        #expect(refused.map(\.line) == [1, 3])
        #expect(refused.allSatisfy { $0.inputBase64 == long && $0.reason == "lineTooLong" })
    }

    /// A line may arrive in pieces of any length.
    @Test("lines that arrive in short pieces are resealed", arguments: ["1", "7", "1000"])
    func slowly(_ size: String) throws {
        let rotated = try RotatedPlace()
        let line = #"{"payload":\#(try rotated.payload("x"))}"#
        try rotated.place.write(Data("\(line)\n\n\(line)".utf8), to: "lines")
        let output = try rotated.place.shell(
            "dd if=lines bs=\(size) 2>dd | \(RotatedPlace.script) keys.json")
        #expect(output.text.masked == "\(line)\n\(line)\n".masked)
        #expect(try rotated.refusedLines().map(\.line) == [2])
    }

    private static func line(_ line: String, byteCount: Int) -> String {
        let member = #","x":"""#
        let filling = String(repeating: "x", count: byteCount - line.utf8.count - member.utf8.count)
        return line.dropLast() + member.dropLast() + filling + "\"}"
    }
}
