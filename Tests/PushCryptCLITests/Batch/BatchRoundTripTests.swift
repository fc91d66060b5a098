import Foundation
import PushCryptTestSupport
import Testing

/// `seal --batch | open --batch` restores all lines in their order.
@Suite("seal --batch, then open --batch", .ownThreads)
struct BatchRoundTripTests {
    private static let payload = #"{ "aps":{"alert":{"title":"é \ud83d\ude00"},"badge":2}, "n":1.50}"#

    @Test("lines with their own JWKs are sealed to those recipients")
    func recipients() throws {
        let batch = try BatchPlace()
        let names = ["p256", "x25519 psk", "p256 psk", "x25519"]
        let lines = try (0..<24).map { index in
            #"{"n":\#(index), "to" : \#(try BatchPlace.registration(names[index % 4])),"#
                + #""payload": \#(Self.payload) , "token":"\u0041b\#(index)" }"#
        }
        let sealed = try batch.seal(lines)
        #expect(sealed.exit == 0, "\(sealed)")
        #expect(sealed.stderr.contains("\npushcrypt: 12 pushes used a psk, and 12 had none: "), "\(sealed)")
        let opened = try batch.open(sealed.text.linesWithNewline, "--keys", "devices.json")
        #expect(opened.exit == 0 && opened.text.linesWithNewline.count == lines.count, "\(opened)")
        for (index, line) in sealed.text.linesWithNewline.enumerated() {
            let kid = try BatchPlace.kid(names[index % 4])
            #expect(line.hasPrefix(#"{"n":\#(index), "to" : "\#(kid)","payload": {"aps":{"alert":"#), "\(line)")
            // The summary equals the sealer's, and everything else except the secret is unchanged.
            let summary = try #require(line.firstMatch(of: /,"pushcrypt":\{"line":\d+,"id":.+$/)).output
            let expected = lines[index].replacing(/"to" : \{.*?\}/, with: "\"to\" : \"\(kid)\"")
            #expect(opened.text.linesWithNewline[index] == expected.dropLast(2) + summary)
        }
    }

    @Test("lines with and without a device are sealed to a shared key", arguments: [false, true])
    func devices(_ isMasterInLine: Bool) throws {
        let batch = try BatchPlace()
        let to = isMasterInLine ? #""to":\#(try BatchPlace.jwk("shared")),"# : ""
        let lines = (0..<40).map { index in
            index % 5 == 0
                ? #"{\#(to)"payload":\#(Self.payload)}"# : #"{\#(to)"device":"d\#(index)","payload":\#(Self.payload)}"#
        }
        let sealed =
            isMasterInLine
            ? try batch.seal(lines, "--bare", "--jobs", "3") : try batch.seal(lines, "--bare", "--to", "fleet.json")
        #expect(sealed.exit == 0, "\(sealed)")
        let opened = try batch.open(sealed.text.linesWithNewline, "--keys", "fleet.json", "--jobs", "1")
        #expect(opened.exit == 0, "\(opened)")
        let payloads = try opened.text.linesWithNewline.map { line in
            try #require(line.firstMatch(of: /"payload":(.*),"pushcrypt":\{"line":\d+/)).output.1
        }
        #expect(payloads.count == 40 && payloads.allSatisfy { $0 == Self.payload })
        // With another device's id no line opens.
        let others = sealed.text.linesWithNewline.map { $0.replacing(#""device":"d"#, with: #""device":"e"#) }
        let refused = try batch.open(others, "--keys", "fleet.json", "--errors", "errors.jsonl")
        #expect(refused.stderr == "pushcrypt: 40 lines: 8 opened, 32 in errors.jsonl\n")
        #expect(try batch.place.refusedLines().allSatisfy { $0.reason == "undecryptable" })
    }

    @Test("placeholder, expires and expose of a line replace the options")
    func overrides() throws {
        let batch = try BatchPlace()
        let members = [
            "", #""placeholder":{"body":"Own"},"#, #""placeholder":{"title-loc-key":"K","loc-key":"L"},"#,
            #""expires":"12h","#, #""expires":"PT5M","#, #""expose":["badge"],"#, #""expose":[],"#,
        ]
        let lines = members.map { #"{\#($0)"payload":\#(Self.payload),"x":0}"# }
        let output = try batch.seal(
            lines, "--bare", "--to", "fleet.json", "--placeholder-title", "All", "--expires", "2d", "--expose", "badge")
        #expect(output.exit == 0, "\(output)")
        let sealed = output.text.linesWithNewline
        let alerts = [#"{"title":"All"}"#, #"{"body":"Own"}"#, #"{"title-loc-key":"K","loc-key":"L"}"#]
        let lifetimes = [172_800, 172_800, 172_800, 43_200, 300, 172_800, 172_800]
        for (index, line) in sealed.enumerated() {
            let alert = index < 3 ? alerts[index] : alerts[0]
            let badge = index == 6 ? "" : #","badge":2"#
            #expect(line.hasPrefix(#"{"payload":{"aps":{"alert":\#(alert),"mutable-content":1\#(badge)},"pushcrypt""#))
            #expect(line.contains(#"}},"x":0,"pushcrypt":{"line":\#(index + 1),"#), "\(line)")
            #expect(line.hasSuffix(#","expiresAt":\#(Workplace.later(lifetimes[index]))}}"#), "\(line)")
        }
    }

    /// A payload that was sealed alone may contain newlines.
    @Test("each opened payload is written as one line")
    func oneLine() throws {
        let batch = try BatchPlace()
        let inner = "{\n  \"aps\" : {\r\n \"alert\": \"a\\nb\" }\n}"
        let alone = try batch.place.sealed(to: "fleet.json", payload: Data(inner.utf8))
        let line = #"{"payload":\#(String(decoding: alone.dropLast(), as: UTF8.self))}"#
        let opened = try batch.open([line, line], "--keys", "fleet.json")
        let expected = inner.replacing("\n", with: " ").replacing("\r\n", with: "\r ")
        #expect(opened.text.linesWithNewline.count == 2, "\(opened)")
        #expect(opened.text.utf8.starts(with: #"{"payload":\#(expected),"pushcrypt":{"line":1,"#.utf8), "\(opened)")
    }

    @Test("signed lines of a campaign open with the pinned sender key")
    func signed() throws {
        let batch = try BatchPlace()
        try batch.place.write(Data(BatchPlace.jwk("sender").utf8), to: "sender.json")
        try batch.place.write(Data(BatchPlace.registration("sender").utf8), to: "trust.json")
        let lines = (0..<3).map { BatchPlace.line($0) }
        let sealed = try batch.seal(
            lines, "--to", "fleet.json", "--sign-with", "sender.json", "--id-from", "spring sale")
        let opened = try batch.open(sealed.text.linesWithNewline, "--keys", "fleet.json", "--trust", "trust.json")
        #expect(opened.exit == 0, "\(opened)")
        // HMAC-SHA256 by Python's hmac with the device's key, over "pushcrypt/1 campaign", the name, the kid and the device.
        #expect(
            BatchPlace.ids(opened) == ["lRko4UEsY5udnCglmLUSEQ", "w47IUGgAajFDA_FqaBPkzw", "hvP2-Yc27lANsvdNBtFhCw"])
    }
}
