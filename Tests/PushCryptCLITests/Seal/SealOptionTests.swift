import Foundation
import Testing

/// Options of `seal` for one push. The library's tests have every value of each.
@Suite("options of seal", .ownThreads)
struct SealOptionTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.create("phone", "recipient", "--psk")
    }

    static func inner(bodyCount: Int) -> Data {
        Data(#"{"aps":{"alert":{"body":"\#(String(repeating: "x", count: bodyCount))"}}}"#.utf8)
    }

    @Test(
        "a message opens until it has expired, to the second",
        arguments: [("90s", 90), ("12h", 43_200), ("30d", 2_592_000)])
    func expires(_ duration: String, _ seconds: Int) throws {
        let sealed = try place.sealed(to: "phone", "--expires", duration)
        #expect(try place.open(keys: "phone", "--at", Workplace.later(seconds - 1), payload: sealed).isSuccess)
        try expectPlaceholder(
            try place.open(keys: "phone", "--at", Workplace.later(seconds), payload: sealed), "expired")
    }

    @Test("--expose copies the named members of aps to the visible payload, and one that isn't there is refused")
    func expose() throws {
        let inner = Data(#"{"aps":{"alert":"x","badge":7,"sound":"s.caf","relevance-score":0.50}}"#.utf8)
        let sealed = try place.sealed(to: "phone", "--expose", "badge,relevance-score,badge", payload: inner)
        let aps = try #require(try Payload.member("aps", of: sealed) as? [String: Any])
        #expect(Set(aps.keys) == ["alert", "mutable-content", "sound", "badge", "relevance-score"])
        #expect(aps["sound"] as? String == "default")
        #expect(String(decoding: sealed, as: UTF8.self).contains(#""relevance-score":0.50"#))
        #expect(try place.open(keys: "phone", payload: sealed).payload == inner)
        expectRefusal(
            try place.seal(to: "phone", "--expose", "badge,category", payload: inner), 65, saying: "aps.category")
    }

    @Test(
        "the placeholder options become the visible alert",
        arguments: [
            ([], ["title": "New message", "body": "Open the app to read it"]),
            (["--placeholder-body", "Neu: „é“ \" \\ 🙂"], ["body": "Neu: „é“ \" \\ 🙂"]),
            (
                ["--placeholder-title", "T", "--placeholder-title-loc-key", "TK", "--placeholder-body-loc-key", "BK"],
                ["title": "T", "title-loc-key": "TK", "loc-key": "BK"]
            ),
        ])
    func placeholder(_ options: [String], _ alert: [String: String]) throws {
        let output = try place.run(
            ["seal", "--to", "phone", "--topic", Workplace.topic] + options, stdin: Workplace.inner)
        #expect(try Payload.member("aps.alert", of: output.payload) as? [String: String] == alert)
        #expect(try Payload.member("aps.mutable-content", of: output.payload) as? Int == 1)
    }

    @Test("--pad hides the length, --limit sets the largest size, and a longer payload is refused with both sizes")
    func size() throws {
        func count(_ bodyCount: Int, _ pad: String, limit: String = "4096") throws -> Int {
            let payload = Self.inner(bodyCount: bodyCount)
            return try place.sealed(to: "phone", "--pad", pad, "--limit", limit, payload: payload).count - 1
        }
        #expect(try count(1, "1024") == count(700, "1024"))
        #expect(try count(1, "none") + 4 == count(4, "none"))
        // Four characters of base64url encode three bytes, so not every length is possible.
        #expect(try (999...1_000).contains(count(300, "max", limit: "1000")))
        let refused = try place.seal(to: "phone", payload: Self.inner(bodyCount: 4_096))
        expectRefusal(refused, 65, saying: "the limit is 4096")
        #expect(refused.stderr.contains(/takes \d+ bytes/), "\(refused)")
    }

    @Test(
        "a topic that looks like an extension's is sealed for, with a warning; an app's has none",
        arguments: [("com.example.app.nse", true), ("com.example.notifications", false)])
    func topic(_ topic: String, _ warns: Bool) throws {
        let warning = "pushcrypt: the topic \(topic) looks like the bundle identifier of an extension: "
        let one = try place.seal(to: "phone", "--topic", topic)
        #expect(one.exit == 0 && one.stderr.hasPrefix(warning) == warns && (warns || one.stderr.isEmpty), "\(one)")
        let line = Data(#"{"payload":{"aps":{"alert":"x"}}}"#.utf8)
        let batch = try place.seal(to: "phone", "--topic", topic, "--batch", payload: line)
        #expect(batch.exit == 0 && batch.stderr.hasPrefix(warning) == warns, "\(batch)")
    }
}
