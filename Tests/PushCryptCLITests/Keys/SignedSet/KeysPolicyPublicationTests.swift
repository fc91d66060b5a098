import Foundation
import PushCryptTestSupport
import Testing

@Suite("keys policy --publish-topic, --publish-epoch and --publish-for", .ownThreads)
struct KeysPolicyPublicationTests {
    private static func publication(_ place: Workplace) throws -> [String: Any] {
        let output = try place.run("keys", "policy", "Keys/senders", "--json")
        return try #require(output.object()["publication"] as? [String: Any])
    }

    @Test("the first change makes a random id, later ones keep it, and each raises seq")
    func changes() throws {
        let place = try Workplace()
        try place.create("Keys/senders", "sender")
        #expect(try place.run("keys", "policy", "Keys/senders", "--json").object()["publication"] == nil)
        let first = try place.succeed(
            "keys", "policy", "Keys/senders", "--publish-topic", "com.example.app", "--publish-for", "30d")
        #expect(first.text.hasPrefix("changed the signed set: {\"set\": "))
        let before = try Self.publication(place)
        #expect(before["topics"] as? [String] == ["com.example.app"])
        #expect(before["epoch"] as? Int == 1 && before["validFor"] as? String == "P30D")
        try place.succeed(
            "keys", "policy", "Keys/senders", "--publish-topic", "a", "--publish-topic", "b", "--publish-epoch", "2",
            "--keep", "3")
        let after = try Self.publication(place)
        #expect(after["set"] as? String == before["set"] as? String)
        #expect(after["topics"] as? [String] == ["a", "b"])
        #expect(after["epoch"] as? Int == 2 && after["validFor"] as? String == "P30D")
        #expect(try Payload.member("pushcrypt.seq", of: place.read("Keys/senders/keyset.json")) as? Int == 3)
        #expect(
            try place.succeed("keys", "policy", "Keys/senders", "--publish-epoch", "2").text == "nothing to change\n")
        let shown = try place.run("keys", "policy", "Keys/senders").text
        #expect(shown.contains("signed set    30d         how long it is valid, for a, b\n"))
    }

    @Test(
        "a publication that apps would refuse exits 64 and changes nothing",
        arguments: [
            ["--publish-epoch", "1"], ["--publish-topic", "a b"], ["--publish-topic", "a", "--publish-for", "91d"],
            ["--publish-topic", "a", "--publish-for", "0s"], ["--publish-topic", "a", "--publish-topic", "a"],
            ["--publish-topic", "a", "--publish-epoch", "9007199254740992"],
            ["--publish-topic", "a", "--publish-epoch=-1"],
        ])
    func refused(_ options: [String]) throws {
        let place = try Workplace()
        try place.create("Keys/senders", "sender")
        let before = try place.contents(of: "Keys")
        expectRefusal(try place.run(["keys", "policy", "Keys/senders", "--at", Workplace.now] + options), 64)
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test("a lower epoch exits 64")
    func lowerEpoch() throws {
        let place = try SignedSetPlace().place
        try place.succeed("keys", "policy", "Keys/senders", "--publish-epoch", "3")
        expectRefusal(
            try place.run("keys", "policy", "Keys/senders", "--publish-epoch", "2", "--at", Workplace.now), 64,
            saying: "the epoch is 3 and never goes down")
    }

    @Test("keys other than senders' exit 65", arguments: ["recipient", "shared", "publisher"])
    func otherKinds(_ kind: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", kind)
        expectRefusal(
            try place.run("keys", "policy", "Keys/ios", "--publish-topic", "a", "--at", Workplace.now), 65,
            saying: "only sender keys are published")
    }
}
