import Foundation
import PushCryptSender
import Testing

/// `PlaceholderTests` of the core and `RefusalVectorTests` have the other kinds, and the placeholders that are refused.
@Suite struct PlaceholderTests {
    @Test(
        "a placeholder becomes an alert with Apple's keys",
        arguments: [
            (.standard, ["title": "New message", "body": "Open the app to read it"]),
            (
                Placeholder(
                    title: "T", subtitle: "S", body: "B", titleLocKey: "TK", titleLocArguments: ["1"],
                    subtitleLocKey: "SK", subtitleLocArguments: ["2", "\"3\""], bodyLocKey: "BK",
                    bodyLocArguments: ["", "é"], launchImage: "Launch"),
                [
                    "title": "T", "subtitle": "S", "body": "B", "title-loc-key": "TK", "title-loc-args": ["1"],
                    "subtitle-loc-key": "SK", "subtitle-loc-args": ["2", "\"3\""], "loc-key": "BK",
                    "loc-args": ["", "é"], "launch-image": "Launch",
                ]
            ),
        ] as [(Placeholder, [String: any Sendable])])
    func alert(placeholder: Placeholder, expected: [String: any Sendable]) throws {
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#, placeholder: placeholder)
        #expect(try Reading(push, .simple).alert as NSDictionary == expected as NSDictionary)
    }

    @Test(
        "a placeholder with quotes, control characters or Unicode is read back unchanged",
        arguments: [
            "\"", "\\", "\u{0}", "\n\r\t\u{8}\u{C}\u{1F}\u{7F}", "\u{2028}\u{2029}", "</script>", "é e\u{301}", "👩‍👩‍👧‍👦🏳️‍🌈",
            "مرحبا \u{202E}abc", "\"},\"pushcrypt\":{\"v\":2}", "%@ \\(x)", "\u{10FFFF}",
        ])
    func escaping(part: String) throws {
        // With a letter: a placeholder without anything visible is refused.
        let text = "a" + part
        let placeholder = Placeholder(title: text, body: text, titleLocKey: text, bodyLocKey: text)
        let push = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#, placeholder: placeholder)
        let reading = try Reading(push, .simple)
        let alert = try #require(reading.alert as? [String: String])
        #expect(alert.count == 4)
        #expect(alert.values.allSatisfy { Array($0.utf8) == Array(text.utf8) })
        #expect(push.byteCount <= 4_096)
    }

    @Test("a placeholder that leaves no room for the message is refused", arguments: [3_400, 3_900, 5_000])
    func tooLong(count: Int) throws {
        let placeholder = Placeholder.literal(title: String(repeating: "a", count: count), body: nil)
        let error = expectSenderError(.tooLarge) {
            try Channel.simple.seal(
                #"{"aps":{"alert":"\#(String(repeating: "b", count: 400))"}}"#, placeholder: placeholder)
        }
        #expect(try #require(error?.bytesNeeded) > count + 400)
    }
}
