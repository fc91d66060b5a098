import PushCryptCore
import PushCryptKeyFiles

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file of lines that weren't sealed again, each as it came, so that it can be fed again.
///
/// ```
/// {"line": <number, from 1>, "reason": "<class>", "message": "<words>", "input": "<the line>"}
/// ```
/// A line that is too long, or not UTF-8, can't be a JSON string here: `inputBase64` stands in place of `input`.
struct RefusedLines {
    private let file: NewFile
    private(set) var count = 0

    var path: String { file.path }

    /// - Throws: `KeyStoreError` when there is such a file already: an earlier run's lines are in it.
    init(_ path: String) throws {
        file = try NewFile(path)
    }

    mutating func add(_ line: [UInt8], number: Int, _ refusal: QueuedPush.Refusal) throws {
        var record = Self.start(number, refusal)
        if Array(String(decoding: line, as: UTF8.self).utf8) == line {
            record += #""input":"#.utf8
            JSONWriter.appendString(utf8: line[...], to: &record)
            record += "}\n".utf8
        } else {
            record += #""inputBase64":""#.utf8 + Self.base64(line[...]) + Self.end
        }
        try file.append(record)
        finish()
    }

    /// Copies a long line piece by piece.
    ///
    /// - Parameter reader: has read `line` and stands inside it.
    mutating func addLong(
        _ line: [UInt8], number: Int, _ refusal: QueuedPush.Refusal, restFrom reader: LineReader
    ) throws {
        try file.append(Self.start(number, refusal) + #""inputBase64":""#.utf8)
        var pending = line[...]
        while let piece = try reader.rest() {
            let whole = pending.prefix(pending.count / 3 * 3)
            try file.append(Self.base64(whole))
            pending = pending[whole.endIndex...] + piece
        }
        try file.append(Self.base64(pending) + Self.end)
        finish()
    }

    /// Gives the file its name. Of a line that was begun and not finished nothing is kept.
    func publish() throws {
        try file.publish()
    }

    private mutating func finish() {
        file.markWhole()
        count += 1
    }

    private static let end = Array("\"}\n".utf8)

    private static func start(_ number: Int, _ refusal: QueuedPush.Refusal) -> [UInt8] {
        var record = Array(#"{"line":\#(number),"reason":"\#(refusal.reason)","message":"#.utf8)
        JSONWriter.appendString(refusal.message, to: &record)
        record.append(UInt8(ascii: ","))
        return record
    }

    private static func base64(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(Data(bytes).base64EncodedData())
    }
}
