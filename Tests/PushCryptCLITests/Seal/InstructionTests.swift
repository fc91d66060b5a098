import Foundation
import Testing

@Suite("seal --retract, --quiet, --badge-add and avatars", .ownThreads)
struct InstructionTests {
    /// The second id starts with a minus sign, like an option.
    private static let ids = ["AAECAwQFBgcICQoLDA0ODw", "-AECAwQFBgcICQoLDA0ODw"]
    private static let payload = Data(#"{"aps":{"alert":"x"}}"#.utf8)

    private static func seal(_ place: Workplace, to key: String = "Keys/shared", _ options: String...) throws -> Output
    {
        try place.run(
            ["seal", "--bare", "--to", key, "--topic", Workplace.topic, "--at", Workplace.now] + options, stdin: payload
        )
    }

    private static func place() throws -> Workplace {
        let place = try Workplace()
        try place.create("Keys/shared", "shared")
        return place
    }

    @Test("open says what a push takes back, that it is quiet and what it adds to the badge")
    func opened() throws {
        let place = try Self.place()
        let sealed = try Self.seal(
            place, "--retract", Self.ids[0], "--retract", Self.ids[1], "--quiet", "--badge-add", "-3")
        #expect(sealed.isSuccess, "\(sealed)")
        let opened = try place.open(keys: "Keys/shared", payload: sealed.stdout)
        #expect(opened.payload == Self.payload)
        #expect(
            opened.stderr == "pushcrypt: takes back \(Self.ids[0]), \(Self.ids[1]); quiet; adds -3 to the badge\n")
    }

    @Test("inspect --json with the keys has the instructions, and without them has none")
    func inspected() throws {
        let place = try Self.place()
        let sealed = try Self.seal(place, "--retract", Self.ids[0], "--quiet", "--badge-add", "3").stdout
        let keys = ["--keys", "Keys/shared", "--topic", Workplace.topic, "--at", Workplace.now]
        let report = try place.run(["inspect", "--json"] + keys, stdin: sealed).object()
        #expect(report["retract"] as? [String] == [Self.ids[0]])
        #expect(report["quiet"] as? Bool == true)
        #expect(report["badgeAdd"] as? Int == 3)
        let outside = try place.run(["inspect", "--json"], stdin: sealed).object()
        #expect(Set(outside.keys).isDisjoint(with: ["retract", "quiet", "badgeAdd", "avatar"]))
    }

    @Test("seal --show-id writes the id to stderr, and inspect shows the same one with the keys only")
    func shownID() throws {
        let place = try Self.place()
        let sealed = try Self.seal(place, to: "Keys/shared", "--show-id")
        let id = try #require(sealed.stderr.wholeMatch(of: /pushcrypt: id ([A-Za-z0-9_-]{22})\n/), "\(sealed)").1
        let keys = ["--keys", "Keys/shared", "--topic", Workplace.topic, "--at", Workplace.now]
        let report = try place.run(["inspect", "--json"] + keys, stdin: sealed.stdout)
        #expect(try report.object()["id"] as? String == String(id))
        #expect(
            try place.run(["inspect"] + keys, stdin: sealed.stdout).text.contains("  id                    \(id)\n"))
        #expect(try place.run(["inspect", "--json"], stdin: sealed.stdout).object()["id"] == nil)
    }

    @Test("a push to a bare public key with an instruction is refused, and the same signed push is sealed")
    func baseProfile() throws {
        let place = try Self.place()
        try place.create("Keys/ios", "recipient")
        try place.create("Keys/push", "sender")
        for option in [["--quiet"], ["--retract-from", "spring"]] {
            let arguments = ["seal", "--to", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now] + option
            expectRefusal(
                try place.run(arguments, stdin: Self.payload), 65, saying: "only a signed push")
            let signed = try place.run(arguments + ["--sign-with", "Keys/push"], stdin: Self.payload)
            #expect(signed.isSuccess, "\(signed)")
        }
    }

    @Test(
        "an instruction outside its limits is refused with the limit",
        arguments: [
            (["--badge-add", "1000"], "-999 to 999"), (["--retract", "x"], "22 characters"),
            (["--id-from", "spring", "--retract-from", "spring"], "can't retract itself"),
            (["--quiet", "--expose", "sound"], "makes no sound"),
        ])
    func limits(options: [String], words: String) throws {
        let place = try Self.place()
        let arguments = ["seal", "--bare", "--to", "Keys/shared", "--topic", Workplace.topic, "--at", Workplace.now]
        expectRefusal(try place.run(arguments + options, stdin: Self.payload), 64, saying: words)
    }

    @Test("a line's retract is added to --retract and --retract-from, quiet and badgeAdd replace the options")
    func batch() throws {
        let place = try Self.place()
        func line(_ number: Int, _ members: String = "") -> String {
            #"{"device":"d\#(number)"\#(members),"payload":{"aps":{"alert":"x"}}}"#
        }
        let lines = [
            line(1), line(2, #","retract":["\#(Self.ids[1])"],"quiet":true,"badgeAdd":-2"#),
            line(3, #","retract":"x""#), line(4, #","quiet":1"#), line(5, #","badgeAdd":1.5"#),
        ]
        let command = ["--batch", "--topic", Workplace.topic, "--at", Workplace.now]
        let sealed = try place.run(
            ["seal", "--to", "Keys/shared", "--retract-from", "spring", "--retract", Self.ids[0], "--badge-add", "1"]
                + command, stdin: BatchPlace.data(lines))
        #expect(sealed.exit == 65 && !sealed.text.contains("\"retract\""), "\(sealed)")
        for words in [
            "line 3: malformedLine: \"retract\" is not an array of message ids",
            "line 4: malformedLine: \"quiet\" is not true or false",
            "line 5: malformedLine: \"badgeAdd\" is not an integer",
        ] {
            #expect(sealed.stderr.contains(words), "\(words)")
        }
        let summaries = try Self.summaries(
            place.run(["open", "--keys", "Keys/shared"] + command, stdin: sealed.stdout))
        let retracted = try summaries.map { Set(try #require($0["retract"] as? [String])) }
        #expect(retracted.map(\.count) == [2, 3] && retracted[1].isSuperset(of: Self.ids), "\(retracted)")
        #expect(retracted[0].contains(Self.ids[0]))
        #expect(summaries.map { $0["quiet"] as? Bool } == [nil, true])
        #expect(summaries.map { $0["badgeAdd"] as? Int } == [1, -2])
    }

    private static func summaries(_ output: Output) throws -> [[String: Any]] {
        try output.objects().map { try #require($0["pushcrypt"] as? [String: Any]) }
    }

    @Test("an attachment of blob seal --use avatar is sealed as the avatar, and open names it")
    func avatar() throws {
        let place = try Self.place()
        let blob = try place.run(
            "blob", "seal", "--type", "image/png", "--use", "avatar", "--url", "https://a.b/p", "--reference", "a.ref",
            stdin: Data([1, 2, 3]))
        #expect(blob.isSuccess, "\(blob)")
        let sealed = try Self.seal(place, "--attach", "a.ref").stdout
        #expect(
            try place.open(keys: "Keys/shared", payload: sealed).stderr == "pushcrypt: not fetched: an avatar\n")
        let report = try place.run(
            "inspect", "--json", "--keys", "Keys/shared", "--topic", Workplace.topic, "--at", Workplace.now,
            stdin: sealed)
        #expect(try report.object()["avatar"] as? Bool == true)
        expectRefusal(try Self.seal(place, "--attach", "a.ref", "--quiet"), 64, saying: "quiet")
    }
}
