import Testing

@testable import PushCryptExtension

/// A push that wasn't restored shows the app's own text or the outer alert, and nothing else of the outer payload.
@Suite struct FallbackTests {
    private static let own = Placeholder.literal(title: "Bundled", body: nil)
    private static let outerAlert = Fallback.outerAlert(orElse: own)
    private static let bundledAlert = #"{"aps":{"alert":{"title":"Bundled"}"#

    /// A payload with every member that a relay can add: those of APNs' documentation, and members of the app.
    private static let hostile = Array(
        #"""
        {"aps":{"alert":{"title":"Pay","title-loc-key":"T","title-loc-args":["a"],"subtitle":"s","subtitle-loc-key":"S",\#
        "subtitle-loc-args":["b"],"body":"now","loc-key":"B","loc-args":["c","d"],"launch-image":"i","action":"a",\#
        "action-loc-key":"A","summary-arg":"x","summary-arg-count":3,"push_id":"p"},"mutable-content":1,\#
        "content-available":1,"badge":7,"sound":{"name":"siren.caf","critical":1,"volume":1},"category":"PAY",\#
        "thread-id":"t","interruption-level":"critical","relevance-score":1,"target-content-id":"w",\#
        "filter-criteria":"f","url-args":["u"],"image":"https://a.example"},"url":"https://a.example","pushcrypt":0}
        """#.utf8)

    private static func status(_ failure: FailureClass) -> String {
        #","pushcrypt":{"status":"failed","reason":"\#(failure)"}}"#
    }

    @Test(
        "outerAlert shows the outer text and bundled the app's own, with the default sound and no other member",
        arguments: [
            FailureClass.malformed, .unsupportedVersion, .unknownKey, .keyLocked, .keyExpired, .keyRevoked,
            .undecryptable, .expired, .notYetValid, .replayed, .timedOut, .attachmentFailed, .internalError,
        ])
    func fullPayload(failure: FailureClass) {
        let expected = #"""
            {"aps":{"alert":{"title":"Pay","title-loc-key":"T","title-loc-args":["a"],"subtitle":"s",\#
            "subtitle-loc-key":"S","subtitle-loc-args":["b"],"body":"now","loc-key":"B","loc-args":["c","d"]},\#
            "sound":"default"}
            """#
        #expect(Self.outerAlert.payload(for: Self.hostile, failure).text == expected + Self.status(failure))
        var content = NotificationContent()
        content.title = .init(literal: "Pay", locKey: "T", locArguments: ["a"])
        content.subtitle = .init(literal: "s", locKey: "S", locArguments: ["b"])
        content.body = .init(literal: "now", locKey: "B", locArguments: ["c", "d"])
        content.sound = .init(name: "default")
        content.userInfo = Array(("{" + Self.status(failure).dropFirst()).utf8)
        #expect(Self.outerAlert.content(for: Self.hostile, failure) == content)
        let bundled = Fallback.bundled(Self.own).payload(for: Self.hostile, failure)
        #expect(bundled.text == Self.bundledAlert + #","sound":"default"}"# + Self.status(failure))
    }

    @Test("a payload that wasn't sealed shows the app's own text in both modes")
    func notSealed() {
        for fallback in [Fallback.bundled(Self.own), Self.outerAlert] {
            let payload = fallback.payload(for: Array(#"{"aps":{"alert":"Pay","badge":2}}"#.utf8), .notSealed)
            #expect(payload.text == Self.bundledAlert + "}" + Self.status(.notSealed))
        }
    }

    @Test(
        "an outer payload whose alert has no text shows the app's own text",
        arguments: [
            "", "{", "null", "[]", "{}", #"{"aps":null}"#, #"{"aps":{}}"#, #"{"aps":{"alert":""}}"#,
            #"{"aps":{"alert":{}}}"#, #"{"aps":{"alert":{"title":"","body":1}}}"#, #"{"alert":"x"}"#,
            #"{"aps":{"alert":"x"},"aps":{"alert":"y"}}"#, #"{"aps":{"alert":"x"}}x"#,
            "\u{FEFF}{\"aps\":{\"alert\":\"x\"}}", #"{"aps":{"alert":"\ud800"}}"#, #"{"aps":{"alert":["x"]}}"#,
            #"{"aps":{"alert":{"title":" \n"}}}"#, #"{"aps":{"alert":"\u200b\u2060"}}"#,
            #"{"aps":{"alert":{"launch-image":"i","action-loc-key":"A"}}}"#,
        ])
    func nothingToShow(outer: String) {
        let payload = Self.outerAlert.payload(for: Array(outer.utf8), .malformed)
        #expect(payload.text == Self.bundledAlert + "}" + Self.status(.malformed))
    }

    @Test(
        "any sound of the outer payload becomes the default sound, and a missing sound stays missing",
        arguments: [
            (#""default""#, true), (#""siren.caf""#, true), (#"{"name":"siren.caf","critical":1,"volume":1}"#, true),
            (#""""#, false), ("1", false), ("null", false),
        ])
    func sound(_ sound: String, _ isPlayed: Bool) {
        let outer = Array(#"{"aps":{"alert":"x","sound":\#(sound)}}"#.utf8)
        #expect(Self.outerAlert.content(for: outer, .expired).sound == (isPlayed ? .init(name: "default") : nil))
    }

    @Test("members of the outer alert with the wrong type are ignored")
    func wrongTypes() {
        let alert = #"{"title":"x","body":{"a":1},"loc-args":{"a":1},"title-loc-args":"a","subtitle":2}"#
        let payload = Self.outerAlert.payload(for: Array(#"{"aps":{"alert":\#(alert)}}"#.utf8), .expired)
        #expect(payload.text == #"{"aps":{"alert":{"title":"x"}}"# + Self.status(.expired))
    }

    @Test("arguments of the outer alert keep their positions, and an object among them leaves the literal text")
    func arguments() {
        let alert = #"{"title-loc-key":"T","title-loc-args":[null,"Bob"],"body":"B","loc-key":"K","loc-args":["a",{}]}"#
        let content = Self.outerAlert.content(for: Array(#"{"aps":{"alert":\#(alert)}}"#.utf8), .expired)
        #expect(content.title == .init(locKey: "T", locArguments: ["", "Bob"]))
        #expect(content.body == .init(literal: "B"))
    }

    @Test("the text of a failure class is shown in both modes")
    func textByClass() {
        let texts = [FailureClass.unknownKey: Placeholder.literal(title: "Open the app once", body: nil)]
        for fallback in [Fallback.bundled(Self.own, texts: texts), .outerAlert(orElse: Self.own, texts: texts)] {
            let content = fallback.content(for: Self.hostile, .unknownKey)
            #expect(content.title == .init(literal: "Open the app once"))
            #expect(content.body.isEmpty)
        }
    }

    @Test(
        "the standard text replaces an empty bundled text",
        arguments: [
            Placeholder(), .literal(title: "", body: ""), .localized(title: "", body: nil),
            .literal(title: " ", body: "\u{200B}"),
        ])
    func bundledWithoutText(placeholder: Placeholder) {
        let content = Fallback.bundled(placeholder).content(for: [], .malformed)
        #expect(content == Fallback.bundled(.standard).content(for: [], .malformed))
        #expect(content.title.literal == Placeholder.standard.title)
        #expect(content.body.literal == Placeholder.standard.body)
    }

    @Test("a bundled text may consist of keys of the app's strings, and is shown in the user's language")
    func localizedBundled() {
        let content = Fallback.bundled(.localized(title: "T", body: "B")).content(for: [], .notSealed)
        #expect(content.title == .init(locKey: "T") && content.body == .init(locKey: "B"))
        let text = Placeholder(title: "T", subtitleLocKey: "FROM", subtitleLocArguments: ["Ada"])
        let german = Fallback.bundled(text).content(for: [], .notSealed) { ["FROM": "von %@"] as [String: String] }
        #expect(german.subtitle.literal == "von Ada")
    }

    @Test(
        "a custom failure class may contain any characters",
        arguments: ["diskFull", "a \"quoted\" one", "back\\slash", "line\nbreak", "", "é"])
    func ownClass(name: String) throws {
        let outer = Array(#"{"aps":{"alert":{"title-loc-key":"NEW"}}}"#.utf8)
        let content = Self.outerAlert.content(for: outer, FailureClass(rawValue: name))
        #expect(content.title == .init(locKey: "NEW"))
        let info = try JSONText(content.userInfo).root["pushcrypt"]
        #expect(info?["reason"]?.string == name)
        #expect(info?["status"]?.string == "failed")
    }
}

@Suite struct KeptMessageTests {
    private static let kept: Set<FailureClass> = [.keyLocked, .timedOut, .unknownKey, .keyExpired, .unsupportedSuite]

    private static func userInfo(of outer: [UInt8], _ failure: FailureClass) -> [UInt8] {
        Fallback.bundled(.standard).content(for: outer, failure).userInfo
    }

    @Test(
        "a placeholder keeps kid, sealed and skid only after failures that can pass, and they are opened like the push",
        arguments: FailureClass.Defined.allCases.map(FailureClass.init), [nil, "sender"])
    func members(_ failure: FailureClass, signer: String?) throws {
        // A relay has added members.
        let outer = try TestPush(signer: signer).sealed().replacing(
            #""pushcrypt":{"#, with: #""url":"x","pushcrypt":{"note":[1],"status":"failed","#)
        let userInfo = Self.userInfo(of: outer, failure)
        let root = try JSONText(userInfo).root
        #expect(root.members.map(\.name) == ["pushcrypt"])
        let message = ["v", "kid", "sealed"] + (signer == nil ? [] : ["skid"])
        let names = (Self.kept.contains(failure) ? message : []) + ["status", "reason"]
        #expect(root["pushcrypt"]?.members.map(\.name) == names)
        #expect(root["pushcrypt"]?["reason"]?.string == failure.rawValue)
        guard Self.kept.contains(failure) else { return }
        let kept = try #require(KeptMessage.outerPayload(userInfo: userInfo))
        #expect(!kept.text.contains("\"url\""))
        #expect(try TestPush.open(kept, trusting: signer.map { [$0] }).get().payload.text == TestPush.json)
    }

    @Test(
        "a payload that can't be read leaves a placeholder without a message",
        arguments: ["", "{}", #"{"pushcrypt":1}"#, #"{"aps":{"alert":"x","mutable-content":1},"pushcrypt":{"v":1}}"#])
    func unreadable(outer: String) throws {
        let userInfo = Self.userInfo(of: Array(outer.utf8), .timedOut)
        #expect(userInfo.text == #"{"pushcrypt":{"status":"failed","reason":"timedOut"}}"#)
        #expect(KeptMessage.outerPayload(userInfo: userInfo) == nil)
    }
}

@Suite struct StringTableTests {
    @Test(
        "arguments are inserted into a localised format at their positions, and other text stays unchanged",
        arguments: [
            ("plain", [], "plain"), ("%@ and %@", ["a", "b"], "a and b"),
            ("%2$@ before %1$@", ["a", "b"], "b before a"), ("%1$@ %@ %@", ["a", "b"], "a a b"),
            ("100%% of %@", ["a"], "100% of a"), ("%@", [], ""), ("%3$@|", ["a"], "|"),
            ("%1$@ pays %2$@", ["", "Bob"], " pays Bob"),
            ("50 % de %@, 20 % discount", ["a"], "50 % de a, 20 % discount"), ("100%, (%) 5% %", [], "100%, (%) 5% %"),
            ("%%d %%@", ["a"], "%d %@"), ("%@\u{301}", ["a"], "a\u{301}"), ("%@", ["%d"], "%d"), ("%@", ["%@"], "%@"),
            ("%@ %@", ["%2$@", "b"], "%2$@ b"), ("%1$", ["a"], "%1$"), ("", ["a"], ""),
            ("👨‍👩‍👧 %@é", ["🇩🇪"], "👨‍👩‍👧 🇩🇪é"),
        ])
    func format(format: String, arguments: [String], expected: String) throws {
        #expect(try StringFormat(format).text(arguments) == expected)
    }

    @Test(
        "a specifier other than %@ is refused with its characters, wherever it stands, and plural forms are known",
        arguments: [
            ("%d", "%d"), ("%i new", "%i"), ("%lld", "%lld"), ("%1$ld", "%1$ld"), ("%s", "%s"), ("%5.2f", "%5.2f"),
            ("%@ has %u", "%u"), ("%@ %-3@", "%-3@"), ("%5@", "%5@"), ("%.*f", "%.*f"), ("%'d", "%'d"),
            ("%hhx", "%hhx"), ("%zd", "%zd"), ("%C", "%C"), ("%%%d", "%d"), ("50%off", "%o"), ("%0$@", "%0$@"),
            ("%99999999999999999999$@", "%99999999999999999999$@"), ("%d\u{301}", "%d"), ("%#@", "%#@"),
            ("You have %#@count@.", "%#@count@"), ("%1$#@a b@ %2$@", "%1$#@a b@"), ("%@ %#@x@", "%#@x@"),
        ])
    func unusable(format: String, specifier: String) throws {
        let error = #expect(throws: StringFormat.UnusableSpecifier.self) { try StringFormat(format) }
        #expect(error?.text == specifier && error?.isPlural == specifier.contains("#@"))
        var content = NotificationContent()
        content.title = .init(literal: "l", locKey: "K", locArguments: ["5", "Zoë"])
        content.body = .init(locKey: "K", locArguments: ["5", "Zoë"])
        let localized = content.localized(by: ["K": format])
        #expect(localized.title == .init(literal: "l") && localized.body == .init())
    }

    @Test(
        "a key is replaced by its localised text or the literal, and never shown itself",
        arguments: [
            (.init(literal: "l"), "l"), (.init(), nil),
            (.init(locKey: "HELLO", locArguments: ["Zoë"]), "Hello Zoë"),
            (.init(literal: "l", locKey: "HELLO", locArguments: ["Zoë"]), "Hello Zoë"),
            (.init(literal: "l", locKey: "NONE"), "l"), (.init(literal: "", locKey: "NONE"), nil),
            (.init(locKey: "NONE"), nil), (.init(literal: "l", locKey: ""), "l"),
            (.init(literal: "l", locKey: "\u{200B}"), "l"), (.init(literal: "l", locKey: "EMPTY"), "l"),
            (.init(locKey: "EMPTY"), nil), (.init(literal: " ", locKey: "EMPTY"), nil),
            (.init(literal: "l", locKey: "ARGUMENT", locArguments: [" "]), "l"), (.init(locKey: "ARGUMENT"), nil),
            (.init(locKey: "ARGUMENT", locArguments: ["a"]), "a"),
        ] as [(NotificationContent.Text, String?)])
    func lookup(_ text: NotificationContent.Text, _ expected: String?) {
        var content = NotificationContent()
        (content.title, content.subtitle, content.body) = (text, text, text)
        let localized = content.localized(by: ["HELLO": "Hello %@", "EMPTY": "", "ARGUMENT": "%@"])
        for text in [localized.title, localized.subtitle, localized.body] {
            #expect(text.literal == expected)
            #expect((text.locKey ?? "").isEmpty)
        }
    }
}
