import PushCryptCore
import PushCryptFiles
import PushCryptKeysets

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The file of lines that didn't come out, each as it came, so that it can be fed again. It is for its owner alone: the
/// lines hold payloads, and may hold keys.
///
/// ```
/// {"line": <number, from 1>, "reason": "<class>", "message": "<words>", "input": "<the line>"}
/// ```
/// A line that is too long, or not UTF-8, can't be a JSON string here: `inputBase64` stands in place of `input`.
struct RefusedLines {
    private let file: NewFile
    private(set) var count = 0
    /// What base64 has no group of three for yet, inside a long line.
    private var pending: [UInt8]?

    var path: String { file.path }

    /// - Throws: `FileError` when there is such a file already: an earlier run's lines are in it.
    init(_ path: String) throws {
        file = try NewFile(path)
    }

    mutating func add(_ line: [UInt8], number: Int, _ refusal: LineRefusal) throws {
        try add(record: Self.record(of: line, number: number, refusal))
    }

    /// - Parameter record: what `record(of:number:_:)` has made.
    mutating func add(record: [UInt8]) throws {
        try file.append(record)
        finish()
    }

    static func record(of line: [UInt8], number: Int, _ refusal: LineRefusal) -> [UInt8] {
        var record = start(number, refusal)
        if line.count <= LineReader.queueLimitInBytes, Array(String(decoding: line, as: UTF8.self).utf8) == line {
            record += #""input":"#.utf8
            JSONWriter.appendString(utf8: line[...], to: &record)
            record += "}\n".utf8
        } else {
            record += #""inputBase64":""#.utf8 + base64(line[...]) + end
        }
        return record
    }

    /// Copies a long line piece by piece.
    ///
    /// - Parameter reader: has read `line` and stands inside it.
    mutating func addLong(
        _ line: [UInt8], number: Int, _ refusal: LineRefusal, restFrom reader: LineReader
    ) throws {
        try addLong(piece: line, number: number, refusal, isLast: false)
        while let piece = try reader.rest() { try addLong(piece: Array(piece), number: number, refusal, isLast: false) }
        try addLong(piece: [], number: number, refusal, isLast: true)
    }

    /// The next piece of a long line; nothing else is added between.
    mutating func addLong(piece: [UInt8], number: Int, _ refusal: LineRefusal, isLast: Bool) throws {
        if pending == nil { try file.append(Self.start(number, refusal) + #""inputBase64":""#.utf8) }
        let bytes = (pending ?? []) + piece
        guard !isLast else {
            pending = nil
            try file.append(Self.base64(bytes[...]) + Self.end)
            return finish()
        }
        let whole = bytes.prefix(bytes.count / 3 * 3)
        try file.append(Self.base64(whole))
        pending = Array(bytes[whole.endIndex...])
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

    private static func start(_ number: Int, _ refusal: LineRefusal) -> [UInt8] {
        var record = Array(#"{"line":\#(number),"reason":"\#(refusal.reason)","message":"#.utf8)
        JSONWriter.appendString(refusal.message, to: &record)
        record.append(UInt8(ascii: ","))
        return record
    }

    private static func base64(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(Data(bytes).base64EncodedData())
    }
}
