import Foundation
import PushCryptTestSupport
import Testing

@Suite("simulate", .ownThreads) struct SimulateTests {
    private let phone: SimulatedPhone
    private var place: Workplace { phone.place }

    init() throws { phone = try SimulatedPhone() }

    /// A line with a sealed push and these members.
    private func line(_ members: String) throws -> Data {
        Data(#"{"payload":\#(String(decoding: try place.sealed(to: "phone"), as: UTF8.self)),\#(members)}"#.utf8)
    }

    @Test("a sealed push is shown with its placeholder beside its text, and the exit status is 0")
    func restored() throws {
        let output = try phone.run(place.sealed(to: "phone"))
        #expect(output.isSuccess, "\(output)")
        for text in ["New message", "Results", "All clear.", "✓ restored"] { #expect(output.text.contains(text)) }
        let json = try phone.object(place.sealed(to: "phone"))
        #expect(json.object("before").text("title") == "New message" && json.shown("title") == "Results")
        #expect(json.isRestored && json["failure"] is NSNull && json["badge"] as? Int == 2)
    }

    @Test(
        "the headers of a line are those of the request: APNs refuses another topic, and the extension runs only for an alert",
        arguments: [
            (#""headers":{"apns-topic":"com.example.app","apns-push-type":"alert"}"#, "restored", nil),
            (#""headers":{"Apns-Topic":"com.example.other"}"#, "refused", "400 DeviceTokenNotForTopic"),
            (#""headers":{"apns-topic":["com.example.other"]}"#, "refused", "400 DeviceTokenNotForTopic"),
            (#""topic":"com.example.other""#, "refused", "400 DeviceTokenNotForTopic"),
            (#""headers":{"apns-push-type":"background"}"#, "nothing", nil), (#""n":1"#, "restored", nil),
        ])
    func headers(_ members: String, _ outcome: String, _ refused: String?) throws {
        let json = try phone.object(line(members))
        #expect(json.text("outcome") == outcome && json.text("refused") == refused, "\(json)")
    }

    @Test(
        "a refusal because of the topic names both topics",
        arguments: [
            (#"{"apns-topic":"com.example.other"}"#, "apns-topic is com.example.other", "needs com.example.app"),
            (#"{"apns-push-type":"voip"}"#, "apns-topic is com.example.app", "app needs com.example.app.voip"),
            (#"{"apns-push-type":"mdm"}"#, "apns-topic is com.example.app", "app has no topic"),
        ])
    func topics(_ headers: String, _ given: String, _ needed: String) throws {
        let verdict = try phone.object(line(#""headers":\#(headers)"#)).verdict
        #expect(verdict.contains(given) && verdict.contains(needed), "\(verdict)")
    }

    @Test(
        "headers that can't be those of a request to APNs are refused with the line and what is wrong",
        arguments: [
            (#""x""#, "headers isn't an object"), (#"{"apns_topic":"a"}"#, "apns_topic isn't a header"),
            (#"{"apns-topic":{}}"#, "apns-topic isn't a string"),
        ])
    func wrongHeaders(_ headers: String, _ reason: String) throws {
        let output = try phone.run(line(#""headers":\#(headers)"#))
        #expect(output.exit == 65 && output.stderr.contains("line 1: " + reason), "\(output)")
    }

    @Test("a push for another key shows the placeholder and its class, and the exit status is 65")
    func unknownKey() throws {
        try place.create("other", "recipient", "--psk")
        let output = try phone.run(place.sealed(to: "other"))
        #expect(output.exit == 65 && output.text.contains("✗ unknownKey: the placeholder is shown"), "\(output)")
        #expect(!output.text.contains("Results") && output.stderr.contains("pushcrypt diagnose"), "\(output)")
    }

    @Test(
        "options of the phone change what is shown, and diagnose isn't named where it can't say more than the verdict",
        arguments: [
            (["--locked"], "keyLocked"), (["--at", "2027-03-01T09:00:00Z"], "expired"),
            (["--at", "2026-02-01T09:00:00Z"], "notYetValid"),
        ])
    func options(_ options: [String], failure: String) throws {
        let output = try phone.run(place.sealed(to: "phone"), options + ["--json"])
        let json = try output.object()
        #expect(json.text("failure") == failure && json.shown("title") == "New message", "\(output)")
        #expect(output.exit == 65 && output.stderr.contains("1 of 1 payloads not completely restored"), "\(output)")
        #expect(failure == "notYetValid" || !output.stderr.contains("diagnose"), "\(output)")
    }

    @Test(
        "a picture comes from --serve, and an unknown address shows the text without it",
        arguments: [
            (["--serve", "https://example.com/p.png=p.png"], nil, "restored"),
            ([], "attachmentFailed", "The attachment of image_url isn't on the simulated network."),
        ] as [([String], String?, String)])
    func attachment(_ options: [String], failure: String?, verdict: String) throws {
        try place.write(SimulatedPhone.png, to: "p.png")
        let sealed = try phone.sealed(
            #"{"aps":{"alert":{"title":"Results"}},"image_url":"https://example.com/p.png"}"#)
        let output = try phone.run(sealed, ["--json", "--attachment-member", "image_url"] + options)
        let json = try output.object()
        #expect(json.shown("title") == "Results" && json.text("failure") == failure, "\(output)")
        #expect(json.text("outcome") == "restored" && json.verdict.contains(verdict), "\(json)")
        #expect((json["attachments"] as? [[String: Any]])?.first?["bytes"] as? Int == (failure == nil ? 28 : nil))
        #expect(json.texts("missing") == (options.isEmpty ? ["https://example.com/p.png"] : nil))
        #expect(output.exit == (failure == nil ? 0 : 65))
    }

    @Test("an indented payload, lines of payloads and lines of seal --batch are read; an empty stdin is refused")
    func input() throws {
        let sealed = try place.sealed(to: "phone")
        let pretty = try JSONSerialization.data(
            withJSONObject: JSONSerialization.jsonObject(with: sealed), options: .prettyPrinted)
        #expect(try phone.run(pretty).isSuccess)
        let broken = try phone.object(Data("{\n\"aps\": {},\n}".utf8))
        #expect(broken["number"] as? Int == 1 && broken["line"] as? Int == 1)
        #expect(broken.verdict.contains("JSON refused at byte 13"), "\(broken)")
        let other = try place.sealed(to: "phone").dropLast()
        let lines = sealed + Data("\n\n{\"payload\":".utf8) + other + Data(",\"to\":\"x\",\"id\":\"i\"}\n".utf8)
        let output = try phone.run(lines, ["--json"])
        let objects = try output.objects()
        #expect(output.isSuccess && objects.count == 2, "\(output)")
        #expect(objects[1]["number"] as? Int == 2 && objects[1]["line"] as? Int == 4)
        #expect(objects[1].text("to") == "x" && objects[1].text("id") == "i" && objects[1]["token"] == nil)
        #expect(try phone.run(sealed + Data("\n\n{}".utf8)).text.contains("2. (line 4) 2 of 4096 bytes"))
        expectRefusal(try phone.run(Data()), 65, saying: "stdin has no payload")
    }

    @Test(
        "one phone receives all lines: a second copy of a message is replayed, and a bad line doesn't stop the others")
    func several() throws {
        let sealed = try place.sealed(to: "phone")
        let lines = [Data("nonsense".utf8), sealed, sealed, Data(#"{"aps":{"alert":"x"}}"#.utf8)]
        let objects = try phone.objects(lines, exit: 65)
        #expect(objects.map { $0["number"] as? Int } == [1, 2, 3, 4])
        #expect(objects.map { $0.text("failure") } == [nil, nil, "replayed", nil])
        #expect(objects.map(\.isRestored) == [false, true, false, false])
        #expect(objects[0].text("refused") != nil && objects[3].verdict.contains("mutable-content"))
    }

    @Test(
        "keys of texts are shown in the language of --strings",
        arguments: [
            ("de.strings", nil, #""REMINDER" = "Erinnerung an %@";"#, "Erinnerung an Zoë"),
            ("de.json", nil, #"{"REMINDER":"Erinnerung an %@"}"#, "Erinnerung an Zoë"),
            (
                "all.xcstrings", "fr",
                #"{"sourceLanguage":"en","strings":{"REMINDER":{"localizations":{"fr":{"stringUnit":{"state":"translated","value":"Rappel de %@"}}}}},"version":"1.0"}"#,
                "Rappel de Zoë"
            ),
        ])
    func strings(_ name: String, language: String?, text: String, title: String) throws {
        try place.write(Data(text.utf8), to: name)
        let sealed = try phone.sealed(alert: #"{"title-loc-key":"REMINDER","title-loc-args":["Zoë"]}"#)
        let options = ["--json", "--strings", name] + (language.map { ["--language", $0] } ?? [])
        #expect(try phone.run(sealed, options).object().shown("title") == title)
    }

    @Test(
        "the system's language is the most exact one that a catalog has, and otherwise its source language, with a note",
        arguments: [("de-CH", "Termin", "de"), ("de", "Termin", nil), ("it", "Appointment", "en")]
            as [(String, String, String?)])
    func language(_ wanted: String, title: String, shown: String?) throws {
        func text(_ value: String) -> String { #"{"stringUnit":{"state":"translated","value":"\#(value)"}}"# }
        let (english, german) = (text("Appointment"), text("Termin"))
        let catalog =
            #"{"sourceLanguage":"en","strings":{"T":{"localizations":{"en":\#(english),"de":\#(german)}}},"version":"1.0"}"#
        try place.write(Data(catalog.utf8), to: "all.xcstrings")
        let sealed = try phone.sealed(alert: #"{"title-loc-key":"T"}"#)
        let output = try phone.run(sealed, ["--json", "--strings", "all.xcstrings", "--language", wanted])
        #expect(try output.exit == 0 && output.object().shown("title") == title)
        let note = shown.map { "has no texts in \(wanted): those in \($0) are shown\n" }
        #expect(note.map { output.stderr.contains($0) } ?? output.stderr.isEmpty, "\(output)")
    }

    @Test(
        "a push whose texts the phone doesn't have isn't restored, and the keys are named",
        arguments: [
            (#""loc-key":"BODY""#, [], ["TITLE", "BODY"], "give --strings"),
            (
                #""loc-key":"BODY""#, ["--strings", "texts.json"], ["TITLE", "BODY"],
                "the app's texts don't have them: TITLE, BODY"
            ),
            (#""body":"Hi""#, [], ["TITLE"], "that the app doesn't have: TITLE"),
        ] as [(String, [String], [String], String)])
    func missingTexts(_ body: String, _ options: [String], keys: [String], verdict: String) throws {
        try place.write(Data(#"{"OTHER":"x"}"#.utf8), to: "texts.json")
        let sealed = try phone.sealed(alert: #"{"title-loc-key":"TITLE",\#(body)}"#)
        let json = try phone.run(sealed, options + ["--json"]).object()
        #expect(!json.isRestored && json.text("failure") == (keys.count == 1 ? nil : "malformed"), "\(json)")
        #expect(json.text("outcome") == (keys.count == 1 ? "restored" : "placeholder"), "\(json)")
        #expect(json.texts("missingTexts") == keys && json.verdict.contains(verdict), "\(json)")
    }

    @Test(
        "each outcome has its name, and the verdict explains what is wrong with an invalid payload",
        arguments: [
            ("{", "refused", "JSON refused at byte 1: the text ends"),
            (#"{"aps":1}"#, "refused", "its member aps isn't an object"),
            (#"{"x":{}}"#, "refused", "it has no member aps"),
            (#"[{"aps":{}}]"#, "refused", "it is an array: a JSON object is needed"),
            (#"{"payload":"{\"aps\":{}}"}"#, "refused", "it is a string: the JSON object in it is needed"),
            (#"{"aps":{"alert":"x"}}"#, "original", "the payload isn't sealed, and aps.mutable-content isn't 1"),
            (#"{"aps":{"badge":3,"sound":"ping.caf"}}"#, "nothing", "no alert with text"),
            (#"{"aps":{"alert":"x","mutable-content":1}}"#, "placeholder", "notSealed"),
        ])
    func outcome(_ payload: String, outcome: String, verdict: String) throws {
        let json = try phone.object(Data(payload.utf8))
        #expect(json.text("outcome") == outcome && json.verdict.contains(verdict), "\(json)")
        guard outcome == "nothing" else { return }
        #expect(json["badge"] as? Int == 3 && json.text("sound") == "ping.caf")
    }

    @Test("a push to a device's key of a shared keyset: without --device the verdict asks for it")
    func device() throws {
        try place.create("fleet", "shared")
        let sealed = try place.sealed(to: "fleet", "--device", "phone-1")
        let output = try phone.run(sealed, ["--json"], keys: "fleet")
        #expect(try output.object().verdict.contains("a push to one device opens only with --device ID"), "\(output)")
        #expect(try phone.run(sealed, ["--device", "phone-1"], keys: "fleet").isSuccess)
    }

    @Test("the verdict names the missing key, the phone's or the sender's, as open does")
    func missingKey() throws {
        let sender = try place.create("backend", "sender")
        try place.create("stranger", "sender")
        try place.export("stranger", to: "stranger.json")
        let signed = try place.sealed(to: "phone", "--sign-with", "backend")
        let untrusted = try phone.object(signed).verdict
        #expect(untrusted.contains("with --trust") && untrusted.contains("signed by key \(sender)"), "\(untrusted)")
        let stranger = try phone.object(signed, "--trust", "stranger.json").verdict
        #expect(stranger.contains("The push is signed by a key that --trust doesn't have") && stranger.contains(sender))
        let unsigned = try phone.object(place.sealed(to: "phone"), "--trust", "stranger.json").verdict
        #expect(unsigned.contains("The push isn't signed"), "\(unsigned)")
        let kid = try place.create("other", "recipient", "--psk")
        let other = try phone.object(place.sealed(to: "other")).verdict
        #expect(other.contains("that --keys doesn't have (payload: sealed to key \(kid);"), "\(other)")
    }

    @Test("the member with a served address that isn't requested is named")
    func forgottenMember() throws {
        try place.write(SimulatedPhone.png, to: "p.png")
        let sealed = try phone.sealed(#"{"aps":{"alert":"x"},"image_url":"https://example.com/p.png"}"#)
        let output = try phone.run(sealed, ["--serve", "https://example.com/p.png=p.png"])
        #expect(output.exit == 0 && output.text.contains("--attachment-member image_url"), "\(output)")
    }

    @Test(
        "the verdict has the reason why an attachment was refused",
        arguments: [
            ("http://example.com/p.png", "p.png", "the address is not an https address"),
            ("https://example.com/p.png", "p.txt", "the file is of no supported type"),
        ])
    func refusedAttachment(_ address: String, file: String, reason: String) throws {
        try place.write(SimulatedPhone.png, to: "p.png")
        try place.write(Data("This is a text, and no picture.".utf8), to: "p.txt")
        let json = try phone.object(
            phone.sealed(#"{"aps":{"alert":"x"},"image_url":"\#(address)"}"#), "--attachment-member", "image_url",
            "--serve", "\(address)=\(file)")
        #expect(json.text("failure") == "attachmentFailed" && json.verdict.contains(reason), "\(json)")
    }

    @Test(
        "joined emoji, wide characters and harmless format characters are shown, and the frame stays straight",
        arguments: [
            ("👨‍👩‍👧 家族", 7), ("a\u{ad}b\u{200e}c\u{200c}d", 4), ("한국어", 6), ("e\u{301}te\u{301}", 3), ("🇫🇷❤️", 4),
            ("ｆｕｌｌ", 8),
        ])
    func widths(_ title: String, columns: Int) throws {
        let output = try phone.run(phone.sealed(alert: #"{"title":"\#(title)"}"#))
        let row = "│ " + title + String(repeating: " ", count: 45 - columns) + " │"
        #expect(output.text.contains(row), "\(output)")
    }

    @Test("control characters and those that change the direction of other text don't reach the terminal")
    func harmless() throws {
        let title = "a\u{202e}b\u{2066}c\u{2069}d\u{202a}e\u{feff}"
        let sealed = try phone.sealed(alert: #"{"title":"\#(title)","body":"a\u001b[31mb\u0007d"}"#)
        let output = try phone.run(sealed)
        #expect(output.text.contains("a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}"), "\(output)")
        #expect(output.isSuccess && !output.stdout.contains(0x1b) && !output.stdout.contains(7))
        let json = try phone.run(sealed, ["--json"])
        #expect(try json.object().shown("title") == title)
        #expect(json.text.contains(#"a\u202eb\u2066c\u2069d\u202ae\ufeff"#), "\(json)")
    }

    @Test(
        "a usage error says what is accepted, with an example",
        arguments: [
            ("--serve", "x", "https://example.com/p.png=p.png"), ("--at", "now", "2026-03-01T09:00:00Z"),
            ("--picture", "p.pdf", "as in push.html"),
        ])
    func example(_ option: String, value: String, text: String) throws {
        let output = try place.run(["simulate", option, value])
        expectUsageError(output)
        #expect(output.stderr.contains(text), "\(output)")
    }

    @Test("the same address twice with --serve, and a folder to serve, are refused")
    func served() throws {
        try place.write(Data([1]), to: "p.png")
        let sealed = try place.sealed(to: "phone")
        for (addresses, text) in [(["c=p.png", "c=p.png"], "more than once"), (["c=."], "is a folder")] {
            let output = try phone.run(sealed, addresses.flatMap { ["--serve", "https://a.b/" + $0] })
            #expect(output.exit != 0 && output.stderr.contains(text), "\(output)")
        }
    }

    @Test("without keys the phone restores nothing, and says so")
    func withoutKeys() throws {
        let output = try place.run("simulate", stdin: try place.sealed(to: "phone"))
        #expect(output.exit == 65 && output.stderr.contains("without --keys") && output.text.contains("unknownKey"))
    }

    @Test("nothing is left in the folder for temporary files")
    func temporaryFolder() throws {
        try place.makeFolder("tmp")
        let output = try place.shell(
            "TMPDIR=$PWD/tmp \"$PUSHCRYPT\" simulate --keys phone --topic \(Workplace.topic) --at \(Workplace.now)",
            stdin: try place.sealed(to: "phone"))
        #expect(output.isSuccess)
        #expect(try place.names(in: "tmp").isEmpty)
    }
}
