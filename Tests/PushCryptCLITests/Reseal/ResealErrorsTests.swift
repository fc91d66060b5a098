import Foundation
import PushCryptTestSupport
import Testing

/// Refused lines are in the errors file, unchanged.
@Suite("errors file of reseal", .ownThreads)
struct ResealErrorsTests {
    private let rotated: RotatedPlace

    init() throws { rotated = try RotatedPlace() }

    @Test(
        "a refused line has its reason in the errors file",
        arguments: [
            ("{", "malformedLine", "JSON"), (#"{"payload":null}"#, "malformedLine", "payload"),
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
        let output = try rotated.reseal([line])
        expectRefusal(output, 65, saying: "1 line: 0 resealed, 0 unchanged, 1 in errors.jsonl")
        let all = try rotated.place.refusedLines()
        let refused = try #require(all.first)
        #expect(all.count == 1 && refused.line == 1 && refused.reason == reason, "\(all)")
        #expect(refused.message.contains(words), "\(refused.message)")
        #expect(refused.input.map { Array($0.utf8) } == Array(line.utf8) && refused.inputBase64 == nil)
        #expect(try rotated.place.mode(of: "errors.jsonl") == 0o600)
    }

    @Test("a line with a wrong device or without its signer is refused with its reason")
    func keys() throws {
        let (bare, forPhone) = (try rotated.payload("a"), try rotated.payload("b", device: "phone"))
        let signed = try rotated.payload("c", by: "old-sender")
        let lines = [
            #"{"payload":\#(forPhone)}"#, #"{"payload":\#(forPhone),"device":"tablet"}"#,
            #"{"payload":\#(bare),"device":"phone"}"#, #"{"payload":\#(signed)}"#, #"{"payload":\#(bare)}"#,
        ]
        let output = try rotated.reseal(lines)
        #expect(output.exit == 65, "\(output)")
        #expect(output.text.masked == lines[4].masked + "\n")
        let refused = try rotated.place.refusedLines()
        #expect(refused.map(\.line) == [1, 2, 3, 4])
        #expect(refused.map(\.reason) == ["undecryptable", "undecryptable", "undecryptable", "signerMissing"])
        #expect(refused[0].message.contains("no device was given"))
        #expect(refused.compactMap(\.input) == Array(lines.prefix(4)))
    }

    /// With the missing options, the next run reseals the lines of the errors file.
    @Test("refused lines can be extracted and resealed")
    func again() throws {
        let signed = try (0..<6).map { try rotated.payload("é \($0)", device: "phone", by: "old-sender") }
        let lines = signed.enumerated().map { index, payload in
            #"{"n":"\u00e9\#(index)","device":"phone","payload":\#(payload)}"#
        }
        let first = try rotated.reseal(lines)
        #expect(first.exit == 65, "\(first)")
        #expect(first.stdout.isEmpty)
        let inputs = try rotated.place.refusedLines().compactMap(\.input)
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
        "an existing errors file ends reseal before anything is read", arguments: ["file", "folder", "dangling link"])
    func taken(_ what: String) throws {
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
        let before = try rotated.place.names()
        let output = try rotated.place.run(
            "reseal", "--keys", "keys.json", "--topic", Workplace.topic, "--errors", path)
        expectRefusal(output, 73, saying: "can't create \(path)")
        #expect(try rotated.place.names() == before)
    }

    @Test(
        "missing permission for the errors file exits 77", .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
    func forbidden() throws {
        try rotated.place.setMode(0o755, of: ".")
        try rotated.place.setMode(0o600, of: "keys.json")
        try rotated.place.makeFolder("locked", mode: 0o555)
        try rotated.place.giveAway()
        let output = try rotated.place.shell(
            "\(Unprivileged.prefix) \"$PUSHCRYPT\" reseal --keys keys.json --topic a.b --errors locked/errors")
        expectRefusal(output, 77, saying: "Permission denied")
    }

    @Test("refused lines are kept when another file takes the errors file's name")
    func takenMeanwhile() throws {
        let payload = try rotated.payload("x")
        let lines = (1...8).map { #"{"n":\#($0),"payload":\#(payload)\#($0 % 4 == 0 ? "?" : "}")"# }
        try rotated.place.write(BatchPlace.data(lines), to: "lines")
        let output = try rotated.place.shell(
            """
            mkfifo in; { \(RotatedPlace.script) keys.json <in; echo $? >status; } & exec 3>in
            cat lines >&3; until ls | grep -q part- || test -e status; do :; done; echo mine >errors.jsonl; exec 3>&-; wait
            """)
        #expect(try rotated.place.read("status") == Data("73\n".utf8), "\(output)")
        #expect(output.hasOneLineOnStderr)
        #expect(try rotated.place.read("errors.jsonl") == Data("mine\n".utf8))
        let part = try #require(try rotated.place.names().first { $0.hasPrefix("errors.jsonl.part-") })
        #expect(output.stderr.contains("the data is in \(part)"), "\(output)")
        #expect(try rotated.place.refusedLines(part).map(\.line) == [4, 8])
    }
}
