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
        let json = try object(place.sealed(to: "phone"))
        #expect(Self.title(json, "before") == "New message" && Self.title(json) == "Results")
        #expect(json["restored"] as? Bool == true && json["failure"] is NSNull && json["badge"] as? Int == 2)
    }

    @Test("a push for another key shows the placeholder and its class, and the exit status is 65")
    func unknownKey() throws {
        try place.create("other", "recipient", "--psk")
        let output = try simulate(place.sealed(to: "other"))
        #expect(output.exit == 65 && output.text.contains("✗ unknownKey: the placeholder is shown"), "\(output)")
        #expect(
            !output.text.contains("Results") && output.stderr == "pushcrypt: 1 of 1 payloads not completely restored\n")
    }

    @Test(
        "options of the phone change what is shown",
        arguments: [
            (["--locked"], "keyLocked", "New message"), (["--kill-at", "0s"], nil, "New message"),
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

    @Test("hidden previews show neither the placeholder nor the text")
    func hidden() throws {
        let output = try simulate(place.sealed(to: "phone"), "--previews", "hidden")
        #expect(
            output.isSuccess && !output.text.contains("Results") && !output.text.contains("New message"), "\(output)")
        #expect(output.text.contains("│ Notification "))
    }

    @Test(
        "a picture comes from --serve in simulated time; a slow network or an unknown address shows the text without it",
        arguments: [
            (["--serve", "https://example.com/p.png=p.png", "--slow-network", "3s"], nil, 3.0),
            (["--serve", "https://example.com/p.png=p.png", "--slow-network", "40s"], "attachmentFailed", 14.0),
            ([], "attachmentFailed", 0.0),
        ] as [([String], String?, Double)])
    func attachment(_ options: [String], failure: String?, seconds: Double) throws {
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
        #expect(json["seconds"] as? Double == seconds)
        #expect((json["attachments"] as? [[String: Any]])?.first?["bytes"] as? Int == (failure == nil ? 28 : nil))
        #expect(json["missing"] as? [String] == (options.isEmpty ? ["https://example.com/p.png"] : nil))
        #expect(output.exit == (failure == nil ? 0 : 65))
    }

    @Test("a time limit that is shorter than a download shows the text at its end")
    func timeLimit() throws {
        try place.write(Self.png, to: "p.png")
        let payload = Data(#"{"aps":{"alert":{"title":"Results"}},"image_url":"https://example.com/p.png"}"#.utf8)
        let json = try object(
            place.sealed(to: "phone", payload: payload), "--attachment-member", "image_url", "--serve",
            "https://example.com/p.png=p.png", "--slow-network", "10s", "--time-limit", "6s")
        #expect(Self.title(json) == "Results" && json["restored"] as? Bool == false)
        #expect(json["seconds"] as? Double == 5)
    }

    @Test("an indented payload, lines of payloads and lines of seal --batch are read; an empty stdin is refused")
    func input() throws {
        let sealed = try place.sealed(to: "phone")
        let pretty = try JSONSerialization.data(
            withJSONObject: JSONSerialization.jsonObject(with: sealed), options: .prettyPrinted)
        #expect(try simulate(pretty).isSuccess)
        let other = try place.sealed(to: "phone").dropLast()
        let lines = sealed + Data("\n\n{\"payload\":".utf8) + other + Data(",\"to\":\"x\"}\n".utf8)
        let output = try simulate(lines, "--json")
        #expect(output.isSuccess && output.text.split(separator: "\n").count == 2, "\(output)")
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
        "options that would have no effect, or lack another one, are usage errors",
        arguments: [
            ["--topic", "com.example.app"], ["--trust", "x"], ["--device", "x"], ["--fallback", "outer"],
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
