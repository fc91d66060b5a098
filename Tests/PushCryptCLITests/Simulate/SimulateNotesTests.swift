import Foundation
import PushCryptTestSupport
import Testing

/// What `simulate` says of a push beside what is shown, and of its input and options.
@Suite("notes of simulate", .ownThreads) struct SimulateNotesTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("phone", "recipient", "--psk")
    }

    private func simulate(_ payload: Data, _ options: String...) throws -> Output {
        try place.run(
            ["simulate", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options, stdin: payload
        )
    }

    private func object(_ payload: Data, _ options: String...) throws -> [String: Any] {
        try place.run(
            ["simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
            stdin: payload
        ).object()
    }

    @Test("a member whose name has a dot is found by its whole name, as the extension finds it")
    func memberWithDot() throws {
        try place.write(
            Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [UInt8](repeating: 0, count: 20)), to: "p")
        let payload = Data(#"{"aps":{"alert":"x"},"data.image":"https://a.b/p"}"#.utf8)
        let output = try simulate(
            place.sealed(to: "phone", payload: payload), "--serve", "https://a.b/p=p", "--attachment-member",
            "data.image")
        #expect(output.exit == 0 && output.stderr == "" && output.text.contains("[png, 28 bytes]"), "\(output)")
    }

    @Test(
        "a text with too few arguments, or with one that has no text, isn't called restored",
        arguments: [
            (#""loc-args":["Zoë","hi"]"#, nil), (#""loc-args":["Zoë","hi","x"]"#, nil),
            (#""loc-args":["Zoë"]"#, ", but FROM needs 2 arguments, and loc-args has 1"),
            (#""x":1"#, ", but FROM needs 2 arguments, and loc-args has 0"),
            (#""loc-args":[1,null]"#, nil),
            (
                #""loc-args":[1,{}],"body":"B""#,
                ", but the app's text of FROM gets an object or array in loc-args: send strings"
            ),
        ] as [(String, String?)])
    func arguments(_ arguments: String, flaw: String?) throws {
        try place.write(Data(#"{"FROM":"%2$@ (%1$@, 100%%)"}"#.utf8), to: "t.json")
        let payload = Data(#"{"aps":{"alert":{"loc-key":"FROM",\#(arguments)}}}"#.utf8)
        let output = try place.run(
            [
                "simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now,
                "--strings", "t.json",
            ], stdin: place.sealed(to: "phone", payload: payload))
        let json = try output.object()
        #expect(output.exit == (flaw == nil ? 0 : 65) && json["restored"] as? Bool == (flaw == nil), "\(json)")
        #expect(json["verdict"] as? String == "restored" + (flaw ?? ""))
    }

    @Test(
        "an argument that isn't a string keeps its position on the phone, and simulate and seal note it",
        arguments: [
            (#"[null,"Bob"]"#, " pays Bob", "argument 1 of loc-args is null, and the device inserts an empty text"),
            (#"["Ann",5]"#, "Ann pays 5", "argument 2 of loc-args is a number, and the device inserts its JSON text"),
            (
                #"[true,"Bob"]"#, "true pays Bob",
                "argument 1 of loc-args is true or false, and the device inserts its JSON text"
            ),
            (
                #"["Ann",["Bob"]]"#, "literal",
                "argument 2 of loc-args is an array, which has no text: in place of the app's text, the device shows "
                    + "the literal body or, without one, no body; if no text is left, it shows the placeholder"
            ),
        ])
    func otherArguments(_ arguments: String, body: String, note: String) throws {
        try place.write(Data(#"{"PAY":"%1$@ pays %2$@"}"#.utf8), to: "t.json")
        let payload = #"{"aps":{"alert":{"loc-key":"PAY","body":"literal","loc-args":\#(arguments)}}}"#
        let sealed = try place.seal(to: "phone", payload: Data(payload.utf8))
        #expect(sealed.exit == 0 && sealed.stderr == "pushcrypt: \(note)\n", "\(sealed)")
        let json = try object(sealed.payload, "--strings", "t.json")
        #expect((json["after"] as? [String: Any])?["body"] as? String == body, "\(json)")
        #expect((json["notes"] as? [String])?.contains(note) == true, "\(json)")
        #expect(json["restored"] as? Bool == (body != "literal"), "\(json)")
    }

    @Test(
        "an argument without text and no literal body: the phone shows the title, and without a title the placeholder",
        arguments: [(#""title":"T","#, "restored"), ("", "placeholder")])
    func argumentWithoutLiteral(_ title: String, outcome: String) throws {
        try place.write(Data(#"{"PAY":"%@ pays"}"#.utf8), to: "t.json")
        let payload = #"{"aps":{"alert":{\#(title)"loc-key":"PAY","loc-args":[["Bob"]]}}}"#
        let sealed = try place.seal(to: "phone", payload: Data(payload.utf8))
        #expect(sealed.stderr.contains("if no text is left, it shows the placeholder"), "\(sealed)")
        let json = try object(sealed.payload, "--strings", "t.json")
        #expect(json["outcome"] as? String == outcome, "\(json)")
    }

    @Test("lines of a batch with arguments that aren't strings are sealed, and each answer notes them")
    func batchArguments() throws {
        let lines = [#"["a"]"#, #"["a",2]"#, "[null]"].map {
            #"{"payload":{"aps":{"alert":{"title-loc-key":"K","title-loc-args":\#($0)}}}}"#
        }
        let output = try place.run(
            ["seal", "--batch", "--to", "phone", "--topic", Workplace.topic],
            stdin: Data(lines.joined(separator: "\n").utf8))
        #expect(output.exit == 0 && output.stderr.contains("a part of 2 payloads"), "\(output)")
        let answers = output.text.linesWithNewline
        try #require(answers.count == 3)
        #expect(!answers[0].contains("title-loc-args"))
        #expect(answers[1].contains("argument 2 of title-loc-args is a number, and the device inserts its JSON text"))
        #expect(answers[2].contains("argument 1 of title-loc-args is null, and the device inserts an empty text"))
    }

    @Test("an empty key loses nothing: the literal text beside it is restored", arguments: ["", " "])
    func emptyKey(_ key: String) throws {
        let payload = Data(#"{"aps":{"alert":{"loc-key":"\#(key)","body":"B","title-loc-key":""}}}"#.utf8)
        let json = try object(place.sealed(to: "phone", payload: payload))
        #expect(json["restored"] as? Bool == true && json["missingTexts"] == nil && json["notes"] == nil, "\(json)")
        #expect((json["after"] as? [String: Any])?["body"] as? String == "B", "\(json)")
    }

    @Test(
        "a text of the app with another specifier than %@ isn't restored: the verdict has the key, the specifier and the remedy",
        arguments: [
            ("%i new", "%i"), ("%lld", "%lld"), ("%1$ld of %2$@", "%1$ld"), ("%s", "%s"), ("%5.2f", "%5.2f"),
            ("%#@count@", "%#@count@"), ("50%off", "%o"),
        ])
    func specifiers(_ text: String, specifier: String) throws {
        try place.write(JSONSerialization.data(withJSONObject: ["COUNT": text]), to: "t.json")
        for literal in ["", #","body":"literal""#] {
            let alert = #"{"loc-key":"COUNT","loc-args":["5","Zoë"]\#(literal)}"#
            let sealed = try place.sealed(to: "phone", payload: Data(#"{"aps":{"alert":\#(alert)}}"#.utf8))
            let json = try object(sealed, "--strings", "t.json")
            let verdict = try #require(json["verdict"] as? String)
            #expect(verdict.contains("COUNT") && verdict.contains("\(specifier)") && verdict.contains("write"))
            #expect(json["restored"] as? Bool == false && json["missingTexts"] == nil, "\(json)")
            let shown = (json["after"] as? [String: Any])?["body"] as? String
            #expect(shown == (literal.isEmpty ? "Open the app to read it" : "literal"), "\(json)")
        }
    }

    @Test(
        "a text of the app in which nobody can see a character isn't restored, and its key is named",
        arguments: [("", "[]"), ("   ", "[]"), ("%@", #"[""]"#), ("%@", #"["\u200b"]"#)], [true, false])
    func invisibleTexts(_ app: (text: String, arguments: String), hasTitle: Bool) throws {
        try place.write(JSONSerialization.data(withJSONObject: ["KEY": app.text]), to: "t.json")
        let title = hasTitle ? #""title":"T","# : ""
        let alert = #"{\#(title)"loc-key":"KEY","loc-args":\#(app.arguments)}"#
        let sealed = try place.sealed(to: "phone", payload: Data(#"{"aps":{"alert":\#(alert)}}"#.utf8))
        let json = try object(sealed, "--strings", "t.json")
        #expect(json["restored"] as? Bool == false && json["missingTexts"] == nil, "\(json)")
        #expect((json["verdict"] as? String)?.contains("text of KEY with its arguments has no visible") == true)
        #expect(json["outcome"] as? String == (hasTitle ? "restored" : "placeholder"), "\(json)")
    }

    @Test("a literal text in the place of one that the app lacks is noted with the key; without texts, the option is")
    func replacedTexts() throws {
        try place.write(Data(#"{"OTHER":"x"}"#.utf8), to: "t.json")
        let payload = Data(#"{"aps":{"alert":{"loc-key":"KEY","body":"literal"}}}"#.utf8)
        let sealed = try place.sealed(to: "phone", payload: payload)
        for (options, note) in [
            (["--strings", "t.json"], "the app's texts don't have KEY: the literal text beside it is shown"),
            ([], "the phone has no texts of the app: give --strings"),
        ] {
            let json = try place.run(
                ["simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
                stdin: sealed
            ).object()
            #expect(json["restored"] as? Bool == true && json["notes"] as? [String] == [note], "\(json)")
        }
    }

    @Test("a key of a catalog without a text is missing, one with plural forms is named, and one by device is shown")
    func catalogWithoutText() throws {
        let catalog = #"""
            {"sourceLanguage":"en","version":"1.0","strings":{"A":{},"B":{"localizations":{"en":{"variations":
            {"plural":{"one":{"stringUnit":{"state":"translated","value":"%d message"}}}}}}},
            "C":{"localizations":{"en":{"variations":{"device":{"ipad":{"stringUnit":{"value":"no"}},
            "other":{"stringUnit":{"value":"other"}},"iphone":{"stringUnit":{"value":"phone"}}}}}}}}}
            """#
        try place.write(Data(catalog.utf8), to: "L.xcstrings")
        let payload = Data(#"{"aps":{"alert":{"title-loc-key":"A","loc-key":"B","subtitle-loc-key":"C"}}}"#.utf8)
        let json = try object(place.sealed(to: "phone", payload: payload), "--strings", "L.xcstrings")
        #expect(json["missingTexts"] as? [String] == ["A"], "\(json)")
        #expect((json["verdict"] as? String)?.contains("the app's text of B has plural forms") == true, "\(json)")
        #expect((json["after"] as? [String: Any])?["subtitle"] as? String == "phone", "\(json)")
    }

    @Test("a key with plural forms in a .stringsdict file is named with its specifier, and isn't called missing")
    func stringsdict() throws {
        let file = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>HI</key><string>Hi</string><key>COUNT</key>
            <dict><key>NSStringLocalizedFormatKey</key><string>%#@files@</string><key>files</key><dict>
            <key>NSStringFormatSpecTypeKey</key><string>NSStringPluralRuleType</string>
            <key>NSStringFormatValueTypeKey</key><string>d</string><key>other</key><string>%d files</string></dict></dict>
            </dict></plist>
            """
        try place.write(Data(file.utf8), to: "Localizable.stringsdict")
        let payload = Data(#"{"aps":{"alert":{"title-loc-key":"HI","loc-key":"COUNT","loc-args":["2"]}}}"#.utf8)
        let json = try object(place.sealed(to: "phone", payload: payload), "--strings", "Localizable.stringsdict")
        #expect((json["verdict"] as? String)?.contains("text of COUNT has plural forms (%#@files@)") == true, "\(json)")
        #expect(
            json["missingTexts"] == nil && (json["after"] as? [String: Any])?["title"] as? String == "Hi", "\(json)")
    }

    @Test("what a push asks of the device beside the text is noted: retraction, quiet, badge, self-test")
    func instructions() throws {
        let first = try place.seal(to: "phone", "--show-id")
        let id = String(first.stderr.split(separator: " ").last?.dropLast() ?? "")
        let unknown = "AAAAAAAAAAAAAAAAAAAAAA"
        let second = try place.seal(
            to: "phone", "--retract", id, "--retract", unknown, "--quiet", "--badge-add", "2", "--self-test",
            payload: Data(#"{"aps":{"alert":"Gone"}}"#.utf8))
        #expect(second.isSuccess, "\(second)")
        let output = try simulate(first.stdout + second.stdout, "--json")
        let last = try #require(output.text.split(separator: "\n").last)
        let json = try #require(JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
        #expect(
            json["notes"] as? [String] == [
                "takes back push 1", "takes back 1 message that this phone hasn't got from this sender",
                "quiet: an app with the entitlement for filtering shows nothing", "adds 2 to the badge",
                "a self-test: the extension reports that it works",
            ], "\(json)")
    }

    @Test("an interruption level that Apple doesn't have, and a member that is no address, are noted")
    func strangeMembers() throws {
        let payload = Data(#"{"aps":{"alert":"x","interruption-level":"urgent"},"a":{"b":["https://a.b/c"]}}"#.utf8)
        let json = try object(place.sealed(to: "phone", payload: payload), "--attachment-member", "a.b")
        #expect(
            json["notes"] as? [String] == [
                "aps.interruption-level is a string and not one of passive, active, time-sensitive and critical: the device "
                    + "ignores it",
                "the member a.b is not a string, so it is no address of an attachment",
            ])
    }

    @Test("several payloads of which one is on several lines are refused with the remedy")
    func severalIndented() throws {
        let pretty = Data("{\n  \"aps\": {}\n}\n".utf8)
        let output = try simulate(pretty + pretty)
        expectRefusal(output, 65, saying: "put each on a line of its own")
    }

    @Test("a payload that is a string in its line is refused with this reason")
    func payloadAsString() throws {
        let json = try object(Data(#"{"payload":"{\"aps\":{}}"}"#.utf8))
        #expect(
            (json["verdict"] as? String)?.contains("it is a string: the JSON object in it is needed") == true, "\(json)"
        )
    }

    @Test("in a narrow terminal the two notifications are below each other, and no line is longer than the terminal")
    func narrow() throws {
        let sealed = try place.sealed(to: "phone")
        try place.write(sealed, to: "p.json")
        let output = try place.shell(
            #"COLUMNS=40 "$PUSHCRYPT" simulate --keys phone --topic \#(Workplace.topic) --at \#(Workplace.now) < p.json"#
        )
        #expect(output.text.split(separator: "\n").allSatisfy { $0.count <= 40 }, "\(output)")
        #expect(output.text.contains("Without the extension\n") && output.text.contains("All clear."))
    }

    @Test("the same address twice with --serve, and a folder to serve, are refused")
    func refusedOptions() throws {
        try place.write(Data([1]), to: "p.png")
        let sealed = try place.sealed(to: "phone")
        let twice = ["--serve", "https://a.b/c=p.png", "--serve", "https://a.b/c=p.png"]
        for (options, text) in [
            (twice, "more than once"), (["--serve", "https://a.b/c=."], "is a folder"),
        ] {
            let output = try place.run(
                ["simulate", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
                stdin: sealed)
            #expect(
                output.exit != 0 && output.stderr.contains(text) && !output.stderr.contains("key file"), "\(output)")
        }
    }
}
