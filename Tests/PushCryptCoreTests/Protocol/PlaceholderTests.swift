import Testing

@testable import PushCryptCore

@Suite struct PlaceholderTests {
    @Test(
        "a placeholder is written as its documented JSON",
        arguments: [
            (Placeholder.literal(title: "New message", body: nil), #"{"title":"New message"}"#),
            (.literal(title: "T", body: "B"), #"{"title":"T","body":"B"}"#),
            (.literal(title: nil, body: "B"), #"{"body":"B"}"#), (.literal(title: "", body: "B"), #"{"body":"B"}"#),
            (.localized(title: "T", body: "B"), #"{"title-loc-key":"T","loc-key":"B"}"#),
            (.localized(title: nil, body: "B"), #"{"loc-key":"B"}"#),
            (
                Placeholder(title: "a", body: "b", titleLocKey: "c", bodyLocKey: "d"),
                #"{"title":"a","body":"b","title-loc-key":"c","loc-key":"d"}"#
            ),
            (.literal(title: "\"\\/\n\u{1}é😀\u{2028}", body: nil), "{\"title\":\"\\\"\\\\/\\n\\u0001é😀\u{2028}\"}"),
        ])
    func json(placeholder: Placeholder, expected: String) throws {
        let json = try #require(placeholder.json)
        #expect(String(decoding: json, as: UTF8.self) == expected)
        #expect(AlertText.isVisible(in: try JSONText(json).root))
    }

    @Test(
        "a placeholder without text has no JSON",
        arguments: [
            Placeholder(), .literal(title: "", body: ""), .localized(title: "", body: nil),
            Placeholder(title: "", body: "", titleLocKey: "", bodyLocKey: ""),
        ])
    func noText(placeholder: Placeholder) {
        #expect(placeholder.json == nil)
    }
}
