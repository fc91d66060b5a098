import Foundation
import PushCryptTestSupport
import Testing

@Suite("simulate", .ownThreads) struct SimulateTests {
    private static let png = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + [UInt8](repeating: 0, count: 20))

    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("phone", "recipient", "--psk")
    }

    private func simulate(_ payload: Data, _ options: String..., keys: String = "phone") throws -> Output {
        try place.run(
            ["simulate", "--keys", keys, "--topic", Workplace.topic, "--at", Workplace.now] + options, stdin: payload)
    }

    private func object(_ payload: Data, _ options: String...) throws -> [String: Any] {
        try place.run(
            ["simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
            stdin: payload
        ).object()
    }

    private static func title(_ object: [String: Any], _ part: String = "after") -> String? {
        (object[part] as? [String: Any])?["title"] as? String
    }

    @Test("a sealed push is shown with its placeholder beside its text, and the exit status is 0")
    func restored() throws {
        let output = try simulate(place.sealed(to: "phone"))
        #expect(output.isSuccess, "\(output)")
        for text in ["New message", "Results", "All clear.", "✓ restored"] { #expect(output.text.contains(text)) }
        #expect(!output.text.contains("(line"))
        let json = try object(place.sealed(to: "phone"))
        #expect(Self.title(json, "before") == "New message" && Self.title(json) == "Results")
        #expect(json["restored"] as? Bool == true && json["failure"] is NSNull && json["badge"] as? Int == 2)
    }

    @Test(
        "the headers of a line are those of the request: APNs refuses another topic, and the extension runs only for an alert",
        arguments: [
            (#""headers":{"apns-topic":"com.example.app","apns-push-type":"alert"}"#, "restored", nil),
            (#""headers":{"Apns-Topic":"com.example.other"}"#, "refused", "400 DeviceTokenNotForTopic"),
            (#""headers":{"apns-topic":["com.example.other"]}"#, "refused", "400 DeviceTokenNotForTopic"),
            (#""topic":"com.example.other""#, "refused", "400 DeviceTokenNotForTopic"),
            (#""headers":{"apns-push-type":"background"}"#, "nothing", nil),
            (#""headers":{"apns-priority":10},"n":1"#, "restored", nil), (#""n":1"#, "restored", nil),
        ])
    func headers(_ members: String, _ outcome: String, _ refused: String?) throws {
        let payload = String(decoding: try place.sealed(to: "phone"), as: UTF8.self)
        let json = try object(Data(#"{"payload":\#(payload),\#(members)}"#.utf8))
        #expect(json["outcome"] as? String == outcome && json["refused"] as? String == refused, "\(json)")
    }

    @Test(
        "a refusal because of the topic names both topics",
        arguments: [
            (#"{"apns-topic":"com.example.other"}"#, "apns-topic is com.example.other", "needs com.example.app"),
            (
                #"{"apns-push-type":"voip"}"#, "apns-topic is com.example.app",
                "of the type voip to this phone's app needs com.example.app.voip"
            ),
            (
                #"{"apns-push-type":"mdm"}"#, "apns-topic is com.example.app",
                "of the type mdm to this phone's app has no topic"
            ),
        ])
    func topics(_ headers: String, _ given: String, _ needed: String) throws {
        let payload = String(decoding: try place.sealed(to: "phone"), as: UTF8.self)
        let json = try object(Data(#"{"payload":\#(payload),"headers":\#(headers)}"#.utf8))
        let verdict = json["verdict"] as? String ?? ""
        #expect(verdict.contains(given) && verdict.contains(needed), "\(json)")
    }

    @Test(
        "headers that can't be those of a request to APNs are refused with the line and what is wrong",
        arguments: [
            (#""x""#, "headers isn't an object"), (#"["apns-topic: a"]"#, "headers isn't an object"),
            (#"{"apns_topic":"a"}"#, "apns_topic isn't a header"), (#"{"apns-topic":{}}"#, "apns-topic isn't a string"),
        ])
    func wrongHeaders(_ headers: String, _ reason: String) throws {
        let payload = String(decoding: try place.sealed(to: "phone"), as: UTF8.self)
        let output = try simulate(Data(#"{"payload":\#(payload),"headers":\#(headers)}"#.utf8))
        #expect(output.exit == 65 && output.stderr.contains("line 1: " + reason), "\(output)")
    }

    @Test("a push that isn't an alert by its header names the header as the cause")
    func background() throws {
        let payload = String(decoding: try place.sealed(to: "phone"), as: UTF8.self)
        let output = try simulate(Data(#"{"payload":\#(payload),"headers":{"apns-push-type":"background"}}"#.utf8))
        #expect(output.exit == 65 && output.text.contains("apns-push-type isn't alert"), "\(output)")
    }

    @Test("a push for another key shows the placeholder and its class, and the exit status is 65")
    func unknownKey() throws {
        try place.create("other", "recipient", "--psk")
        let output = try simulate(place.sealed(to: "other"))
        #expect(output.exit == 65 && output.text.contains("✗ unknownKey: the placeholder is shown"), "\(output)")
        #expect(
            !output.text.contains("Results")
                && output.stderr
                    == "pushcrypt: 1 of 1 payloads not completely restored; pushcrypt diagnose can say why\n"
        )
    }

    @Test(
        "the last line of a failed run names diagnose only if it can say more than the verdict",
        arguments: [
            (["--locked"], false), (["--at", "2027-03-01T09:00:00Z"], false),
        ])
    func next(_ options: [String], namesDiagnose: Bool) throws {
        let time = options.contains("--at") ? [] : ["--at", Workplace.now]
        let output = try place.run(
            ["simulate", "--keys", "phone", "--topic", Workplace.topic] + time + options,
            stdin: place.sealed(to: "phone"))
        #expect(output.exit == 65 && output.stderr.contains("pushcrypt diagnose") == namesDiagnose, "\(output)")
        #expect(output.stderr.contains("1 of 1 payloads not completely restored"), "\(output)")
    }

    @Test(
        "options of the phone change what is shown",
        arguments: [
            (["--locked"], "keyLocked", "New message"),
            (["--at", "2027-03-01T09:00:00Z"], "expired", "New message"),
            (["--at", "2026-02-01T09:00:00Z"], "notYetValid", "New message"), ([], nil, "Results"),
        ] as [([String], String?, String)])
    func phone(_ options: [String], failure: String?, title: String) throws {
        let arguments = ["simulate", "--json", "--keys", "phone", "--topic", Workplace.topic]
        let time = options.contains("--at") ? [] : ["--at", Workplace.now]
        let output = try place.run(arguments + time + options, stdin: place.sealed(to: "phone"))
        let json = try output.object()
        #expect(json["failure"] as? String == failure && Self.title(json) == title, "\(output)")
        #expect(output.exit == (title == "Results" ? 0 : 65))
    }

    @Test(
        "a picture comes from --serve, and an unknown address shows the text without it",
        arguments: [
            (["--serve", "https://example.com/p.png=p.png"], nil, "restored"),
            ([], "attachmentFailed", "The attachment of image_url isn't on the simulated network."),
        ] as [([String], String?, String)])
    func attachment(_ options: [String], failure: String?, verdict: String) throws {
        try place.write(Self.png, to: "p.png")
        let payload = Data(
            #"{"aps":{"alert":{"title":"Results"}},"image_url":"https://example.com/p.png"}"#.utf8)
        let sealed = try place.sealed(to: "phone", payload: payload)
        let output = try place.run(
            [
                "simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now,
                "--attachment-member", "image_url",
            ] + options, stdin: sealed)
        let json = try output.object()
        #expect(Self.title(json) == "Results" && json["failure"] as? String == failure, "\(output)")
        #expect(json["outcome"] as? String == "restored")
        #expect((json["verdict"] as? String)?.contains(verdict) == true, "\(json)")
        #expect((json["attachments"] as? [[String: Any]])?.first?["bytes"] as? Int == (failure == nil ? 28 : nil))
        #expect(json["missing"] as? [String] == (options.isEmpty ? ["https://example.com/p.png"] : nil))
        #expect(output.exit == (failure == nil ? 0 : 65))
    }

    @Test("an indented payload, lines of payloads and lines of seal --batch are read; an empty stdin is refused")
    func input() throws {
        let sealed = try place.sealed(to: "phone")
        let pretty = try JSONSerialization.data(
            withJSONObject: JSONSerialization.jsonObject(with: sealed), options: .prettyPrinted)
        #expect(try simulate(pretty).isSuccess)
        let broken = try object(Data("{\n\"aps\": {},\n}".utf8))
        #expect(broken["number"] as? Int == 1 && broken["line"] as? Int == 1)
        #expect(
            (broken["verdict"] as? String)?.hasSuffix("JSON refused at byte 13: JSON doesn't allow this character here")
                == true, "\(broken)")
        let other = try place.sealed(to: "phone").dropLast()
        let lines = sealed + Data("\n\n{\"payload\":".utf8) + other + Data(",\"to\":\"x\",\"id\":\"i\"}\n".utf8)
        let output = try simulate(lines, "--json")
        #expect(output.isSuccess && output.text.split(separator: "\n").count == 2, "\(output)")
        let last = try #require(output.text.split(separator: "\n").last)
        let json = try #require(JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
        #expect(json["number"] as? Int == 2 && json["line"] as? Int == 4)
        #expect(json["to"] as? String == "x" && json["id"] as? String == "i" && json["token"] == nil)
        #expect(try simulate(sealed + Data("\n\n{}".utf8)).text.contains("2. (line 4) 2 of 4096 bytes"))
        expectRefusal(try simulate(Data()), 65, saying: "stdin has no payload")
    }

    @Test(
        "one phone receives all lines: a second copy of a message is replayed, and a bad line doesn't stop the others")
    func several() throws {
        let sealed = try place.sealed(to: "phone")
        let lines =
            Data("nonsense\n".utf8) + sealed + Data("\n".utf8) + sealed + Data(#"\#n{"aps":{"alert":"x"}}"#.utf8)
        let output = try simulate(lines, "--json")
        let objects = try output.text.split(separator: "\n").map { line in
            try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        #expect(objects.map { $0["number"] as? Int } == [1, 2, 3, 4])
        #expect(objects.map { $0["failure"] as? String } == [nil, nil, "replayed", nil])
        #expect(objects.map { $0["restored"] as? Bool } == [false, true, false, false])
        #expect(objects[0]["refused"] as? String != nil)
        #expect((objects[3]["verdict"] as? String)?.contains("mutable-content") == true)
        #expect(output.exit == 65 && output.stderr.contains("3 of 4 payloads"))
    }

    @Test(
        "keys of texts are shown in the language of --strings, and as keys without it",
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
        let payload = Data(#"{"aps":{"alert":{"title-loc-key":"REMINDER","title-loc-args":["Zoë"]}}}"#.utf8)
        let sealed = try place.sealed(to: "phone", payload: payload)
        let options = ["--strings", name] + (language.map { ["--language", $0] } ?? [])
        let output = try place.run(
            ["simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
            stdin: sealed)
        #expect(try Self.title(output.object()) == title, "\(output)")
    }

    @Test(
        "the system's language is the most exact one that a catalog has, and otherwise its source language, with a note",
        arguments: [
            ("de-CH", "Termin", "de"), ("de", "Termin", nil), ("it", "Appointment", "en"), ("en", "Appointment", nil),
        ] as [(String, String, String?)])
    func language(_ wanted: String, title: String, shown: String?) throws {
        func text(_ value: String) -> String { #"{"stringUnit":{"state":"translated","value":"\#(value)"}}"# }
        let (english, german) = (text("Appointment"), text("Termin"))
        let catalog =
            #"{"sourceLanguage":"en","strings":{"T":{"localizations":{"en":\#(english),"de":\#(german)}}},"version":"1.0"}"#
        try place.write(Data(catalog.utf8), to: "all.xcstrings")
        let sealed = try place.sealed(to: "phone", payload: Data(#"{"aps":{"alert":{"title-loc-key":"T"}}}"#.utf8))
        let output = try simulate(sealed, "--json", "--strings", "all.xcstrings", "--language", wanted)
        #expect(try output.exit == 0 && Self.title(output.object()) == title)
        let note = shown.map { "pushcrypt: all.xcstrings has no texts in \(wanted): those in \($0) are shown\n" }
        #expect(output.stderr == (note ?? ""))
    }

    @Test(
        "a push whose texts the phone doesn't have isn't restored, and the keys are named",
        arguments: [
            (
                #""title-loc-key":"TITLE","loc-key":"BODY""#, [], "malformed", "placeholder", ["TITLE", "BODY"],
                "give --strings"
            ),
            (
                #""title-loc-key":"TITLE","loc-key":"BODY""#, ["--strings", "texts.json"], "malformed", "placeholder",
                ["TITLE", "BODY"], "the app's texts don't have them: TITLE, BODY"
            ),
            (
                #""title-loc-key":"TITLE","body":"Hi""#, [], nil, "restored", ["TITLE"],
                "that the app doesn't have: TITLE"
            ),
        ] as [(String, [String], String?, String, [String], String)])
    func missingTexts(
        _ alert: String, _ options: [String], failure: String?, outcome: String, keys: [String], verdict: String
    ) throws {
        try place.write(Data(#"{"OTHER":"x"}"#.utf8), to: "texts.json")
        let sealed = try place.sealed(to: "phone", payload: Data(#"{"aps":{"alert":{\#(alert)}}}"#.utf8))
        let output = try place.run(
            ["simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
            stdin: sealed)
        let json = try output.object()
        #expect(output.exit == 65 && json["restored"] as? Bool == false && json["failure"] as? String == failure)
        #expect(json["outcome"] as? String == outcome && json["missingTexts"] as? [String] == keys, "\(json)")
        #expect((json["verdict"] as? String)?.contains(verdict) == true, "\(json)")
    }

    @Test(
        "each outcome has its name, and the verdict explains what is wrong with an invalid payload",
        arguments: [
            ("{", "refused", "JSON refused at byte 1: the text ends"),
            (#"{"aps":1}"#, "refused", "its member aps isn't an object"),
            (#"{"x":{}}"#, "refused", "it has no member aps"),
            (#"[{"aps":{}}]"#, "refused", "it is an array: a JSON object is needed"),
            (#"{"aps":{"alert":"x"}}"#, "original", "the payload isn't sealed, and aps.mutable-content isn't 1"),
            (#"{"aps":{}}"#, "nothing", "no alert with text"),
            (#"{"aps":{"alert":"x"}}"#, "original", "mutable-content"),
            (#"{"aps":{"alert":"x","mutable-content":1}}"#, "placeholder", "notSealed"),
        ])
    func outcome(_ payload: String, outcome: String, verdict: String) throws {
        let json = try object(Data(payload.utf8))
        #expect(json["outcome"] as? String == outcome, "\(json)")
        #expect((json["verdict"] as? String)?.contains(verdict) == true, "\(json)")
    }

    @Test("a push that only sets the badge and plays a sound has both in its JSON")
    func badgeOnly() throws {
        let json = try object(Data(#"{"aps":{"badge":3,"sound":"ping.caf"}}"#.utf8))
        #expect(json["badge"] as? Int == 3 && json["sound"] as? String == "ping.caf")
        #expect(json["outcome"] as? String == "nothing")
    }

    @Test("a push to a device's key of a shared keyset: without --device the verdict asks for it")
    func device() throws {
        try place.create("fleet", "shared")
        let sealed = try place.sealed(to: "fleet", "--device", "phone-1")
        let kid = try #require(try Payload.string("pushcrypt.kid", of: sealed))
        let output = try simulate(sealed, "--json", keys: "fleet")
        #expect(
            try output.object()["verdict"] as? String
                == "undecryptable: the placeholder is shown. Key \(kid) is a shared (master) key, and a push to one device opens "
                + "only with --device ID.")
        #expect(try simulate(sealed, "--device", "phone-1", keys: "fleet").isSuccess)
    }

    @Test("the verdict names the missing key, the phone's or the sender's, as open does")
    func missingKey() throws {
        let sender = try place.create("backend", "sender")
        try place.create("stranger", "sender")
        try place.export("stranger", to: "stranger.json")
        let signed = try place.sealed(to: "phone", "--sign-with", "backend")
        func verdict(_ payload: Data, _ options: String...) throws -> String {
            let output = try place.run(
                ["simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
                stdin: payload)
            return try output.object()["verdict"] as? String ?? ""
        }
        #expect(try verdict(signed).contains("give the public keys of its sender with --trust"))
        #expect(try verdict(signed).contains("signed by key \(sender)"))
        let stranger = try verdict(signed, "--trust", "stranger.json")
        #expect(stranger.contains("The push is signed by a key that --trust doesn't have") && stranger.contains(sender))
        try place.export("backend", to: "backend.json")
        let twice = ["--trust", "backend.json", "--trust", "backend.json"]
        #expect(try verdict(signed, twice[0], twice[1], twice[2], twice[3]).contains("two files of --trust have"))
        #expect(try verdict(place.sealed(to: "phone"), "--trust", "stranger.json").contains("The push isn't signed"))
        let kid = try place.create("other", "recipient", "--psk")
        #expect(
            try verdict(place.sealed(to: "other")).contains("that --keys doesn't have (payload: sealed to key \(kid);"))
    }

    @Test("the member with a served address that isn't requested is named")
    func forgottenMember() throws {
        try place.write(Self.png, to: "p.png")
        let payload = Data(#"{"aps":{"alert":"x"},"image_url":"https://example.com/p.png"}"#.utf8)
        let output = try simulate(
            place.sealed(to: "phone", payload: payload), "--serve", "https://example.com/p.png=p.png")
        #expect(output.exit == 0 && output.text.contains("--attachment-member image_url"), "\(output)")
    }

    @Test(
        "the verdict has the reason why an attachment was refused",
        arguments: [
            ("http://example.com/p.png", "p.png", "the address is not an https address"),
            ("https://example.com/p.png", "p.txt", "the file is of no supported type"),
            ("https://example.com/p.png", "short", "the file is too short to be of a supported type"),
        ])
    func refusedAttachment(_ address: String, file: String, reason: String) throws {
        try place.write(Self.png, to: "p.png")
        try place.write(Data("This is a text, and no picture.".utf8), to: "p.txt")
        try place.write(Self.png.prefix(8), to: "short")
        let payload = Data(#"{"aps":{"alert":"x"},"image_url":"\#(address)"}"#.utf8)
        let json = try object(
            place.sealed(to: "phone", payload: payload), "--attachment-member", "image_url", "--serve",
            "\(address)=\(file)")
        #expect(json["failure"] as? String == "attachmentFailed")
        #expect((json["verdict"] as? String)?.contains(reason) == true, "\(json)")
    }

    @Test(
        "an option with one value that is given twice is a usage error, and one that may be repeated isn't",
        arguments: [
            ["simulate", "--topic", "a", "--keys", "phone", "--keys", "other"],
            ["simulate", "--at=2026-03-01T09:00:00Z", "--at", "2026-03-02T09:00:00Z"],
            ["diagnose", "--report", "a", "--report", "b"],
        ])
    func repeated(_ arguments: [String]) throws {
        let output = try place.run(arguments, stdin: Data("{}".utf8))
        expectUsageError(output)
        #expect(output.stderr.contains("is given more than once, but takes one value"), "\(output)")
        let json = try object(
            place.sealed(to: "phone"), "--attachment-member", "a", "--attachment-member", "b")
        #expect(json["restored"] as? Bool == true)
    }

    @Test(
        "joined emoji, wide characters and harmless format characters are shown, and the frame stays straight",
        arguments: [
            ("👨‍👩‍👧 家族", 7), ("a\u{ad}b\u{200e}c\u{200c}d", 4), ("한국어", 6), ("e\u{301}te\u{301}", 3), ("🇫🇷❤️", 4),
            ("ｆｕｌｌ", 8),
        ])
    func widths(_ title: String, columns: Int) throws {
        let payload = try JSONSerialization.data(withJSONObject: ["aps": ["alert": ["title": title]]])
        let output = try simulate(place.sealed(to: "phone", payload: payload))
        let row = "│ " + title + String(repeating: " ", count: 45 - columns) + " │"
        #expect(output.text.contains(row), "\(output)")
    }

    @Test("characters that change the direction of other text don't reach the terminal")
    func directions() throws {
        let title = "a\u{202e}b\u{2066}c\u{2069}d\u{202a}e\u{feff}"
        let payload = try JSONSerialization.data(withJSONObject: ["aps": ["alert": ["title": title]]])
        let output = try simulate(place.sealed(to: "phone", payload: payload))
        #expect(output.text.contains("a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e\u{fffd}"), "\(output)")

        let json = try object(place.sealed(to: "phone", payload: payload))
        #expect(Self.title(json) == title)
        let text = try simulate(place.sealed(to: "phone", payload: payload), "--json").text
        #expect(text.contains(#"a\u202eb\u2066c\u2069d\u202ae\ufeff"#), "\(text)")
    }

    @Test(
        "a usage error says what is accepted, with an example",
        arguments: [
            ("--serve", "x", "https://example.com/p.png=p.png"), ("--at", "now", "2026-03-01T09:00:00Z"),
            ("--picture", "p.pdf", "as in push.html"), ("--picture", "p.svg", "as in push.html"),
        ])
    func example(_ option: String, value: String, text: String) throws {
        let output = try place.run(["simulate", option, value])
        expectUsageError(output)
        #expect(output.stderr.contains(text), "\(output)")
    }

    @Test(
        "options that would have no effect, or lack another one, are usage errors",
        arguments: [
            ["--topic", "com.example.app"], ["--trust", "x"], ["--device", "x"],
            ["--keys", "phone", "--topic", "com.example.app", "--pins", "x"],
            ["--keys", "phone", "--topic", "com.example.app", "--language", "de"],
            ["--keys", "phone", "--topic", "com.example.app", "--serve", "x"],
        ])
    func usage(_ options: [String]) throws { expectUsageError(try place.run(["simulate"] + options)) }

    @Test("control characters of a payload don't reach the terminal")
    func harmless() throws {
        let payload = Data(#"{"aps":{"alert":{"title":"a\u001b[31mb","body":"c\u0007d"}}}"#.utf8)
        let output = try simulate(place.sealed(to: "phone", payload: payload))
        #expect(output.isSuccess && !output.stdout.contains(0x1b) && !output.stdout.contains(7))
    }

    @Test("without keys the phone restores nothing, and says so")
    func withoutKeys() throws {
        let output = try place.run("simulate", stdin: try place.sealed(to: "phone"))
        #expect(output.exit == 65 && output.stderr.contains("without --keys") && output.text.contains("unknownKey"))
        #expect(!output.stderr.contains("diagnose"), "\(output)")
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
