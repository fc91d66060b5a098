import Foundation
import PushCryptCore
import Testing

@Suite("inspect", .ownThreads)
struct InspectTests {
    static let jsonNames: Set<String> = [
        "sealed", "version", "kid", "skid", "sealedByteCount", "visibleApsMembers", "visibleMembers", "bytes",
    ]

    @Test(
        "the sizes of the parts add up to the payload's size", arguments: ["p256", "x25519", "shared"], [true, false])
    func sums(_ suite: String, _ isSigned: Bool) throws {
        let place = try Workplace()
        if suite == "shared" {
            try place.create("Keys/ios", "shared")
        } else {
            try place.create("Keys/ios", "recipient", "--suite", suite)
        }
        let skid = try place.create("Keys/push", "sender")
        let sign = isSigned ? ["--sign-with", "Keys/push"] : []
        let sealed = try place.run(
            ["seal", "--bare", "--to", "Keys/ios", "--topic", Workplace.topic, "--expose", "badge"] + sign,
            stdin: Workplace.inner)
        let report = try place.run("inspect", "--json", stdin: sealed.stdout)
        #expect(report.isSuccess, "\(report)")
        let bytes = try #require(try report.object()["bytes"] as? [String: Int])
        #expect(Set(bytes.keys) == ["total", "limit", "placeholder", "envelope", "ciphertext", "free"])
        #expect(bytes["total"] == sealed.payload.count)
        #expect(bytes["limit"] == 4096)
        #expect(bytes["free"] == 4096 - sealed.payload.count)
        #expect(["placeholder", "envelope", "ciphertext"].compactMap { bytes[$0] }.reduce(0, +) == bytes["total"])
        #expect(bytes["ciphertext"] == (try Payload.string("pushcrypt.sealed", of: sealed.payload))?.count)
        #expect(bytes["placeholder"] == #"{"title":"New message","body":"Open the app to read it"}"#.count)
        let object = try report.object()
        #expect(Set(object.keys) == (isSigned ? Self.jsonNames : Self.jsonNames.subtracting(["skid"])))
        #expect(object["skid"] as? String == (isSigned ? skid : nil))
        #expect(object["version"] as? Int == 1)
        #expect(object["visibleApsMembers"] as? [String] == ["alert", "mutable-content", "badge"])
        #expect(object["visibleMembers"] as? [String] == ["aps", "pushcrypt"])
    }

    @Test("the text output lists the visible members without colour codes")
    func text() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient")
        let sealed = try place.sealed(to: "Keys/ios", "--expose", "badge")
        let output = try place.run("inspect", stdin: sealed)
        #expect(output.isSuccess, "\(output)")
        for words in [
            "aps.alert", "New message", "aps.badge", kid, "none", "\(sealed.count - 1) of 4096 bytes", "▒", "▓", "█",
            "·", "placeholder", "envelope", "ciphertext", "free",
        ] {
            #expect(output.text.contains(words), "\(words)")
        }
        #expect(!output.stdout.contains(0x1b))
        #expect(!output.text.contains("padding"))
        #expect(!output.text.contains("All clear"))
        let bar = try #require(output.text.split(separator: "\n").first { $0.contains("·") })
        #expect(bar.filter { !$0.isWhitespace }.count == 64)
    }

    @Test("with the keys inspect shows the padding separately")
    func padding() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let keys = ["--keys", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now]
        let padded = try place.sealed(to: "Keys/ios", "--pad", "max")
        let bare = try place.sealed(to: "Keys/ios", "--pad", "none")
        let report = try place.run(["inspect", "--json"] + keys, stdin: padded)
        let bytes = try #require(try report.object()["bytes"] as? [String: Int])
        #expect(bytes["padding"] == padded.count - bare.count)
        let parts = ["placeholder", "envelope", "ciphertext", "padding"].compactMap { bytes[$0] }
        #expect(parts.reduce(0, +) == bytes["total"])
        #expect(try place.run(["inspect"] + keys, stdin: padded).text.contains(/░ padding +\d+/))
        let none = try place.run(["inspect", "--json"] + keys, stdin: bare)
        #expect((try none.object()["bytes"] as? [String: Int])?["padding"] == 0)
    }

    @Test(
        "with the keys inspect says whether the push stays secret from a quantum computer",
        arguments: [
            (
                "p256", [], false,
                "no, P-256: an attacker who records it can open it later with a large quantum computer"
            ),
            ("x25519", ["--psk"], false, "can open it later with a large quantum computer and the psk"),
            ("shared", [], true, "yes, a shared secret"), ("xwing", ["--psk"], true, "yes, X-Wing"),
        ])
    func postQuantum(_ suite: String, _ options: [String], _ isPostQuantum: Bool, _ text: String) throws {
        guard suite != "xwing" || PushCryptCore.Suite.xWing.isAvailable else { return }
        let place = try Workplace()
        let kind = suite == "shared" ? ["shared"] : ["recipient", "--suite", suite]
        _ = try place.create("Keys/ios", kind[0], kind.dropFirst() + options, at: Workplace.now)
        let sealed = try place.sealed(to: "Keys/ios")
        let keys = ["--keys", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now]
        let shown = try place.run(["inspect"] + keys, stdin: sealed)
        let line = shown.text.replacing(/\s+/, with: " ")
        #expect(shown.isSuccess && line.contains("post-quantum \(isPostQuantum ? "yes" : "no")"), "\(shown)")
        #expect(line.contains(text), "\(shown)")
        let object = try place.run(["inspect", "--json"] + keys, stdin: sealed).object()
        #expect(object["postQuantum"] as? Bool == isPostQuantum && object["suite"] as? String == suite)
        let observed = try place.run("inspect", "--json", stdin: sealed).object()
        #expect(observed["postQuantum"] == nil && observed["suite"] == nil)
    }

    @Test("a payload that isn't sealed is reported as readable")
    func unsealed() throws {
        let output = try CLI.run(["inspect"], stdin: Workplace.inner)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.contains("not sealed: an observer can read all of it"))
        #expect(output.text.contains("All clear."))
        let report = try CLI.run(["inspect", "--json"], stdin: Workplace.inner).object()
        #expect(report["sealed"] as? Bool == false)
        #expect(report["visibleMembers"] as? [String] == ["aps", "n"])
    }

    @Test("a payload over the limit is reported with the excess")
    func over() throws {
        let payload = SealOptionTests.inner(bodyCount: 5_000)
        let output = try CLI.run(["inspect"], stdin: payload)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.contains("\(payload.count) of 4096 bytes, \(payload.count - 4096) over the limit"))
        let small = try CLI.run(["inspect", "--limit", "10"], stdin: Workplace.inner)
        #expect(small.text.contains("\(Workplace.inner.count - 10) over the limit"))
    }

    @Test("control characters of a payload never reach the terminal")
    func controlCharacters() throws {
        let hostile = "\u{7f}\u{9b}31m\u{85}\u{202e}\u{200b}\u{feff}"
        let json = """
            {"aps":{"alert":"\(hostile)\\u001b[2J","\(hostile)\\u001b[2J":1},"\\u001b]0;x\\u0007":2,\
            "pushcrypt":{"v":1,"kid":"\\u001b[2J\\r\\n","skid":"\\u001b","sealed":"AA"}}
            """
        let output = try CLI.run(["inspect"], stdin: Data(json.utf8))
        #expect(output.isSuccess, "\(output)")
        let steering = output.text.unicodeScalars.filter { scalar in
            let category = scalar.properties.generalCategory
            return scalar != "\n" && (category == .control || category == .format)
        }
        #expect(steering.isEmpty)
        #expect(output.text.contains("\u{fffd}"))
    }

    @Test("input that isn't a JSON object is refused with an empty stdout", arguments: SealInputTests.noObjects)
    func refuse(_ test: SealInputTests.Case) throws {
        expectRefusal(try CLI.run(["inspect"], stdin: test.payload), 65)
    }

    @Test("a payload that the keys don't open: stdout is as without keys, stderr has the reason, the status is 65")
    func notOpened() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "recipient")
        let sealed = try place.sealed(to: "Keys/ios")
        let late = Workplace.later(40 * Workplace.days)
        for (payload, time, reason) in [
            (try Payload.tampered(sealed), Workplace.now, "undecryptable"),
            (sealed, late, "expired: it was sealed at \(Workplace.now)"), (Workplace.inner, late, "notSealed: "),
        ] {
            for options in [["--at", time], ["--at", time, "--json"]] {
                let seen = try place.run(["inspect"] + options, stdin: payload)
                let keys = ["inspect", "--keys", "Keys/ios", "--topic", Workplace.topic]
                let output = try place.run(keys + options, stdin: payload)
                #expect(output.exit == 65 && output.text == seen.text && !seen.text.isEmpty, "\(output)")
                #expect(output.hasOneLineOnStderr, "\(output)")
                #expect(output.stderr.hasPrefix("pushcrypt: the message was not opened: \(reason)"), "\(output)")
            }
        }
    }
}
