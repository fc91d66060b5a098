import Foundation
import PushCryptTestSupport
import Testing

/// A refused line is in the errors file, unchanged and with its reason.
@Suite("refused lines of a batch", .ownThreads)
struct BatchLinesTests {
    private static let payload = #""payload":{"aps":{"alert":"x"}}"#

    /// Lines, reasons and a part of the message. One run reads all of them.
    private static func sealing() throws -> [(line: String, reason: String, words: String)] {
        let shared = try BatchPlace.jwk("shared")
        let flipped = try BatchPlace.registration("p256").replacing(/"x":"../, with: "\"x\":\"AA")
        return [
            ("", "malformedLine", "the line is empty"), ("[]", "malformedLine", "payload"),
            (#"{"payload":null}"#, "malformedLine", "payload"),
            (#"{\#(payload),\#(payload)}"#, "malformedLine", "a name occurs twice"),
            (#"{"payload":{"aps":{"alert":"x","alert":"y"}}}"#, "malformedLine", "a name occurs twice"),
            (#"{\#(payload)}{}"#, "malformedLine", "more text after"),
            (#"{"payload":{}}"#, "invalidPayload", "aps"),
            (#"{"payload":{"aps":{"alert":"   "}}}"#, "invalidPayload", "visible"),
            (#"{"payload":{"aps":{"alert":"x"},"pushcrypt":{}}}"#, "invalidPayload", "pushcrypt"),
            (#"{\#(payload),"pushcrypt":{}}"#, "malformedLine", "sealed before"),
            (#"{"payload":{"aps":{"alert":"\#(String(repeating: "x", count: 4_096))"}}}"#, "tooLarge", "4096"),
            (#"{\#(payload),"device":"a b"}"#, "malformedLine", "device id"),
            (#"{\#(payload),"to":["a"]}"#, "malformedLine", #""to" is neither"#),
            (#"{\#(payload),"to":"short"}"#, "malformedLine", "11 characters"),
            (#"{\#(payload),"to":"AAAAAAAAAAA"}"#, "unknownKey", "AAAAAAAAAAA"),
            (#"{\#(payload),"to":{}}"#, "malformed", "kty"),
            (#"{\#(payload),"to":\#(flipped)}"#, "invalidKey", try BatchPlace.kid("p256")),
            (#"{\#(payload),"to":\#(try BatchPlace.jwk("p256"))}"#, "wrongKind", "private key"),
            (#"{\#(payload),"to":\#(try BatchPlace.registration("sender"))}"#, "wrongKind", "sender key"),
            (#"{\#(payload),"to":\#(try BatchPlace.jwk("device")),"device":"d1"}"#, "wrongDevice", "another device"),
            (#"{\#(payload),"to":\#(DemoLine.jwk)}"#, "demoKeys", "--allow-demo-keys"),
            (#"{\#(payload),"to":\#(shared),"placeholder":"x"}"#, "malformedLine", #""placeholder" is not"#),
            (#"{\#(payload),"placeholder":{"text":"x"}}"#, "malformedLine", "Apple's alert keys"),
            (#"{\#(payload),"placeholder":{"title":"x","loc-args":[1]}}"#, "malformedLine", "array of strings"),
            (#"{\#(payload),"placeholder":{}}"#, "invalidPlaceholder", "no text"),
            (#"{\#(payload),"expires":"soon"}"#, "malformedLine", "expires"),
            (#"{\#(payload),"expires":"31d"}"#, "invalidOption", "30 days"),
            (#"{\#(payload),"expose":["badge",1]}"#, "malformedLine", "expose"),
            (#"{\#(payload),"campaign":["a"]}"#, "malformedLine", #""campaign" is not a string"#),
            (#"{\#(payload),"campaign":""}"#, "invalidOption", "1 to 255 bytes"),
            (#"{\#(payload),"expose":["alert"]}"#, "invalidOption", "aps.alert"),
            ("\u{1b}[2J\u{0}\t\"\\", "malformedLine", "JSON"),
        ]
    }

    private enum DemoLine {
        static let jwk =
            #"{"kty":"oct","k":"lGyujY04i9CTOZqVCmYwwsqrZUWnLDFEOltp2LPQ0is","alg":"HKDF-A256GCM","kid":"Zv1EiPnFKa0"}"#
    }

    @Test("a line that seal refuses has its reason in the errors file, and stderr shows no part of it")
    func sealingReasons() throws {
        let batch = try BatchPlace()
        let bad = try Self.sealing()
        let good = #"{\#(Self.payload),"device":"d"}"#
        let lines = bad.flatMap { [$0.line, good] }
        let output = try batch.seal(lines, "--bare", "--to", "fleet.json", "--errors", "errors.jsonl")
        #expect(output.exit == 65)
        #expect(output.stderr.contains("\(lines.count) lines: \(bad.count) sealed, \(bad.count) in errors.jsonl"))
        #expect(output.text.linesWithNewline.count == bad.count)
        let refused = try batch.place.refusedLines()
        try #require(refused.count == bad.count)
        for (index, (found, expected)) in zip(refused, bad).enumerated() {
            #expect(found.line == 2 * index + 1)
            #expect(found.reason == expected.reason, "\(expected.line)")
            #expect(found.message.contains(expected.words), "\(expected.line): \(found.message)")
            #expect(found.input.map { Array($0.utf8) } == Array(expected.line.utf8))
        }
        #expect(try batch.place.mode(of: "errors.jsonl") == 0o600)
        try expectNoSecrets([output.text, output.stderr] + refused.map(\.message))
    }

    private func expectNoSecrets(_ texts: [String]) throws {
        for name in ["shared", "p256", "device"] {
            let record = try JSONDecoder().decode([String: String].self, from: Data(BatchPlace.jwk(name).utf8))
            for secret in ["k", "d", "psk"].compactMap({ record[$0] }) {
                #expect(!texts.contains { $0.contains(secret) }, "\(name)")
            }
        }
    }

    @Test("a line that open refuses has its failure class in the errors file")
    func openingReasons() throws {
        let batch = try BatchPlace()
        let line = BatchPlace.line(1)
        let sealed = try batch.seal([line], "--to", "fleet.json", "--expires", "1h").line
        let other = try batch.seal([#"{\#(Self.payload),"to":\#(try BatchPlace.jwk("other shared"))}"#], "--bare").line
        let cases = [
            (sealed.replacing(#""device":"d1""#, with: #""device":"d2""#), "undecryptable"), (other, "unknownKey"),
            (line, "notSealed"), ("{", "malformedLine"), (#"{"payload":{"pushcrypt":{"v":2}}}"#, "unsupportedVersion"),
            (#"{"payload":{"pushcrypt":{}}}"#, "malformed"), (#"{"payload":7}"#, "malformedLine"),
        ]
        let output = try batch.open(cases.map(\.0), "--keys", "fleet.json", "--errors", "errors.jsonl")
        #expect(output.exit == 65 && output.stdout.isEmpty, "\(output)")
        #expect(try batch.place.refusedLines().map(\.reason) == cases.map(\.1))
        let late = try batch.place.run(
            "open", "--batch", "--keys", "fleet.json", "--topic", Workplace.topic, "--at", Workplace.later(3_600),
            stdin: BatchPlace.data([sealed]))
        #expect(late.stderr.contains("line 1: expired: "), "\(late)")
    }

    @Test("without an errors file stderr shows the first ten refused lines")
    func withoutErrorsFile() throws {
        let batch = try BatchPlace()
        let output = try batch.seal((0..<30).map { $0 % 2 == 0 ? "{" : BatchPlace.line($0) }, "--to", "fleet.json")
        #expect(output.exit == 65)
        let messages = output.stderr.split(separator: "\n")
        #expect(messages.count == 11)
        #expect(messages[0].hasPrefix("pushcrypt: line 1: malformedLine: the line is not strict JSON: "))
        #expect(messages[9].hasPrefix("pushcrypt: line 19: ") && messages[9].hasSuffix("to keep them, add --errors"))
        #expect(messages[10] == "pushcrypt: 30 lines: 15 sealed, 15 refused")
    }

    @Test("--allow-demo-keys accepts a line with a demo key, and a line without a recipient is refused")
    func demoKeys() throws {
        let batch = try BatchPlace()
        let lines = [#"{\#(Self.payload),"to":\#(DemoLine.jwk)}"#, "{\(Self.payload)}"]
        let output = try batch.seal(lines, "--allow-demo-keys", "--bare")
        #expect(output.stderr.contains("line 2: recipientMissing: "), "\(output)")
        #expect(output.stderr.hasSuffix("2 lines: 1 sealed, 1 refused\n"), "\(output)")
    }

    /// Lines over 1 MiB and bytes that aren't UTF-8 are written in base64.
    @Test(
        "long lines and lines that aren't UTF-8 are in the errors file byte for byte",
        arguments: [1 << 20, (1 << 20) + 1, 3_000_001])
    func longLines(_ byteCount: Int) throws {
        let batch = try BatchPlace()
        let start = #"{"n":1,"device":"phone","payload":{"aps":{"alert":"x"}},"x":""#
        let long = start + String(repeating: "x", count: byteCount - start.utf8.count - 2) + "\"}"
        let odd = Data([0x7b, 0xc3, 0x28, 0x7d])
        let input = BatchPlace.data([BatchPlace.line(0), long]) + odd + Data("\n".utf8) + Data(BatchPlace.line(2).utf8)
        let output = try batch.place.run(
            BatchPlace.seal + ["--to", "fleet.json", "--errors", "errors.jsonl"], stdin: input)
        let fits = byteCount <= 1 << 20
        #expect(BatchPlace.numbers(output.stdout) == (fits ? [0, 1, 2] : [0, 2]), "\(output.stderr)")
        let refused = try batch.place.refusedLines()
        #expect(refused.map(\.line) == (fits ? [3] : [2, 3]))
        #expect(refused.last?.inputBase64 == odd)
        if !fits {
            #expect(refused[0].reason == "lineTooLong" && refused[0].inputBase64 == Data(long.utf8))
        }
    }
}
