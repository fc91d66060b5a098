import Foundation
import PushCryptTestSupport
import Testing

/// What `simulate` says of a push beside what is shown, of its input, and of the options for the app of the phone.
@Suite("notes of simulate", .ownThreads) struct SimulateNotesTests {
    private let phone: SimulatedPhone
    private var place: Workplace { phone.place }

    init() throws { phone = try SimulatedPhone() }

    /// A push with this alert on a phone whose app has these texts.
    private func object(alert: String, texts: [String: String]) throws -> [String: Any] {
        try place.write(JSONSerialization.data(withJSONObject: texts), to: "t.json")
        return try phone.object(phone.sealed(alert: alert), "--strings", "t.json")
    }

    @Test("a member whose name has a dot is found by its whole name, as the extension finds it")
    func memberWithDot() throws {
        try place.write(SimulatedPhone.png, to: "p")
        let sealed = try phone.sealed(#"{"aps":{"alert":"x"},"data.image":"https://a.b/p"}"#)
        let output = try phone.run(sealed, ["--serve", "https://a.b/p=p", "--attachment-member", "data.image"])
        #expect(output.isSuccess && output.text.contains("[png, 28 bytes]"), "\(output)")
    }

    @Test(
        "a text with too few arguments, or with one that has no text, isn't called restored",
        arguments: [
            (#""loc-args":["Zoë","hi","x"]"#, nil), (#""loc-args":[1,null]"#, nil),
            (#""loc-args":["Zoë"]"#, ", but FROM needs 2 arguments, and loc-args has 1"),
            (
                #""loc-args":[1,{}],"body":"B""#,
                ", but the app's text of FROM gets an object or array in loc-args: send strings"
            ),
        ] as [(String, String?)])
    func arguments(_ arguments: String, flaw: String?) throws {
        let json = try object(alert: #"{"loc-key":"FROM",\#(arguments)}"#, texts: ["FROM": "%2$@ (%1$@, 100%%)"])
        #expect(json.isRestored == (flaw == nil) && json.verdict == "restored" + (flaw ?? ""), "\(json)")
    }

    @Test(
        "an argument that isn't a string keeps its position on the phone, and simulate and seal note it",
        arguments: [
            (#"[null,"Bob"]"#, " pays Bob", "argument 1 of loc-args is null, and the device inserts an empty text"),
            (#"["Ann",["Bob"]]"#, "literal", "argument 2 of loc-args is an array, which has no text: in place of"),
        ])
    func otherArguments(_ arguments: String, body: String, note: String) throws {
        let alert = #"{"loc-key":"PAY","body":"literal","loc-args":\#(arguments)}"#
        let sealed = try place.seal(to: "phone", payload: Data(#"{"aps":{"alert":\#(alert)}}"#.utf8))
        #expect(sealed.exit == 0 && sealed.stderr.hasPrefix("pushcrypt: \(note)"), "\(sealed)")
        let json = try object(alert: alert, texts: ["PAY": "%1$@ pays %2$@"])
        #expect(json.shown("body") == body && json.isRestored == (body != "literal"), "\(json)")
        #expect(json.texts("notes")?.contains { $0.hasPrefix(note) } == true, "\(json)")
    }

    @Test(
        "a text of the app with another specifier than %@ isn't restored: the verdict has the key, the specifier and the remedy",
        arguments: [("%i new", "%i"), ("%1$ld of %2$@", "%1$ld"), ("%#@count@", "%#@count@"), ("50%off", "%o")])
    func specifiers(_ text: String, specifier: String) throws {
        for literal in ["", #","body":"literal""#] {
            let json = try object(
                alert: #"{"loc-key":"COUNT","loc-args":["5","Zoë"]\#(literal)}"#, texts: ["COUNT": text])
            #expect(["COUNT", specifier, "write"].allSatisfy(json.verdict.contains), "\(json)")
            #expect(!json.isRestored && json["missingTexts"] == nil, "\(json)")
            #expect(json.shown("body") == (literal.isEmpty ? "Open the app to read it" : "literal"), "\(json)")
        }
    }

    @Test(
        "a text of the app in which nobody can see a character isn't restored, and its key is named",
        arguments: [("   ", "[]"), ("%@", #"["\u200b"]"#)], [true, false])
    func invisibleTexts(_ app: (text: String, arguments: String), hasTitle: Bool) throws {
        let title = hasTitle ? #""title":"T","# : ""
        let json = try object(
            alert: #"{\#(title)"loc-key":"KEY","loc-args":\#(app.arguments)}"#, texts: ["KEY": app.text])
        #expect(!json.isRestored && json.verdict.contains("text of KEY with its arguments has no visible"), "\(json)")
        #expect(json.text("outcome") == (hasTitle ? "restored" : "placeholder"), "\(json)")
    }

    @Test("a literal text in the place of one that the app lacks is noted with the key; without texts, the option is")
    func replacedTexts() throws {
        let alert = #"{"loc-key":"KEY","body":"literal"}"#
        for (json, note) in [
            (try object(alert: alert, texts: ["OTHER": "x"]), "the app's texts don't have KEY"),
            (try phone.object(phone.sealed(alert: alert)), "the phone has no texts of the app: give --strings"),
        ] {
            #expect(json.isRestored && json.texts("notes")?.first?.contains(note) == true, "\(json)")
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
        let sealed = try phone.sealed(alert: #"{"title-loc-key":"A","loc-key":"B","subtitle-loc-key":"C"}"#)
        let json = try phone.object(sealed, "--strings", "L.xcstrings")
        #expect(json.texts("missingTexts") == ["A"] && json.shown("subtitle") == "phone", "\(json)")
        #expect(json.verdict.contains("the app's text of B has plural forms"), "\(json)")
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
        let sealed = try phone.sealed(alert: #"{"title-loc-key":"HI","loc-key":"COUNT","loc-args":["2"]}"#)
        let json = try phone.object(sealed, "--strings", "Localizable.stringsdict")
        #expect(json.verdict.contains("text of COUNT has plural forms (%#@files@)"), "\(json)")
        #expect(json["missingTexts"] == nil && json.shown("title") == "Hi", "\(json)")
    }

    @Test("what a push asks of the device beside the text is noted: retraction, quiet, badge, self-test")
    func instructions() throws {
        let first = try place.seal(to: "phone", "--show-id")
        let id = String(first.stderr.split(separator: " ").last?.dropLast() ?? "")
        let second = try place.seal(
            to: "phone", "--retract", id, "--retract", "AAAAAAAAAAAAAAAAAAAAAA", "--quiet", "--badge-add", "2",
            "--self-test", payload: Data(#"{"aps":{"alert":"Gone"}}"#.utf8))
        #expect(second.isSuccess, "\(second)")
        let notes = try phone.objects([first.stdout, second.stdout])[1].texts("notes") ?? []
        let phrases = ["takes back push 1", "takes back 1 message", "quiet: ", "adds 2 to the badge", "a self-test"]
        #expect(notes.count == 5 && zip(notes, phrases).allSatisfy { $0.hasPrefix($1) }, "\(notes)")
    }

    @Test("an interruption level that Apple doesn't have, and a member that is no address, are noted")
    func strangeMembers() throws {
        let payload = #"{"aps":{"alert":"x","interruption-level":"urgent"},"a":{"b":["https://a.b/c"]}}"#
        let notes = try phone.object(phone.sealed(payload), "--attachment-member", "a.b").texts("notes") ?? []
        #expect(notes.count == 2 && notes[0].hasPrefix("aps.interruption-level is a string and not one of"), "\(notes)")
        #expect(notes.last?.hasPrefix("the member a.b is not a string") == true, "\(notes)")
    }

    @Test("several payloads of which one is on several lines are refused with the remedy")
    func severalIndented() throws {
        let pretty = Data("{\n  \"aps\": {}\n}\n".utf8)
        expectRefusal(try phone.run(pretty + pretty), 65, saying: "put each on a line of its own")
    }

    @Test("in a narrow terminal the two notifications are below each other, and no line is longer than the terminal")
    func narrow() throws {
        try place.write(place.sealed(to: "phone"), to: "p.json")
        let output = try place.shell(
            #"COLUMNS=40 "$PUSHCRYPT" simulate --keys phone --topic \#(Workplace.topic) --at \#(Workplace.now) < p.json"#
        )
        #expect(output.text.split(separator: "\n").allSatisfy { $0.count <= 40 }, "\(output)")
        #expect(output.text.contains("Without the extension\n") && output.text.contains("All clear."))
    }

    @Test(
        "a push that isn't sealed is shown with --unsealed shown, and its texts by key are the app's; otherwise it isn't",
        arguments: [
            ("shown", "original", nil, "Hallo Zoë", 0), ("refused", "placeholder", "notSealed", "New message", 65),
        ]
            as [(String, String, String?, String, Int32)])
    func unsealed(_ choice: String, outcome: String, failure: String?, title: String, exit: Int32) throws {
        try phone.place.write(Data(#"{"HI":"Hallo %@","COUNT":"%d"}"#.utf8), to: "t.json")
        func push(_ key: String) -> Data {
            let alert = #"{"title-loc-key":"\#(key)","title-loc-args":["Zoë"]}"#
            return Data(#"{"aps":{"alert":\#(alert),"badge":2,"mutable-content":1}}"#.utf8)
        }
        let options = ["--unsealed", choice, "--strings", "t.json"]
        let object = try phone.objects([push("HI")], options, exit: exit)[0]
        #expect(object.text("outcome") == outcome && object.text("failure") == failure, "\(object)")
        #expect(object["restored"] as? Bool == false && object.object("after").text("title") == title, "\(object)")
        #expect(object["badge"] as? Int == (choice == "shown" ? 2 : nil))
        guard choice == "shown" else { return }
        #expect(object.text("verdict") == "shown although it isn't sealed")
        #expect(try phone.run(push("HI"), options).text.contains("✓ shown although it isn't sealed"))
        // Without its text it isn't shown: no other text is there.
        let output = try phone.run(push("COUNT"), options + ["--json"])
        let unshown = try output.object()
        #expect(unshown.text("outcome") == "placeholder" && output.exit == 65, "\(output)")
        #expect(unshown.text("verdict")?.contains("text of COUNT has the specifier %d") == true, "\(output)")
        #expect(!output.stderr.contains("diagnose"), "\(output)")
    }

    @Test(
        "a push that isn't sealed is shown without its picture, and a note says so if a member or a file is named",
        arguments: [["--attachment-member", "image"], ["--serve", "https://a.b/p=p"], []])
    func unsealedPicture(_ options: [String]) throws {
        try phone.place.write(Data([1]), to: "p")
        let push = Data(#"{"aps":{"alert":"Hi","mutable-content":1},"image":"https://a.b/p"}"#.utf8)
        let object = try phone.objects([push], ["--unsealed", "shown"] + options)[0]
        let note = "shown without attachments: the extension fetches none for a push that isn't sealed"
        #expect(object.texts("notes") == (options.isEmpty ? nil : [note]), "\(object)")
    }

    @Test("each push shows the receipt that the phone posts, by push_id")
    func receipts() throws {
        let push = try phone.sealed(#"{"aps":{"alert":"Hi"},"push_id":"m-17"}"#)
        let form = try phone.objects([push, push], ["--receipts", "form"], exit: 65)
        let bodies = form.map { $0.texts("receipts") ?? [] }
        #expect(form.allSatisfy { $0["notes"] == nil }, "\(form)")
        #expect(bodies.map(\.count) == [1, 1] && bodies[0][0].contains("&push=m-17&outcome=opened&time="), "\(form)")
        #expect(bodies[1][0].contains("&outcome=replayed&"), "\(form)")
        let json = try phone.objects([push], ["--receipts", "json"])[0].texts("receipts") ?? []
        let receipt = try JSONSerialization.jsonObject(with: Data(#require(json.first).utf8)) as? [String: Any]
        #expect(receipt?.text("push") == "m-17" && receipt?.text("outcome") == "opened", "\(json)")
        let text = try phone.run(push, ["--receipts", "form"]).text.split(whereSeparator: \.isWhitespace).joined()
        #expect(text.contains("thephonepoststhereceiptid=") && text.contains("push=m-17&outcome=opened"), "\(text)")
        #expect(try phone.objects([push])[0]["receipts"] == nil)
        let unsealed = Data(#"{"aps":{"alert":"Hi","mutable-content":1}}"#.utf8)
        #expect(try phone.objects([unsealed], ["--receipts", "form", "--unsealed", "shown"])[0]["receipts"] == nil)
    }
}
