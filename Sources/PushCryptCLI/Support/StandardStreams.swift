import PushCryptFiles
import PushCryptPrimitives

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Data on stdout, words on stderr. A stream that can't be written to is an error, never a signal or a trap.
enum StandardStreams {
    /// Call before anything else opens a file: a file opened while stdout is closed would take its number, and the
    /// data would go there.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) == -1 {
            // Read-only, so that writing what was meant for a closed stdout still fails.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    static func write(_ text: String) throws(Failure) {
        try write(Array(text.utf8))
    }

    /// The data and one newline, unless it ends in one.
    static func writeLine(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.last != UInt8(ascii: "\n") else { return try write(bytes) }
        // It may hold secrets, and its caller wipes only his own copy.
        var line = bytes + [UInt8(ascii: "\n")]
        defer { wipe(&line) }
        try write(line)
    }

    /// `--json`: members in alphabetical order, indented.
    static func writeJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try writeLine(Array(encoder.encode(value)))
    }

    /// JSON lines: one value, one line.
    static func writeJSONLine(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try writeLine(Array(encoder.encode(value)))
    }

    static func write(_ bytes: [UInt8]) throws(Failure) {
        var count = 0
        try write(bytes[...], counting: &count)
    }

    /// - Parameter count: is raised by the bytes that were written, also when not all of them could be.
    static func write(_ bytes: ArraySlice<UInt8>, counting count: inout Int) throws(Failure) {
        do throws(FileError) {
            try OpenFile(descriptor: STDOUT_FILENO, named: "stdout").write(bytes, counting: &count)
        } catch {
            throw Failure(.inputOutput, "can't write to stdout: \(error.systemMessage)")
        }
    }

    /// One line on stderr. If that fails there is nobody left to tell.
    static func complain(_ message: String) {
        draw("pushcrypt: \(TerminalText.harmless(message.utf8))\n")
    }

    /// Words on stderr that are no complaint.
    static func note(_ words: String) {
        draw("pushcrypt: \(TerminalText.harmless(lines: words))\n")
    }

    /// Whether a person sees what is said and types what is read.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Whether stdout is a terminal, to which binary data is noise and a secret is shown.
    static var isShown: Bool { isatty(STDOUT_FILENO) == 1 }

    /// All of stdin; of a longer input the first `limit` bytes and one more.
    static func readAll(limit: Int) throws(Failure) -> [UInt8] {
        let reader = try PieceReader()
        var bytes = [UInt8]()
        while bytes.count <= limit, let piece = try reader.next() { bytes += piece.prefix(limit + 1 - bytes.count) }
        return bytes
    }

    static var isColourful: Bool {
        unsafe isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil
    }

    /// The characters of a line: what COLUMNS says, else the terminal, else 100. Never less than 60, for which there is
    /// nothing to draw in, nor more than 200.
    static var columns: Int {
        let named = unsafe getenv("COLUMNS").flatMap { unsafe Int(String(cString: $0)) } ?? 0
        let known = named > 0 ? named : terminalColumns
        return known > 0 ? min(max(known, 60), 200) : 100
    }

    /// 0 where stdout is no terminal, or one that doesn't know.
    private static var terminalColumns: Int {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return 0 }
        return Int(size.ws_col)
    }

    /// Words that stay in their line on stderr and are written over; made by this tool, control characters and all.
    static func draw(_ words: String) {
        try? OpenFile(descriptor: STDERR_FILENO, named: "stderr").write(Array(words.utf8))
    }
}
