import Foundation
import PushCryptTestSupport
import Testing

/// Values that a device ignores or changes, as each command shows them.
@Suite("values that a device ignores or changes", .ownThreads)
struct WarningTests {
    private let place: Workplace
    private static let badge = "aps.badge is a string and not a nonnegative integer: the device ignores it"
    private static let null = "null in an array: the app gets an empty string in its place (at byte 51)"
    private static let number =
        "a number is too large for a Double: the app doesn't get its member; in an array it gets an empty string in "
        + "its place (at byte 56)"
    private static let strange = Data(#"{"aps":{"alert":"Hi","badge":"3"},"ids":[7,8,9,1.0,null,1e400]}"#.utf8)
    private static let ordinary = Data(#"{"aps":{"alert":"Hi","badge":3},"ids":[7]}"#.utf8)

    init() throws {
        place = try Workplace()
        try place.create("phone", "recipient", "--psk")
    }

    @Test("seal notes each of them on stderr and seals the payload, and -q writes no notes") func seal() throws {
        let output = try place.seal(to: "phone", payload: Self.strange)
        let notes = [Self.badge, Self.null, Self.number].map { "pushcrypt: \($0)\n" }.joined()
        #expect(output.exit == 0 && output.stderr == notes, "\(output)")
        #expect(try place.seal(to: "phone", "-q", payload: Self.strange).isSuccess)
        #expect(try place.seal(to: "phone", payload: Self.ordinary).isSuccess)
    }

    @Test("a batch has the notes in the line of the payload, and a count of such payloads on stderr") func batch()
        throws
    {
        let lines = [Self.strange, Self.ordinary].map { #"{"payload":"# + String(decoding: $0, as: UTF8.self) + "}\n" }
        let output = try place.run(
            "seal", "--batch", "--to", "phone", "--topic", Workplace.topic, "--at", Workplace.now,
            stdin: Data(lines.joined().utf8))
        let summaries = try output.objects().map { $0.object("pushcrypt") }
        #expect(summaries.first?["notes"] as? [String] == [Self.badge, Self.null, Self.number], "\(output)")
        #expect(summaries.last?.keys.sorted() == ["expiresAt", "id", "line"], "\(output)")
        #expect(output.stderr.contains("a part of 1 payload: see \"notes\""), "\(output)")
    }

    @Test("simulate notes them for a sealed push and for one that isn't sealed") func simulate() throws {
        let sealed = try place.sealed(to: "phone", "-q", payload: Self.strange)
        for payload in [sealed, Self.strange] {
            let json = try place.run(
                "simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now,
                stdin: payload
            ).object()
            #expect(json["notes"] as? [String] == [Self.badge, Self.null, Self.number], "\(json)")
        }
    }

    @Test("inspect shows them for the visible payload, and with the keys for the message") func inspect() throws {
        let open = try place.run("inspect", "--json", stdin: Self.strange).object()
        #expect(open["notes"] as? [String] == [Self.badge, Self.null, Self.number], "\(open)")
        let sealed = try place.sealed(to: "phone", "-q", payload: Self.strange)
        #expect(try place.run("inspect", "--json", stdin: sealed).object()["notes"] == nil)
        let keys = ["--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now]
        let opened = try place.run(["inspect", "--json"] + keys, stdin: sealed).object()
        #expect((opened["notes"] as? [String])?.first == "in the message, \(Self.badge)", "\(opened)")
        let text = try place.run(["inspect"] + keys, stdin: sealed).text
        #expect(text.contains("Notes\n  in the message, aps.badge is a string"), "\(text)")
    }

    @Test("diagnose finds them in the visible payload, and with the keys in the message") func diagnose() throws {
        let sealed = try place.sealed(to: "phone", "-q", payload: Self.strange)
        let keys = ["--keys", "phone", "--topic", Workplace.topic]
        let found = try place.run(["diagnose", "--json", "--at", Workplace.now] + keys, stdin: sealed)
        #expect(found.exit == 0 && found.text.contains("\"value-ignored\""), "\(found)")
        #expect(found.text.contains("the sealed message: \(Self.badge)"), "\(found)")
        #expect(
            !(try place.run("diagnose", "--json", "--at", Workplace.now, stdin: sealed).text.contains("value-ignored")))
        let relayed = try place.sealed(to: "phone", "--expose", "badge", payload: Self.ordinary)
        let changed = Data(
            String(decoding: relayed, as: UTF8.self).replacing("\"badge\":3", with: "\"badge\":\"3\"").utf8)
        let visible = try place.run("diagnose", "--json", "--at", Workplace.now, stdin: changed)
        #expect(visible.exit == 0 && visible.text.contains("payload: \(Self.badge)"), "\(visible)")
    }

    @Test(
        "null anywhere in the outer payload: diagnose, simulate and inspect each warn of it once and in the same words",
        arguments: [
            (#"{"aps":{"#, #"{"aps":{"badge":null,"thread-id":null,"#, "2, the first at byte 16"),
            (#"{"aps":{"#, #"{"SECRET":null,"aps":{"#, "at byte 10"),
            (#""pushcrypt":{"#, #""pushcrypt":{"x":null,"#, "at byte "),
        ])
    func nulls(_ old: String, _ new: String, _ place: String) throws {
        let text = "null in the visible payload: iOS makes a property list of it, which has no null, and may drop "
        let sealed = String(decoding: try self.place.sealed(to: "phone", payload: Self.ordinary), as: UTF8.self)
        let changed = Data(sealed.replacing(old, with: new).utf8)
        let found = try self.place.run("diagnose", "--json", "--at", Workplace.now, stdin: changed)
        #expect(found.exit == 0 && found.text.contains("\"value-ignored\""), "\(found)")
        #expect(found.text.contains("payload: \(text)the push (\(place)") && !found.text.contains("SECRET"), "\(found)")
        let keys = ["--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now]
        for command in ["simulate", "inspect"] {
            let notes = try self.place.run([command] + keys, stdin: changed).object()["notes"] as? [String] ?? []
            #expect(notes.count == 1 && notes[0].hasPrefix(text + "the push (\(place)"), "\(command): \(notes)")
        }
    }

    @Test("a payload of a Live Activity is refused by seal and blob seal")
    func liveActivity() throws {
        let payload = Data(#"{"aps":{"alert":"Goal","event":"update","content-state":{"score":1}}}"#.utf8)
        expectRefusal(
            try place.seal(to: "phone", payload: payload), 65, saying: "Live Activity, for which iOS runs no extension")
        let blob = try place.run(
            "blob", "seal", "--purpose", "payload", "--reference", "r.json", "--output", "b", stdin: payload)
        #expect(blob.exit == 65 && blob.stderr.contains("Live Activity"), "\(blob)")
    }

    @Test(
        "a correct request of a Live Activity: diagnose has one note and simulate a verdict, and both name it",
        arguments: [#""event":"update","content-state":{"score":1},"timestamp":1800000000"#, #""event":"end""#])
    func liveActivityRequest(_ members: String) throws {
        let topic = Workplace.topic + ".push-type.liveactivity"
        let headers = #"{"apns-push-type":"liveactivity","apns-topic":"\#(topic)"}"#
        let request = Data(#"{"payload":{"aps":{\#(members)}},"headers":\#(headers)}"#.utf8)
        let keys = ["--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now]
        let found = try place.run(["diagnose"] + keys, stdin: request)
        #expect(found.exit == 0, "\(found)")
        let names = try #require(JSONSerialization.jsonObject(with: found.stdout) as? [[String: Any]])
        #expect(names.map { $0["name"] as? String } == ["live-activity"], "\(found)")
        #expect(names.first?["severity"] as? String == "note", "\(found)")
        #expect(found.text.contains("Live Activity, for which iOS runs no extension: sealed, it would"), "\(found)")
        let shown = try place.run(["simulate"] + keys, stdin: request).object()
        let verdict = "nothing is shown: the payload is that of a Live Activity, for which iOS runs no extension"
        #expect(shown["verdict"] as? String == verdict, "\(shown)")
    }

    @Test("an address with a space is called not percent-encoded, by simulate and blob seal")
    func address() throws {
        let (address, byte) = ("https://e.com/my file.png", "byte 16")
        let payload = Data(#"{"aps":{"alert":"x"},"image":"\#(address)"}"#.utf8)
        let json = try place.run(
            "simulate", "--json", "--keys", "phone", "--topic", Workplace.topic, "--at", Workplace.now,
            "--attachment-member", "image", stdin: place.sealed(to: "phone", payload: payload)
        ).object()
        let verdict = try #require(json["verdict"] as? String)
        #expect(verdict.contains("at \(byte) isn't percent-encoded"), "\(verdict)")
        let blob = try place.run(
            "blob", "seal", "--url", address, "--type", "image/png", "--reference", "r", "--output", "b",
            stdin: Data("x".utf8))
        #expect(blob.exit != 0 && blob.stderr.contains("at \(byte) isn't percent-encoded"), "\(blob)")
    }
}
