import Foundation
import PushCryptCore
import pushcrypt

/// The input as a line of a batch: read, edited, refused.
///
/// ```
/// input = edits (16 bits: 2 for each known member; the ninth member on has those of the first) || line
/// ```
func fuzzQueueLine(_ bytes: [UInt8]) throws {
    var input = FuzzInput(bytes)
    let edits = input.number()
    let text = Array(input.rest)
    let line: QueueLine
    do throws(LineRefusal) {
        line = try QueueLine(text)
    } catch {
        return try checkRefusal(error, of: text)
    }
    let tree = try require(SlowJSON(text), "the slow reader accepts what a batch accepts")
    try require(SlowJSON(line.payload.rawBytes) == tree["payload"], "the payload is the member")
    try require(line.device.map { Array("\($0)".utf8) } == tree["device"]?.bytes, "the device is the member")
    var kept = [UInt8]()
    line.append(to: &kept) { _ in .keep }
    try require(kept == text, "a line without edits keeps its bytes")

    var expected: [SlowJSON.Member] = []
    for member in tree.members {
        let field = QueueLine.Field.allCases.first { Array("\($0)".utf8) == member.name }
        switch field.map({ Edits.edit(edits, $0) }) ?? .keep {
        case .keep: expected.append(member)
        case .remove: break
        case .replace: expected.append(.init(name: member.name, value: .array([.number("1"), .null])))
        }
    }
    expected.append(.init(name: Array("added".utf8), value: .object([])))
    let isNew = tree["added"] == nil
    var output = Array("before".utf8)
    line.append(to: &output, adding: isNew ? Array(#""added":{}"#.utf8) : nil) { Edits.edit(edits, $0) }
    if !isNew { expected.removeLast() }
    try require(output.starts(with: "before".utf8), "a line is appended")
    try require(SlowJSON(output.dropFirst(6)) == .object(expected), "an edited line has the edited members")
}

/// A refused line is written so that it can be input again.
private func checkRefusal(_ refusal: LineRefusal, of text: [UInt8]) throws {
    try require(refusal.reason == "malformedLine", "a line that can't be read is malformed")
    let record = RefusedLines.record(of: text, number: 3, refusal)
    let tree = try require(SlowJSON(record), "the errors file is JSON")
    try require(record.count { $0 == 0x0a } == 1 && record.last == 0x0a, "a record is one line")
    if let input = tree["input"]?.bytes {
        try require(input == text, "the refused line is kept")
    } else {
        let base64 = String(decoding: tree["inputBase64"]?.bytes ?? [], as: UTF8.self)
        try require(Data(base64Encoded: base64).map { [UInt8]($0) } == text, "the refused line is kept as base64")
    }
}

private enum Edits {
    static func edit(_ edits: Int, _ field: QueueLine.Field) -> QueueLine.Edit {
        switch edits >> (2 * field.rawValue % 16) & 3 {
        case 1 where field != .payload: .remove
        case 2: .replace(Array("[1, null]".utf8))
        default: .keep
        }
    }
}
