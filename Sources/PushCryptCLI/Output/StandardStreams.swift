import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes data to stdout and messages to stderr. A stream that can't be written to is an error, never a signal or a trap.
enum StandardStreams {
    /// Call before the process opens a file.
    static func prepare() {
        ProcessSignals.ignoreBrokenPipes()
        ProcessEnvironment.openClosedStandardDescriptors()
    }

    /// Writes text for people.
    static func write(_ text: String) throws(Failure) { try write(Array(TerminalText.inLocale(text).utf8)) }

    /// Writes the data, and a newline if the data doesn't end with one.
    static func writeLine(_ bytes: [UInt8]) throws(Failure) {
        guard bytes.last != UInt8(ascii: "\n") else { return try write(bytes) }
        // The data may contain secrets, and the caller wipes only its own copy.
        var line = bytes + [UInt8(ascii: "\n")]
        defer { wipe(&line) }
        try write(line)
    }

    /// Writes a command's result as JSON, or as text if `asJSON` is false.
    static func write(_ value: some Encodable, asJSON: Bool, text: (TerminalText) throws -> String) throws {
        if asJSON { return try writeJSON(value) }
        try write(text(TerminalText(isColourful: isColourful)))
    }

    /// Writes JSON with the members in alphabetical order. Control and format characters are escaped.
    static func writeJSON(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting = .prettyPrinted) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
        let bytes = try JSONWriter.escapingInvisible(Array(encoder.encode(value)))
        // Foundation writes an empty array with an empty line in it.
        try writeLine(bytes == Array("[\n\n]".utf8) ? Array("[]".utf8) : bytes)
    }

    static func write(_ bytes: [UInt8]) throws(Failure) {
        var count = 0
        try write(bytes[...], counting: &count)
    }

    /// - Parameter count: is increased by the number of bytes written, even if an error is thrown.
    static func write(_ bytes: ArraySlice<UInt8>, counting count: inout Int) throws(Failure) {
        let file = OpenFile(descriptor: STDOUT_FILENO, named: "stdout")
        var rest = bytes
        while true {
            let start = count
            do throws(FileError) {
                return try file.write(rest, counting: &count)
            } catch {
                // Another process that shares a socket or pipe can make it nonblocking.
                guard error.systemError == EAGAIN else {
                    throw Failure(.inputOutput, "can't write to stdout: \(error.systemMessage)")
                }
                file.waitUntilWritable()
                rest = rest.dropFirst(count - start)
            }
        }
    }

    static func writeError(_ message: String) { writeMessage(TerminalText.harmless(message.utf8)) }

    /// Writes a note, unless -q is given.
    static func writeNote(_ message: String) {
        if !isQuiet { writeMessage(TerminalText.harmless(lines: message)) }
    }

    private static func writeMessage(_ text: String) {
        writeRaw(TerminalText.wrap(lines: "pushcrypt: " + text, width: messageColumns) + "\n")
    }

    /// Writes to stderr without escaping control characters and without reporting errors.
    static func writeRaw(_ text: String) {
        try? OpenFile(descriptor: STDERR_FILENO, named: "stderr").write(Array(TerminalText.inLocale(text).utf8))
    }

    private static let isQuiet = CommandLine.arguments.prefix { $0 != "--" }.contains {
        ["-q", "--no-notes"].contains($0)
    }

    /// Reads all of a file or stdin, but at most `limit + 1` bytes.
    ///
    /// - Parameter path: `-` is stdin.
    static func readAll(_ path: String = "-", limit: Int) throws(Failure) -> [UInt8] {
        let reader = try PieceReader(path)
        var bytes = [UInt8]()
        while bytes.count <= limit, let piece = try reader.next() { bytes += piece.prefix(limit + 1 - bytes.count) }
        return bytes
    }

    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    static var isColourful: Bool {
        isTerminal && ProcessEnvironment.variable("NO_COLOR") == nil && ProcessEnvironment.variable("TERM") != "dumb"
    }

    static var columns: Int { columns(atLeast: 40) }

    /// The width for text that a pipe gets in long lines: that of the terminal, or COLUMNS.
    static var wrappingColumns: Int {
        isTerminal || ProcessEnvironment.variable("COLUMNS") != nil ? columns : .max
    }

    /// The width of messages on stderr.
    static var messageColumns: Int {
        let width = TerminalDevice.columns(of: STDERR_FILENO)
        return width > 0 ? max(width, 40) : .max
    }

    /// - Parameter minimum: what the output needs.
    static func columns(atLeast minimum: Int) -> Int {
        columns(
            variable: ProcessEnvironment.variable("COLUMNS"), terminal: TerminalDevice.columns(of: STDOUT_FILENO),
            atLeast: minimum)
    }

    /// The value of COLUMNS, else the terminal's width, else 100; at least `minimum` and at most 200.
    static func columns(variable: String?, terminal: Int, atLeast minimum: Int = 40) -> Int {
        let named = variable.flatMap { Int($0) } ?? 0
        let width = named > 0 ? named : terminal
        return width > 0 ? min(max(width, minimum), 200) : 100
    }
}

/// A JSON object in a command's output. A member whose value is nil is written as null.
struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private var members: [String: Member]

    init(dictionaryLiteral members: (String, (any Encodable)?)...) { self.init(members) }

    init(_ members: [(String, (any Encodable)?)]) {
        self.members = Dictionary(uniqueKeysWithValues: members.map { ($0, Member(value: $1)) })
    }

    func adding(_ other: JSONObject) -> JSONObject {
        var object = self
        object.members.merge(other.members) { $1 }
        return object
    }

    /// The object with those of the other members whose value isn't nil.
    func adding(ifKnown other: JSONObject) -> JSONObject {
        var object = self
        object.members.merge(other.members.filter { $0.value.value != nil }) { $1 }
        return object
    }

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }

    private struct Member: Encodable {
        let value: (any Encodable)?

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            if let value { try container.encode(value) } else { try container.encodeNil() }
        }
    }
}

/// A line on stderr that shows progress and is overwritten by each update.
final class ProgressLine {
    private var drawnAt: ContinuousClock.Instant?

    /// - Returns: nil unless stderr is a terminal that can move the cursor.
    init?() {
        guard isatty(STDERR_FILENO) == 1, ProcessEnvironment.variable("TERM") != "dumb" else { return nil }
    }

    /// Draws at most ten times a second.
    func show(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        if let drawnAt, now - drawnAt < .milliseconds(100) { return }
        drawnAt = now
        // Esc [ K erases the rest of a longer previous text.
        StandardStreams.writeRaw("\r\(text())\u{1b}[K")
    }

    func clear() {
        if drawnAt != nil { StandardStreams.writeRaw("\r\u{1b}[K") }
    }
}
