import Foundation
import PushCryptSender
import Testing

@Suite struct UnicodeTests {
    private static let texts = [
        "👩‍👩‍👧‍👦🏳️‍🌈👍🏽", "שלום مرحبا \u{202E}rtl\u{202C}", "e\u{301}é가\u{1100}\u{1161}", "𝕏𐍈🀄\u{10FFFF}",
        "line\u{2028}separator\u{2029}", "a\u{0}b", "\u{1}\u{1F}\u{7F}\u{80}\u{9F}", "\"\\/", "\n\r\t",
        "\u{FFFD}\u{FFFE}\u{FFFF}", String(repeating: "🇺🇳", count: 20), " ", "\u{200B}", "ﬁ Å Ω K",
    ]

    @Test("a notification with Unicode text is opened unchanged", arguments: texts)
    func notification(text: String) throws {
        let channel = Channel.simple
        let push = try channel.sealer().seal(
            PushNotification(title: text, subtitle: "a", body: text, threadID: text, custom: [text: text]),
            to: channel.recipient(),
            placeholder: Channel.placeholder)
        let payload = try JSONSerialization.jsonObject(with: Data(Reading(push, channel).payload.utf8))
        let root = try #require(payload as? [String: Any])
        let aps = try #require(root["aps"] as? [String: Any])
        let alert = try #require(aps["alert"] as? [String: String])
        for found in [alert["title"], alert["body"], aps["thread-id"] as? String] {
            #expect(found.map { Array($0.utf8) } == Array(text.utf8))
        }
        #expect(root.keys.filter { $0 != "aps" }.map { Array($0.utf8) } == [Array(text.utf8)])
    }

    /// The escapes aren't replaced by the characters.
    @Test("raw JSON with escaped Unicode is opened with its escapes", arguments: texts)
    func rawAndEscaped(text: String) throws {
        let escaped = text.utf16.map { unit in
            "\\u" + String(repeating: "0", count: 4 - String(unit, radix: 16).count) + String(unit, radix: 16)
        }
        let json = #"{"aps":{"alert":{"title":"x","body":"\#(escaped.joined())"}}}"#
        #expect(try Reading(Channel.simple.seal(json), .simple).payload == json)
    }

    /// Bytes are counted, not characters: each of these takes four, three and two.
    @Test("limits count the bytes of Unicode text", arguments: [("😀", 4), ("€", 3), ("é", 2), ("a", 1)])
    func bytesAreCounted(character: String, width: Int) throws {
        let options = Sealer.Options(padding: .none)
        let sizes = try [30, 60].map { count in
            let body = String(repeating: character, count: count)
            return try Channel.simple.seal(#"{"aps":{"alert":"\#(body)"}}"#, options).byteCount
        }
        #expect(sizes[1] - sizes[0] == 30 * width * 4 / 3)
    }
}
