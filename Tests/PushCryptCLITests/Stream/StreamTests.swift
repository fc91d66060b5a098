import Foundation
import PushCryptTestSupport
import Testing

/// A stream has one answer for each line, also for a refused one.
@Suite("seal --stream and open --stream", .ownThreads)
struct StreamTests {
    private let batch: BatchPlace

    init() throws { batch = try BatchPlace() }

    static let seal = ["seal", "--stream", "--topic", Workplace.topic, "--at", Workplace.now, "--to", "fleet.json"]
    static let open = ["open", "--stream", "--topic", Workplace.topic, "--at", Workplace.now, "--keys", "fleet.json"]
    static let sealScript = (["\"$PUSHCRYPT\""] + seal).joined(separator: " ")
    private static let payload = #""payload":{"aps":{"alert":"x"}}"#

    private static func answer(_ output: Output, _ index: Int) throws -> [String: Any] {
        let answers = try output.objects()
        return try #require(index < answers.count ? answers[index] : nil, "\(output)")
    }

    @Test("sealed lines are those of --batch, and refused ones have an error; the exit status is 0")
    func answers() throws {
        let lines = [BatchPlace.line(0), "{", BatchPlace.line(2), #"{"device":"d3","tag":3,"payload":{"aps":{}}}"#]
        let stream = try batch.place.run(Self.seal + ["--id-from", "spring"], stdin: BatchPlace.data(lines))
        #expect(stream.exit == 0, "\(stream)")
        #expect(stream.stderr == "pushcrypt: 4 lines: 2 sealed, 2 refused\n")
        let asBatch = try batch.seal(lines, "--to", "fleet.json", "--id-from", "spring")
        let summaries = [stream, asBatch].map {
            $0.text.matches(of: /"pushcrypt":\{"line":\d+,.*/).map { String($0.0) }
        }
        #expect(summaries[0] == summaries[1] && summaries[0].count == 2)
        let answers = stream.text.linesWithNewline
        try #require(answers.count == 4)
        #expect(answers[1].hasPrefix(#"{"error":{"code":"malformedLine","reason":"the line is not strict JSON: "#))
        #expect(answers[1].hasSuffix(#"},"pushcrypt":{"line":2}}"#), "\(answers[1])")
        #expect(answers[3].hasPrefix(#"{"error":{"code":"invalidPayload","reason":"aps.alert has no title"#))
        #expect(answers[3].hasSuffix(#"},"device":"d3","tag":3,"pushcrypt":{"line":4}}"#), "\(answers[3])")
        let opened = try batch.place.run(Self.open, stdin: stream.stdout)
        #expect(opened.exit == 0 && opened.stderr == "pushcrypt: 4 lines: 2 opened, 2 refused\n", "\(opened)")
        #expect(try Self.answer(opened, 3)["device"] as? String == "d3")
        #expect((try Self.answer(opened, 3)["error"] as? [String: String])?["code"] == "malformedLine")
    }

    @Test(
        "the answer to a refused line repeats five members byte for byte if they are strings or numbers, and no other")
    func members() throws {
        let to = try BatchPlace.jwk("shared")
        let line =
            #" { "id" : 1.50, "to":\#(to), "tag": "\u0041" , "payload":{"aps":{},"secret":1},"token":{"payload":"x"},"#
            + #""placeholder":{"title":"t"},"campaign":"c","expires":"1h","note":"x" }"#
        let output = try batch.place.run(Self.seal, stdin: BatchPlace.data([line]))
        let text = try #require(output.text.linesWithNewline.first)
        #expect(
            text.hasSuffix(#"},"id" : 1.50,"tag": "\u0041","campaign":"c","pushcrypt":{"line":1}}"#), "\(text)")
        let opened = try batch.place.run(Self.open, stdin: BatchPlace.data([#"{"to":"k","payload":{"a":1},"tag":7}"#]))
        let answer = try #require(opened.text.linesWithNewline.first)
        #expect(answer.hasPrefix(#"{"error":{"code":"notSealed","#), "\(answer)")
        #expect(answer.hasSuffix(#"},"tag":7,"pushcrypt":{"line":1}}"#), "\(answer)")
    }

    @Test(
        "the answer to a line with a misspelt member repeats neither its content nor a key",
        arguments: ["Payload", "message", "key"])
    func misspelt(_ name: String) throws {
        let line = #"{"device":"d1","\#(name)":{"aps":{"alert":"secret"},"k":"secret"},"tag":1}"#
        let output = try batch.place.run(Self.seal, stdin: BatchPlace.data([line, #"{"\#(name)":"secret"}"#]))
        #expect(!output.text.contains("secret") && !output.stderr.contains("secret"), "\(output)")
        #expect(
            output.text.linesWithNewline.first?.hasSuffix(#"},"device":"d1","tag":1,"pushcrypt":{"line":1}}"#) == true,
            "\(output)")
    }

    @Test(
        "a refused entry of \"expose\" is in neither the answer nor a message: they have its index",
        arguments: [["--stream"], ["--batch"]])
    func exposed(_ mode: [String]) throws {
        let line = #"{"device":"d1","payload":{"aps":{"alert":"x","badge":1}},"expose":["badge","Mr-Smith_is_ill"]}"#
        let options = Self.seal.filter { $0 != "--stream" } + mode
        let output = try batch.place.run(options, stdin: BatchPlace.data([line]))
        let shown = output.text + output.stderr
        #expect(shown.contains("expose[1] can't be exposed") && !shown.contains("Smith"), "\(output)")
    }

    @Test("control and format characters that an answer repeats are escapes")
    func formatCharacters() throws {
        let line = "{\"tag\":\"a\u{202E}\u{9B}b\u{E0041}\"}"
        let output = try batch.place.run(Self.seal, stdin: BatchPlace.data([line]))
        #expect(output.text.contains(#""tag":"a\u202e\u009bb\udb40\udc41""#), "\(output)")

        let options = Self.seal.filter { $0 != "--stream" } + ["--batch", "--errors", "errors.jsonl"]
        #expect(try batch.place.run(options, stdin: BatchPlace.data([line])).exit == 65)
        let refused = try String(decoding: batch.place.read("errors.jsonl"), as: UTF8.self)
        #expect(refused.contains(#"a\u202e\u009bb\udb40\udc41"#), "\(refused)")
    }

    @Test("a line that is no JSON object, is empty or is over the limit has an error and its number only")
    func noObjects() throws {
        let long = #"{"n":1,"x":"\#(String(repeating: "x", count: 1 << 20))"}"#
        let lines = ["", "[1]", "\"x\"", long, "\u{fffd}{", long, BatchPlace.line(6), "7"]
        let output = try batch.place.run(Self.seal, stdin: BatchPlace.data(lines).dropLast())
        #expect(output.exit == 0 && output.stderr == "pushcrypt: 8 lines: 1 sealed, 7 refused\n", "\(output)")
        for index in lines.indices where index != 6 {
            let answer = try Self.answer(output, index)
            #expect(Set(answer.keys) == ["error", "pushcrypt"])
            #expect((answer["pushcrypt"] as? [String: Int]) == ["line": index + 1])
            let code = (answer["error"] as? [String: String])?["code"]
            #expect(code == (lines[index] == long ? "lineTooLong" : "malformedLine"))
        }
        #expect(try Self.answer(output, 6)["payload"] != nil)
    }

    @Test("a line with a member \"error\" is refused by --stream, so that no sealed line looks like a refusal")
    func reserved() throws {
        let line = #"{"device":"d1","error":{"mine":1},\#(Self.payload)}"#
        let output = try batch.place.run(Self.seal, stdin: BatchPlace.data([line]))
        let answer = try Self.answer(output, 0)
        #expect((answer["error"] as? [String: String])?["code"] == "malformedLine")
        #expect(output.text.matches(of: /"error"/).count == 1)
        let asBatch = try batch.seal([line], "--to", "fleet.json")
        #expect(asBatch.exit == 0 && asBatch.text.contains(#""error":{"mine":1}"#), "\(asBatch)")
    }

    @Test("each line, good or refused, is answered before the next one is sent", arguments: ["seal", "open"])
    func prompt(_ command: String) throws {
        let lines = ["{", BatchPlace.line(1), "7", BatchPlace.line(3)]
        try batch.place.write(BatchPlace.data(lines), to: "lines")
        let script = (["\"$PUSHCRYPT\""] + (command == "seal" ? Self.seal : Self.open)).joined(separator: " ")
        let output = try batch.place.shell(
            """
            mkfifo in out; \(script) <in >out & exec 3>in 4<out
            while read -r line; do printf '%s\\n' "$line" >&3; read -r answer <&4; printf '%s\\n' "$answer"; done <lines
            exec 3>&-; wait $!
            """)
        #expect(output.exit == 0 && output.text.linesWithNewline.count == 4, "\(output)")
    }

    @Test("SIGTERM finishes the lines that were read and exits 143; stdout has all their answers")
    func terminated() throws {
        try batch.place.write(BatchPlace.data((0..<20).map { BatchPlace.line($0) } + ["{"]), to: "lines")
        // The last answer shows that all lines were read.
        let output = try batch.place.shell(
            """
            mkfifo in out; \(Self.sealScript) <in >out & exec 3>in 4<out
            cat lines >&3; printf '{"unfinished":' >&3
            for n in $(seq 21); do read -r answer <&4; printf '%s\\n' "$answer"; done
            kill -TERM $!; cat <&4; wait $!
            """)
        #expect(output.exit == 143, "\(output)")
        #expect(output.stderr == "pushcrypt: terminated; 21 lines: 20 sealed, 1 refused\n")
        #expect(output.text.linesWithNewline.count == 21)
    }

    @Test("a closed stdout ends the stream with exit status 74 and names no line to resume from")
    func closed() throws {
        try batch.place.write(BatchPlace.data((0..<400).map { BatchPlace.line($0) }), to: "lines")
        let output = try batch.place.shell("{ \(Self.sealScript) <lines; echo $? >status; } | head -n 3")
        #expect(try batch.place.read("status") == Data("74\n".utf8), "\(output)")
        #expect(output.stderr.hasPrefix("pushcrypt: can't write to stdout: Broken pipe; "), "\(output)")
        #expect(!output.stderr.contains("resume"), "\(output)")
    }
}
