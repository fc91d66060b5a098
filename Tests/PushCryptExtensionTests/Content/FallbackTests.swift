import PushCryptExtension
import Testing

@Suite struct FallbackTests {
    private static let fallback = Fallback(bundled: .literal(title: "Bundled", body: nil))
    private static let outer =
        #"{"aps":{"alert":{"title-loc-key":"NEW"},"mutable-content":1,"badge":2},"url":"https://x.example","pushcrypt":5}"#
    private static let bundled = #"{"aps":{"alert":{"title":"Bundled"}},"#

    private static func status(_ failure: FailureClass) -> String {
        #""pushcrypt":{"status":"failed","reason":"\#(failure)"}}"#
    }

    private static let classes: [FailureClass] = [
        .malformed, .unsupportedVersion, .unknownKey, .keyLocked, .keyExpired, .keyRevoked, .undecryptable, .expired,
        .notYetValid, .replayed, .timedOut, .attachmentFailed, .internalError,
    ]

    /// The placeholder that came with the push, as it came; no member beside it.
    @Test(arguments: classes)
    func outerAlert(failure: FailureClass) {
        let payload = Self.fallback.payload(for: Array(Self.outer.utf8), failure)
        let aps = #"{"aps":{"alert":{"title-loc-key":"NEW"},"mutable-content":1,"badge":2},"#
        #expect(payload.text == aps + Self.status(failure))
        let content = Self.fallback.content(for: Array(Self.outer.utf8), failure)
        #expect(content.title == .init(locKey: "NEW"))
        #expect(content.badge == 2)
        #expect(content.userInfo.text == "{" + Self.status(failure))
    }

    /// An unsealed push is never shown: anybody on the way could have written it.
    @Test func notSealed() {
        let payload = Self.fallback.payload(for: Array(Self.outer.utf8), .notSealed)
        #expect(payload.text == Self.bundled + Self.status(.notSealed))
        let content = Self.fallback.content(for: Array(Self.outer.utf8), .notSealed)
        #expect(content.title == .init(literal: "Bundled"))
        #expect(content.badge == nil)
    }

    @Test(arguments: [
        "", "{", "null", "[]", "{}", #"{"aps":null}"#, #"{"aps":{}}"#, #"{"aps":{"alert":""}}"#,
        #"{"aps":{"alert":{}}}"#, #"{"aps":{"alert":{"title":"","body":1}}}"#, #"{"alert":"x"}"#,
        #"{"aps":{"alert":"x"},"aps":{"alert":"y"}}"#, #"{"aps":{"alert":"x"}}x"#,
        "\u{FEFF}{\"aps\":{\"alert\":\"x\"}}", #"{"aps":{"alert":"\ud800"}}"#,
    ])
    func nothingToShow(outer: String) {
        let payload = Self.fallback.payload(for: Array(outer.utf8), .malformed)
        #expect(payload.text == Self.bundled + Self.status(.malformed))
        #expect(Self.fallback.content(for: Array(outer.utf8), .malformed).hasText)
    }

    @Test(arguments: [Placeholder(), .literal(title: "", body: ""), .localized(title: "", body: nil)])
    func bundledWithoutText(placeholder: Placeholder) {
        let content = Fallback(bundled: placeholder).content(for: [], .malformed)
        let standard = Fallback().content(for: [], .malformed)
        #expect(content == standard)
        #expect(content.title.literal == Placeholder.standard.title)
        #expect(content.body.literal == Placeholder.standard.body)
    }

    @Test func localizedBundled() {
        let content = Fallback(bundled: .localized(title: "T", body: "B")).content(for: [], .notSealed)
        #expect(content.title == .init(locKey: "T"))
        #expect(content.body == .init(locKey: "B"))
    }

    /// A keyring of the app's own may have classes of its own, with any characters.
    @Test(arguments: ["diskFull", "a \"quoted\" one", "back\\slash", "line\nbreak", "", "é"])
    func ownClass(name: String) throws {
        let content = Self.fallback.content(for: Array(Self.outer.utf8), FailureClass(rawValue: name))
        #expect(content.title == .init(locKey: "NEW"))
        let info = try JSONText(content.userInfo).root["pushcrypt"]
        #expect(info?["reason"]?.string == name)
        #expect(info?["status"]?.string == "failed")
    }
}
