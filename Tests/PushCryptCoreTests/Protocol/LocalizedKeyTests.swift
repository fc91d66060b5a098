import Testing

@testable import PushCryptCore

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
