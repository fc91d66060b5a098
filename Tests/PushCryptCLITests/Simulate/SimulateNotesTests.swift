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

    @Test(
        "an option that changes nothing is named",
        arguments: [
            (["--slow-network", "3s"], "--slow-network has no effect: no push has requested a file"),
            (["--strings", "t.json"], "--strings has no effect: no push has a key of the app's texts"),
            (["--attachment-member", "a"], "--attachment-member a has no effect: no push has this member"),
            (["--kill-at", "5s"], "--kill-at has no effect: the extension was ready with each push before"),
            (["--time-limit", "28s"], "--time-limit has no effect: the extension was ready with each push before"),
        ])
    func withoutEffect(_ options: [String], note: String) throws {
        try place.write(Data(#"{"K":"text"}"#.utf8), to: "t.json")
        let output = try place.run(
            ["simulate", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
            stdin: place.sealed(to: "phone"))
        #expect(output.exit == 0 && output.stderr == "pushcrypt: \(note)\n", "\(output)")
    }

    @Test(
        "an end of the extension and a time limit that a slow picture reaches have an effect",
        arguments: [("--kill-at", "original"), ("--time-limit", "restored")])
    func withEffect(_ option: String, outcome: String) throws {
        try place.write(Data(repeating: 0, count: 20), to: "p")
        let payload = Data(#"{"aps":{"alert":"x"},"image_url":"https://a.b/p"}"#.utf8)
        let output = try place.run(
            [
                "simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now, "--serve",
                "https://a.b/p=p", "--attachment-member", "image_url", "--slow-network", "10s", option, "5s",
            ], stdin: place.sealed(to: "phone", payload: payload))
        #expect(!output.stderr.contains("no effect") && output.exit == 65, "\(output)")
        #expect(try output.object()["outcome"] as? String == outcome)
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
        "a text with too few arguments, or with one that is not a string, isn't called restored",
        arguments: [
            (#""loc-args":["Zoë","hi"]"#, nil), (#""loc-args":["Zoë","hi","x"]"#, nil),
            (#""loc-args":["Zoë"]"#, "FROM needs 2 arguments, and loc-args has 1"),
            (#""x":1"#, "FROM needs 2 arguments, and there is no array loc-args"),
            (#""loc-args":[1,2]"#, "loc-args has an element that is not a string, so FROM gets no arguments"),
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
        #expect(json["verdict"] as? String == (flaw.map { "restored with gaps in a text: " + $0 } ?? "restored"))
    }

    @Test("a key of a string catalog without a text, or with variations only, is a missing text")
    func catalogWithoutText() throws {
        let catalog = #"""
            {"sourceLanguage":"en","version":"1.0","strings":{"A":{},"B":{"localizations":{"en":{"variations":
            {"plural":{"one":{"stringUnit":{"state":"translated","value":"%d message"}}}}}}}}}
            """#
        try place.write(Data(catalog.utf8), to: "L.xcstrings")
        let payload = Data(#"{"aps":{"alert":{"title-loc-key":"A","loc-key":"B","subtitle":"S"}}}"#.utf8)
        let json = try object(place.sealed(to: "phone", payload: payload), "--strings", "L.xcstrings")
        #expect(json["missingTexts"] as? [String] == ["A", "B"], "\(json)")
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
                "takes back push 1", "takes back 1 message that this phone hasn't got",
                "quiet: shown passively; nothing is shown with --filtering", "adds 2 to the badge",
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

    @Test("the same address twice with --serve, a folder to serve, and an app without a visible name are refused")
    func refusedOptions() throws {
        try place.write(Data([1]), to: "p.png")
        let sealed = try place.sealed(to: "phone")
        let twice = ["--serve", "https://a.b/c=p.png", "--serve", "https://a.b/c=p.png"]
        for (options, text) in [
            (twice, "more than once"), (["--app-name", " "], "no visible character"),
            (["--serve", "https://a.b/c=."], "is a folder"),
        ] {
            let output = try place.run(
                ["simulate", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now] + options,
                stdin: sealed)
            #expect(
                output.exit != 0 && output.stderr.contains(text) && !output.stderr.contains("key file"), "\(output)")
        }
    }
}
