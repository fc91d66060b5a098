import Foundation
import Testing

@Suite("seal --expose", .ownThreads)
struct ExposeTests {
    static let inner = Data(
        #"{"aps":{"alert":"x","badge":7,"sound":"s.caf","relevance-score":0.50,"thread-id":"t","content-available":1}}"#
            .utf8)

    @Test(
        "--expose copies the named members of aps to the visible payload",
        arguments: [
            ([], ["alert", "mutable-content", "sound", "content-available"]),
            (["--expose", "badge"], ["alert", "mutable-content", "sound", "content-available", "badge"]),
            (
                ["--expose", "badge,thread-id,badge"],
                ["alert", "mutable-content", "sound", "content-available", "badge", "thread-id"]
            ),
        ])
    func members(_ options: [String], _ expected: [String]) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let output = try place.run(
            ["seal", "--bare", "--to", "Keys/ios", "--topic", Workplace.topic, "--at", Workplace.now] + options,
            stdin: Self.inner)
        #expect(output.isSuccess, "\(output)")
        let aps = try #require(try Payload.member("aps", of: output.payload) as? [String: Any])
        #expect(Set(aps.keys) == Set(expected))
        #expect(aps["sound"] as? String == "default")
        #expect(try place.open(keys: "Keys/ios", payload: output.stdout).payload == Self.inner)
    }

    @Test("an exposed value is copied byte for byte")
    func raw() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let output = try place.seal(to: "Keys/ios", "--expose", "relevance-score,sound", payload: Self.inner)
        #expect(output.text.contains(#""relevance-score":0.50"#))
        #expect(output.text.contains(#""sound":"s.caf""#))
        #expect(!output.text.contains("default"))
    }

    @Test("an exposed name that the payload lacks is refused, and the error names it")
    func absent() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        let output = try place.seal(to: "Keys/ios", "--expose", "badge,category", payload: Self.inner)
        expectRefusal(output, 65, saying: "aps.category")
    }

    @Test("alert and mutable-content can't be exposed", arguments: ["alert", "mutable-content", "badge,alert"])
    func alert(_ list: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        expectRefusal(try place.seal(to: "Keys/ios", "--expose", list, payload: Self.inner), 64)
    }
}
