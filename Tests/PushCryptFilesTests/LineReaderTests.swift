import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

@Suite("LineReader")
struct LineReaderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func reader(
        _ bytes: [UInt8], limitInBytes: Int = 100, from first: Int = 1, oneByOne: Bool = false
    ) throws -> LineReader {
        try Data(bytes).write(to: folder.file("lines"))
        return try LineReader(
            OpenFile(folder.file("lines").path), limitInBytes: limitInBytes, from: first, oneByOne: oneByOne)
    }

    private func lines(_ reader: LineReader) throws -> [LineReader.Line] {
        var lines = [LineReader.Line]()
        while let line = try reader.next() { lines.append(line) }
        return lines
    }

    private func texts(_ text: String, oneByOne: Bool = false) throws -> [String] {
        try lines(reader(Array(text.utf8), oneByOne: oneByOne)).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test(
        "lines have no white space at their end, and blank lines after the last one don't count",
        arguments: [
            ("", []), ("a", ["a"]), ("a\nb\n", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]), ("a \t\r\n  b", ["a", "  b"]),
            ("a\n\n", ["a"]), ("a\n \r\n\t", ["a"]), ("a\n\nb\n\n\n", ["a", "", "b"]), ("\n\n", []), (" ", []),
            ("\u{FEFF}a\nb", ["a", "b"]), ("\u{FEFF}", []), ("\u{FEFF}\r\n", []), ("a\n\u{FEFF}b", ["a", "\u{FEFF}b"]),
            ("a\rb\n", ["a\rb"]),
        ])
    func rule(_ text: String, _ expected: [String]) throws {
        #expect(try texts(text) == expected)
        // A line that is answered at once can't wait for the lines after it.
        let newlineCount = text.utf8.count { $0 == UInt8(ascii: "\n") }
        #expect(try texts(text, oneByOne: true).count == max(expected.count, newlineCount))
    }

    @Test("a file in UTF-16 is refused by name", arguments: [true, false], [true, false])
    func utf16(_ isBig: Bool, _ hasMark: Bool) throws {
        let units = (hasMark ? [0xFEFF] : []) + Array("phone-1\n".utf16)
        let bytes = units.flatMap { isBig ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let error = #expect(throws: FileError.self) { try lines(reader(bytes)) }
        #expect(
            error?.code == .otherEncoding && error?.reason.contains("is UTF-16") == true, "\(error.debugDescription)")
    }

    @Test("offsets and raw bytes of lines are those in the file, also behind a byte order mark")
    func offsets() throws {
        let text = Array("\u{FEFF}a \r\n\r\nbc\t\n\n".utf8)
        let found = try lines(reader(text))
        #expect(found.map(\.number) == [1, 2, 3])
        #expect(found.map(\.offset) == [3, 7, 9])
        #expect(found.map { String(decoding: $0.raw, as: UTF8.self) } == ["a \r", "\r", "bc\t"])
        for line in found {
            #expect(Array(text[Int(line.offset)...].prefix(line.raw.count)) == line.raw)
        }
    }

    @Test("a line over the limit is reported as too long, and the lines after it are read")
    func tooLong() throws {
        let long = String(repeating: "x", count: 200_000)
        let found = try lines(reader(Array("a\n\(long)\n\nb\n\(long)".utf8)))
        #expect(found.map(\.number) == [1, 2, 3, 4, 5])
        #expect(found.map(\.isTooLong) == [false, true, false, false, true])
        #expect(found.map(\.raw.count) == [1, 0, 0, 1, 0])
    }

    @Test("lines before the first wanted one are skipped", arguments: 1...6)
    func skipping(_ first: Int) throws {
        let reader = try reader(Array("\u{FEFF}a\nb\n\nd".utf8), from: first)
        #expect(reader.isPastEnd == (first > 4))
        let expected = [(1, "a"), (2, "b"), (3, ""), (4, "d")].filter { $0.0 >= first }
        let found = try lines(reader)
        #expect(found.map(\.number) == expected.map(\.0))
        #expect(found.map { String(decoding: $0.bytes, as: UTF8.self) } == expected.map(\.1))
    }

    @Test("many blank lines take constant memory: above the limit they are empty lines")
    func blankLines() throws {
        let text = Array(("a\n" + String(repeating: "\n", count: 300_000)).utf8)
        let found = try lines(reader(text))
        #expect(found.map(\.number) == Array(1...found.count))
        #expect(found.first?.raw == [UInt8(ascii: "a")] && found.dropFirst().allSatisfy(\.raw.isEmpty))
    }

    @Test(
        "random lines are the same in blocks, one by one, and as a plain split has them",
        arguments: 0..<20 as Range<UInt64>)
    func random(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let pieces = ["\n", "\r\n", "a", "bb ", " \t", "x\r", "\n\n"]
        let text = (0..<Int.random(in: 0...40, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            .joined()
        var expected = text.utf8.split(separator: 10, omittingEmptySubsequences: false)
            .map { line in Array(line.reversed().drop { [9, 13, 32].contains($0) }.reversed()) }
        while expected.last == [] { expected.removeLast() }
        let bytes = Array(text.utf8)
        #expect(try lines(reader(bytes)).map { Array($0.bytes) } == expected)
        #expect(try lines(reader(bytes, oneByOne: true)).prefix(expected.count).map { Array($0.bytes) } == expected)
    }
}
