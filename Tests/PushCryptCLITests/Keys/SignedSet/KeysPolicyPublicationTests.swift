import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("keys policy and the signed set", .ownThreads)
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
        #expect(first.text.hasPrefix("changed the published set: set "))
        #expect(first.text.contains(", topics com.example.app, epoch 1, validFor 30d\n"), "\(first)")
        let before = try Self.publication(place)
        #expect(before["topics"] as? [String] == ["com.example.app"])
        #expect(before["epoch"] as? Int == 1 && before["validFor"] as? String == "P30D")
        try place.succeed(
            "keys", "policy", "Keys/senders", "--publish-topic", "a", "--publish-topic", "b", "--publish-epoch", "2",
            "--keep", "3", "--yes")
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
            ["--publish-topic", "a", "--publish-epoch=-1"], ["--publish-topic", "a", "--publish-for", "1d"],
            ["--publish-topic", "a", "--publish-for", "172799s"], ["--publish-seq", "0"],
        ])
    func refused(_ options: [String]) throws {
        let place = try Workplace()
        try place.create("Keys/senders", "sender")
        let before = try place.contents(of: "Keys")
        expectRefusal(try place.run(["keys", "policy", "Keys/senders", "--at", Workplace.now] + options), 64)
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test("a validity outside of 2 to 90 days exits 64 and names the bound", arguments: ["1d", "91d"])
    func validity(_ duration: String) throws {
        let place = try SignedSetPlace().place
        expectRefusal(
            try place.run("keys", "policy", "Keys/senders", "--publish-for", duration, "--at", Workplace.now), 64,
            saying: duration == "1d" ? "is valid for at least 2 days" : "is valid for at most 90 days, not 91d")
    }

    @Test("a lower epoch exits 64")
    func lowerEpoch() throws {
        let place = try SignedSetPlace().place
        try place.succeed("keys", "policy", "Keys/senders", "--publish-epoch", "3", "--yes")
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

    @Test("sets are valid for at least 2 days, and a keyset with a shorter validity is still read and changed")
    func shortest() throws {
        let place = try SignedSetPlace().place
        try place.succeed("keys", "policy", "Keys/senders", "--publish-for", "2d")
        try place.edit("Keys/senders/keyset.json") {
            $0.replacing("\"validFor\": \"P2D\"", with: "\"validFor\": \"PT9S\"")
                .replacing(/,\n  "digest": "[^"]*"/, with: "")
        }
        try place.succeed("keys", "policy", "Keys/senders", "--publish-topic", Workplace.topic, "--publish-topic", "b")
        #expect(try Self.publication(place)["validFor"] as? String == "PT9S")
        expectRefusal(
            try place.run("keys", "policy", "Keys/senders", "--publish-for", "9s", "--at", Workplace.now), 64,
            saying: "a signed set is valid for at least 2 days")
    }

    @Test(
        "a higher epoch and a dropped topic need --yes, which names the apps that are locked out",
        arguments: [
            (["--publish-epoch", "2"], ["apps that pin epoch 1 refuse every further set", "`keys export --epoch 1`"]),
            (["--publish-topic", "b"], ["apps with the topic \(Workplace.topic) refuse every further set"]),
            (
                ["--publish-topic", "b", "--publish-epoch", "7"],
                ["apps that pin epoch 1", "apps with the topic \(Workplace.topic)"]
            ),
        ])
    func losses(_ options: [String], _ losses: [String]) throws {
        let place = try SignedSetPlace().place
        let before = try place.contents(of: "Keys")
        let command = ["keys", "policy", "Keys/senders", "--at", Workplace.now] + options
        let refused = try place.run(command)
        expectRefusal(refused, 64, saying: "to confirm, add --yes")
        #expect(try place.contents(of: "Keys") == before)
        let done = try place.run(command + ["--yes"])
        #expect(done.exit == 0, "\(done)")
        for loss in losses {
            #expect(refused.stderr.contains(loss), "\(refused)")
            #expect(done.stderr.contains(loss) && done.text.contains(loss), "\(done)")
            let log = try place.run("keys", "log", "Keys/senders").text
            #expect(log.contains(loss), "\(log)")
        }
    }

    @Test("the first topics, an added topic, another validity and a policy need no --yes")
    func withoutLosses() throws {
        let place = try Workplace()
        try place.create("Keys/senders", "sender")
        for options in [
            ["--publish-topic", "a", "--publish-epoch", "5"], ["--publish-topic", "b", "--publish-topic", "a"],
            ["--publish-for", "30d"], ["--publish-epoch", "5"], ["--keep", "3"],
        ] {
            let output = try place.run(["keys", "policy", "Keys/senders", "--at", Workplace.now] + options)
            #expect(output.isSuccess, "\(output)")
        }
    }

    @Test(
        "--publish-seq raises the seq of a restored keyset to the given number, and the number that it has changes nothing"
    )
    func sequence() throws {
        let place = try SignedSetPlace().place
        let command = ["keys", "policy", "Keys/senders", "--at", Workplace.now, "--publish-seq"]
        let output = try place.run(command + ["41"])
        #expect(output.exit == 0, "\(output)")
        #expect(output.text.contains("; seq 41 instead of 2"), "\(output)")
        #expect(try Payload.member("pushcrypt.seq", of: place.read("Keys/senders/keyset.json")) as? Int == 41)
        #expect(try Payload.member("pushcrypt.seq", of: place.read("Keys/senders/public.jwks.json")) as? Int == 41)
        #expect(try place.run("keys", "log", "Keys/senders").text.contains("; seq 41 instead of 2"))
        #expect(try place.run("keys", "verify", "Keys/senders", "--at", Workplace.now).exit == 0)
        let before = try place.contents(of: "Keys")
        #expect(try place.run(command + ["41"]).exit == 0)
        for number in ["40", "0"] {
            expectRefusal(try place.run(command + [number]), 64, saying: "is 41 and never goes down")
        }
        expectRefusal(try place.run(command + ["9007199254740991"]), 64, saying: "4503599627370496")
        #expect(try place.contents(of: "Keys") == before)
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "4503599627370496")
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "5")
    }

    @Test("--publish-seq raises the seq of recipients and of senders without a signed set, also after a restoration")
    func sequenceWithoutSet() throws {
        for kind in ["sender", "recipient"] {
            let place = try Workplace()
            try place.create("Keys/app", kind)
            let copy = try place.read("Keys/app/keyset.json")
            let raised = try place.succeed("keys", "policy", "Keys/app", "--publish-seq", "9")
            #expect(raised.text == "changed the published set: seq 9 instead of 1\n")
            #expect(try Payload.member("pushcrypt.seq", of: place.read("Keys/app/public.jwks.json")) as? Int == 9)
            try place.write(copy, to: "Keys/app/keyset.json")
            _ = try place.shell("rm Keys/app/public.jwks.json")
            try place.succeed("keys", "restore", "Keys/app", "--back-in-time")
            #expect(try Payload.member("pushcrypt.seq", of: place.read("Keys/app/keyset.json")) as? Int == 10)
        }
    }

    @Test("--publish-seq of shared keys and of publishers exits 65", arguments: ["shared", "publisher"])
    func sequenceOfOthers(_ kind: String) throws {
        let place = try Workplace()
        try place.create("Keys/app", kind)
        expectRefusal(
            try place.run("keys", "policy", "Keys/app", "--publish-seq", "9", "--at", Workplace.now), 65,
            saying: "only sender keys are published")
    }

    @Test("apps accept the set of a restored keyset after --publish-seq, and refuse it before")
    func restored() throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        let backup = try place.contents(of: "Keys/senders")
        for keep in ["3", "4", "5"] { try place.succeed("keys", "policy", "Keys/senders", "--keep", keep) }
        try signed.publish()
        let served = try place.read("set")
        for (name, data) in backup { try place.write(data, to: "Keys/senders/" + name) }
        try signed.publish()
        let pins = try SenderSetPins(json: Array(place.read("pins")))
        func state(_ document: Data, _ stored: SenderSetState?) throws -> SenderSetState {
            let set = try SignedSenderSet.verify(Array(document), publishers: pins.publishers)
            return try SenderSetState(
                accepting: set, pins: pins, topic: Topic(Workplace.topic), stored: stored,
                at: set.publication.issuedAt)
        }
        let known = try state(served, nil)
        let old = try place.read("set")
        let error = #expect(throws: KeyError.self) { try state(old, known) }
        #expect(error?.code == .rolledBack)
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "\(known.sequence + 1)")
        try signed.publish()
        #expect(try state(place.read("set"), known).sequence == known.sequence + 1)
    }

    @Test("keys policy of publisher keys prints that they have none, in text and JSON")
    func publisher() throws {
        let place = try SignedSetPlace().place
        let text = try place.run("keys", "policy", "Keys/publisher").text
        #expect(text.hasPrefix("publisher keys are never rotated: "))
        let json = try place.run("keys", "policy", "Keys/publisher", "--json").object()
        #expect(json.keys.sorted() == ["exemption", "writer"])
        #expect(text.hasPrefix("\(json["exemption"] ?? "")\n"))
    }
}
