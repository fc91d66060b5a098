import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptRecipients
import PushCryptSender

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a line is refused: a class for scripts and a message for people. Neither contains any part of the line.
package struct LineRefusal: Error {
    package let reason: String
    let message: String

    private init(_ reason: String, _ message: String) {
        self.reason = reason
        self.message = message
    }

    init(_ error: SenderError) { self.init(error.code.description, error.reason) }

    init(_ failure: OpeningFailure) { self.init(failure.failure.rawValue, failure.text) }

    /// The refusal for an error of sealing; nil for an error that doesn't concern this line only.
    init?(_ error: any Error) {
        switch error {
        case let refusal as LineRefusal: self = refusal
        case let error as SenderError: self.init(error)
        case let error as KeyError: self.init(error.code.description, error.reason)
        case let error as RecipientDirectoryError where Self.codesOfRecords.contains(error.code):
            self.init(error.code.description, error.reason)
        default: return nil
        }
    }

    /// The refusal for an error that concerns a whole recipient directory; nil for another error.
    init?(unavailable error: any Error) {
        guard let error = error as? RecipientDirectoryError else { return nil }
        self.init(error.code.description, error.reason)
    }

    private static let codesOfRecords: [RecipientDirectoryError.Code] = [
        .collision, .privateKey, .invalidRecord, .unsupportedSuite,
    ]

    static func malformedLine(_ message: String) -> LineRefusal { LineRefusal("malformedLine", message) }

    static let lineTooLong = LineRefusal("lineTooLong", "the line is longer than \(QueueLine.limitInBytes) bytes")

    static let recipientMissing = LineRefusal(
        "recipientMissing", "the line has no member \"to\", and the command has no --to")

    static let deviceMissing = LineRefusal(
        "deviceMissing",
        "the line has no member \"device\", and its key is shared: everyone with that key could open the push; if that is "
            + "meant, add --bare")

    static let reservedError = LineRefusal(
        "malformedLine", "the line has a member \"error\", which marks the answers to refused lines: rename it")

    static func unknownKey(_ message: String) -> LineRefusal { LineRefusal("unknownKey", message) }

    static func demoKeys(_ kid: KeyID) -> LineRefusal {
        LineRefusal(
            "demoKeys",
            "key \(kid) is a published demo key, which protects nothing; to accept it, add --allow-demo-keys")
    }
}

extension LineRefusal {
    /// The answer of a stream to the refused line. Control and format characters are escaped.
    ///
    /// ```
    /// {"error": {"code": "<class>", "reason": "<text>"}, <repeated members>, "pushcrypt": {"line": <number, from 1>}}
    /// ```
    func answer(to line: [UInt8], number: Int) -> [UInt8] {
        var answer = Array(#"{"error":{"code":"\#(reason)","reason":"#.utf8)
        JSONWriter.appendString(message, to: &answer)
        answer.append(UInt8(ascii: "}"))
        QueueLine.appendRepeatedMembers(of: line, to: &answer)
        answer += ",\"pushcrypt\":{\"line\":\(number)}}\n".utf8
        return JSONWriter.escapingInvisible(answer)
    }
}

/// Writes refused lines to the errors file, or messages about the first ones to stderr.
///
/// The errors file contains the lines unchanged, so that they can be input again. Only its owner can read it, because the
/// lines contain payloads and may contain keys.
///
/// ```
/// {"line": <number, from 1>, "reason": "<class>", "message": "<text>", "input": "<the line>"}
/// ```
/// A line that is too long, or not UTF-8, is written as `inputBase64` instead of `input`.
package struct RefusedLines {
    private(set) var count = 0
    private let file: NewFile?
    /// The bytes of a long line that don't fill a base64 group of three yet.
    private var pending: [UInt8]?

    private static let maximumMessageCount = 10

    /// - Throws: `FileError` when the file exists: it contains the lines of an earlier run.
    init(_ path: String?) throws { file = try path.map { try NewFile($0) } }

    var summary: String { file.map { "\(count) in \($0.path)" } ?? "\(count) refused" }

    /// Counts a refused line whose answer was written to stdout.
    mutating func countAnswered() { count += 1 }

    mutating func add(_ line: RefusedLine) throws {
        try file?.append(line.record)
        finish(line.number, line.refusal)
    }

    /// Adds the next piece of a long line. Nothing else may be added before its last piece.
    mutating func addLong(piece: [UInt8], number: Int, _ refusal: LineRefusal, isLast: Bool) throws {
        if pending == nil { try file?.append(Self.start(number, refusal) + #""inputBase64":""#.utf8) }
        let bytes = (pending ?? []) + piece
        guard !isLast else {
            pending = nil
            try file?.append(Self.base64(bytes[...]) + Self.end)
            return finish(number, refusal)
        }
        let whole = bytes.prefix(bytes.count / 3 * 3)
        try file?.append(Self.base64(whole))
        pending = Array(bytes[whole.endIndex...])
    }

    private mutating func finish(_ number: Int, _ refusal: LineRefusal) {
        count += 1
        if let file { return file.markWhole() }
        guard count <= Self.maximumMessageCount else { return }
        let more =
            count == Self.maximumMessageCount
            ? "; further refused lines are only counted; to keep them, add --errors" : ""
        StandardStreams.writeError("line \(number): \(refusal.reason): \(refusal.message)\(more)")
    }

    /// Gives the file its final name. An unfinished line is dropped.
    func publish() throws { try file?.publish() }

    package static func record(of line: [UInt8], number: Int, _ refusal: LineRefusal) -> [UInt8] {
        var record = start(number, refusal)
        if line.count <= QueueLine.limitInBytes, Array(String(decoding: line, as: UTF8.self).utf8) == line {
            record += #""input":"#.utf8
            JSONWriter.appendString(utf8: line[...], to: &record)
            record = JSONWriter.escapingInvisible(record + Array("}\n".utf8))
        } else {
            record += #""inputBase64":""#.utf8 + base64(line[...]) + end
        }
        return record
    }

    private static let end = Array("\"}\n".utf8)

    private static func start(_ number: Int, _ refusal: LineRefusal) -> [UInt8] {
        var record = Array(#"{"line":\#(number),"reason":"\#(refusal.reason)","message":"#.utf8)
        JSONWriter.appendString(refusal.message, to: &record)
        record.append(UInt8(ascii: ","))
        return record
    }

    private static func base64(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Array(Data(bytes).base64EncodedData()) }
}
