import Foundation
import PushCryptTestSupport
import Testing

/// Refused lines are in the errors file, unchanged.
@Suite("errors file of reseal", .ownThreads)
struct ResealErrorsTests {
    @Test(
        "a refused line has its reason in the errors file",
        arguments: [
            ("{", "malformedLine", "JSON"),
            ("null", "malformedLine", "payload"), ("{}", "malformedLine", "payload"),
            (#"{"payload":"{}"}"#, "malformedLine", "payload"), (#"{"payload":null}"#, "malformedLine", "payload"),
            (#"{"payload":{},"payload":{}}"#, "malformedLine", "a name occurs twice"),
            (#"{"payload":{}}{}"#, "malformedLine", "more text after"),
            (#"{"payload":{},"device":null}"#, "malformedLine", "device"),
            (#"{"payload":{},"device":7}"#, "malformedLine", "device"),
            (#"{"payload":{},"device":"o n e"}"#, "malformedLine", "device id"),
            (#"{"payload":{}}"#, "notSealed", "pushcrypt"),
            (#"{"payload":{"pushcrypt":{"v":2}}}"#, "unsupportedVersion", "later version"),
            (#"{"payload":{"pushcrypt":{}}}"#, "malformed", "outer payload"),
            (
                #"{"payload":{"aps":{"alert":"é","mutable-content":1},"#
                    + #""pushcrypt":{"v":1,"kid":"AAAAAAAAAAA","sealed":"AAAA"}}}"#, "unknownKey", "AAAAAAAAAAA"
            ),
            ("\u{1b}[2J\u{0}\t\"\\", "malformedLine", "JSON"),
        ])
    func reasons(_ line: String, _ reason: String, _ words: String) throws {
        let rotated = try RotatedPlace()
        let output = try rotated.reseal([line])
        expectRefusal(output, 65, saying: "1 line: 0 resealed, 0 unchanged, 1 in errors.jsonl")
        let refused = try #require(try rotated.refusedLines().first)
        #expect(refused.line == 1)
        #expect(refused.reason == reason)
        #expect(refused.message.contains(words), "\(refused.message)")
        #expect(refused.input.map { Array($0.utf8) } == Array(line.utf8))
        #expect(refused.inputBase64 == nil)
        #expect(try rotated.refusedLines().count == 1)
        #expect(try rotated.place.mode(of: "errors.jsonl") == 0o600)
    }

    @Test(
        "a blank line before others, or a byte order mark that isn't at the beginning of the file, is refused",
        arguments: [("", "empty"), (" ", "JSON"), ("\u{feff}{}", "a byte order mark")])
    func between(_ line: String, _ words: String) throws {
        let rotated = try RotatedPlace()
        let output = try rotated.reseal(["null", line, "null"])
        expectRefusal(output, 65, saying: "3 lines: 0 resealed, 0 unchanged, 3 in errors.jsonl")
        let refused = try rotated.refusedLines()
        try #require(refused.map(\.line) == [1, 2, 3])
        #expect(refused[1].reason == "malformedLine" && refused[1].message.contains(words), "\(refused[1].message)")
        #expect(refused[1].input.map { Array($0.utf8) } == Array(line.utf8))
    }

    @Test("a line with a wrong device or without its signer is refused with its reason")
    func keys() throws {
        let rotated = try RotatedPlace()
        let (bare, forPhone) = (try rotated.payload("a"), try rotated.payload("b", device: "phone"))
        let signed = try rotated.payload("c", by: "old-sender")
        let lines = [
            #"{"payload":\#(forPhone)}"#, #"{"payload":\#(forPhone),"device":"tablet"}"#,
            #"{"payload":\#(bare),"device":"phone"}"#, #"{"payload":\#(signed)}"#, #"{"payload":\#(bare)}"#,
        ]
        let output = try rotated.reseal(lines)
        #expect(output.exit == 65, "\(output)")
        #expect(output.text.masked == lines[4].masked + "\n")
        let refused = try rotated.refusedLines()
        #expect(refused.map(\.line) == [1, 2, 3, 4])
        #expect(refused.map(\.reason) == ["undecryptable", "undecryptable", "undecryptable", "signerMissing"])
        #expect(refused[0].message.contains("no device was given"))
        #expect(refused.compactMap(\.input) == Array(lines.prefix(4)))
    }

    /// With the missing options, the next run reseals the lines of the errors file.
    @Test("refused lines can be extracted and resealed")
    func again() throws {
        let rotated = try RotatedPlace()
        let signed = try (0..<6).map { try rotated.payload("é \($0)", device: "phone", by: "old-sender") }
        let lines = signed.enumerated().map { index, payload in
            #"{"n":"\u00e9\#(index)","device":"phone","payload":\#(payload)}"#
        }
        let first = try rotated.reseal(lines)
        #expect(first.exit == 65, "\(first)")
        #expect(first.stdout.isEmpty)
        let inputs = try rotated.refusedLines().compactMap(\.input)
        #expect(inputs == lines)
        let taken = try rotated.reseal(inputs, "--sign-with", "senders.json")
        expectRefusal(taken, 73, saying: "errors.jsonl exists already")
        try FileManager.default.removeItem(at: rotated.place.folder.file("errors.jsonl"))
        let second = try rotated.reseal(inputs, "--sign-with", "senders.json")
        #expect(second.exit == 0, "\(second)")
        #expect(second.text.masked == lines.map { $0.masked + "\n" }.joined())
        for (index, line) in second.text.linesWithNewline.enumerated() {
            #expect(try rotated.opened(line, by: "new-sender") == "é \(index)")
        }
    }

    @Test(
        "a line that isn't UTF-8 is in the errors file in base64",
        arguments: [[0xff], [0x7b, 0xc3, 0x28, 0x7d], [0xed, 0xa0, 0x80], [0xc3]])
    func bytes(_ line: [UInt8]) throws {
        let rotated = try RotatedPlace()
        let payload = #"{"payload":\#(try rotated.payload("x"))}"#
        let output = try rotated.reseal(Data(line) + Data("\n\(payload)\n".utf8) + Data(line))
        #expect(output.exit == 65, "\(output)")
        #expect(output.text.masked == payload.masked + "\n")
        let refused = try rotated.refusedLines()
        #expect(refused.map(\.line) == [1, 3])
        #expect(refused.map(\.reason) == ["malformedLine", "malformedLine"])
        #expect(refused.compactMap(\.inputBase64) == [Data(line), Data(line)])
        #expect(refused.compactMap(\.input).isEmpty)
    }

    @Test(
        "an existing errors file ends reseal before anything is read", arguments: ["file", "folder", "dangling link"])
    func taken(_ what: String) throws {
        let rotated = try RotatedPlace()
        let url = rotated.place.folder.file("errors.jsonl")
        switch what {
        case "file": try rotated.place.write(Data("earlier lines".utf8), to: "errors.jsonl")
        case "folder": try rotated.place.makeFolder("errors.jsonl")
        default: try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "nowhere")
        }
        let before = try rotated.place.names()
        let line = #"{"payload":\#(try rotated.payload("x"))}"#
        expectRefusal(try rotated.reseal([line]), 73, saying: "errors.jsonl exists already")
        #expect(try rotated.place.names() == before)
        if what == "file" { #expect(try rotated.place.read("errors.jsonl") == Data("earlier lines".utf8)) }
    }

    @Test(
        "an errors file that can't be created ends reseal",
        arguments: ["none/errors", "keys.json/errors", "/dev/null/errors"])
    func impossible(_ path: String) throws {
        let rotated = try RotatedPlace()
        let before = try rotated.place.names()
        let output = try rotated.place.run(
            "reseal", "--keys", "keys.json", "--topic", Workplace.topic, "--errors", path)
        expectRefusal(output, 73, saying: "can't create \(path)")
        #expect(try rotated.place.names() == before)
    }

    @Test(
        "missing permission for the errors file exits 77", .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
    func forbidden() throws {
        let rotated = try RotatedPlace()
        try rotated.place.setMode(0o755, of: ".")
        try rotated.place.setMode(0o600, of: "keys.json")
        try rotated.place.makeFolder("locked", mode: 0o555)
        try rotated.place.giveAway()
        let output = try rotated.place.shell(
            "\(Unprivileged.prefix) \"$PUSHCRYPT\" reseal --keys keys.json --topic a.b --errors locked/errors")
        expectRefusal(output, 77, saying: "Permission denied")
    }
}
