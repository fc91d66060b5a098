import Testing

@testable import PushCryptCore

@Suite struct AlertTextTests {
    @Test(
        "an alert with a visible text is present",
        arguments: [
            #""Hi""#, #"" a""#, #""\u0000a""#, #"{"title":"a"}"#, #"{"subtitle":"a"}"#, #"{"body":"a"}"#,
            #"{"loc-key":"a"}"#, #"{"title-loc-key":"a"}"#, #"{"title":"","body":"a"}"#, #"{"title":1,"body":"a"}"#,
            #"{"title":null,"loc-key":"a"}"#, #"{"t\u0069tle":"a"}"#, #"{"x":1,"body":"\n."}"#,
        ])
    func present(alert: String) throws {
        #expect(AlertText.isVisible(in: try JSONText(Array(alert.utf8)).root))
        #expect(try InnerPayload(json: Array(#"{"aps":{"alert":\#(alert)}}"#.utf8)).aps != nil)
    }

    @Test(
        "an alert without a visible text, or of a wrong type, is absent",
        arguments: [
            #""""#, #"" ""#, #""\u0000""#, #"{"body":"\n"}"#, #"{"title":"\u200b","loc-key":" "}"#, "null", "true", "1",
            "[]", #"["Hi"]"#, "{}", #"{"title":""}"#,
            #"{"title":"","subtitle":"","body":""}"#,
            #"{"title":null}"#, #"{"title":1}"#, #"{"body":["a"]}"#, #"{"body":{"a":"b"}}"#,
            #"{"subtitle-loc-key":"a"}"#,
            #"{"loc-args":["a"]}"#, #"{"title-loc-args":["a"]}"#, #"{"launch-image":"a"}"#, #"{"Title":"a"}"#,
            #"{"action":"a"}"#, #"{"summary-arg":"a"}"#,
        ])
    func absent(alert: String) throws {
        #expect(!AlertText.isVisible(in: try JSONText(Array(alert.utf8)).root))
        #expect(throws: InnerPayload.Flaw.self) { try InnerPayload(json: Array(#"{"aps":{"alert":\#(alert)}}"#.utf8)) }
    }

    @Test("a missing alert has no text")
    func missing() {
        #expect(!AlertText.isVisible(in: nil))
    }
}

@Suite struct LocalizedKeyTests {
    private static func alert(_ members: String) throws -> JSONValue { try JSONText(Array("{\(members)}".utf8)).root }

    @Test(
        "arguments keep their positions, and each scalar is its text",
        arguments: [
            (#"["Ann","Bob"]"#, ["Ann", "Bob"]), (#"[null,"Bob"]"#, ["", "Bob"]), (#"[5,"Bob"]"#, ["5", "Bob"]),
            (#"[true,false,"Bob"]"#, ["true", "false", "Bob"]), (#"["\u00e9",1.50,-2e400]"#, ["é", "1.50", "-2e400"]),
            ("[]", []), (#""Bob""#, []), (#"{"0":"Bob"}"#, []), ("null", []), ("7", []),
        ] as [(String, [String])])
    func arguments(_ json: String, texts: [String]) throws {
        for part in AlertPart.allCases {
            let alert = try Self.alert(#""\#(part.keyName)":"K","\#(part.argumentsName)":\#(json)"#)
            let key = try #require(LocalizedKey(part, in: alert))
            #expect(key.name == "K" && key.arguments == texts)
            #expect(LocalizedKey.all(in: alert).map(\.part) == [part])
        }
    }

    @Test(
        "an object or array among the arguments leaves a text without arguments, and its index is known",
        arguments: [(#"["a",{}]"#, 1), (#"[["b"],"a"]"#, 0), (#"["a","b",{"c":1}]"#, 2)])
    func unlocalisable(_ json: String, index: Int) throws {
        let key = try #require(LocalizedKey(.body, in: Self.alert(#""loc-key":"K","loc-args":\#(json)"#)))
        #expect(key.arguments == nil && key.otherArguments.map(\.index) == [index])
    }

    @Test(
        "an empty, invisible or wrongly typed key is no key, and neither is one of an alert that is a text",
        arguments: [
            #"{"loc-key":"","loc-args":["a"]}"#, #"{"loc-key":" \u200b"}"#, #"{"loc-key":1}"#, #"{"loc-key":null}"#,
            #"{"body":"B"}"#, #""K""#, "null", "[]",
        ])
    func noKey(_ json: String) throws {
        let alert = try JSONText(Array(json.utf8)).root
        #expect(LocalizedKey.all(in: alert).isEmpty && LocalizedKey(.body, in: alert) == nil)
    }
}

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
