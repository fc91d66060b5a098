import Foundation
import PushCryptTestSupport
import Testing

/// Which publisher keys have signed the served sets is the record of those that were destroyed.
@Suite("the served sets as the record of publisher keys", .ownThreads)
struct PublisherRecordTests {
    private let place: Workplace
    private let first: String

    /// `www` has the signed set of `Keys/senders`, which `Publisher/app` has signed; it was made after the senders' last change.
    init() throws {
        place = try Workplace()
        try place.create("Keys/senders", "sender")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-topic", Workplace.topic, at: Workplace.now)
        try place.create("Publisher/app", "publisher")
        first = try #require(try place.keys("Publisher/app", at: Workplace.now).first?.kid)
        try place.makeFolder("www", mode: 0o755)
        let published = try publish(day: 1)
        try #require(published.exit == 0, "\(published)")
    }

    private func publish(day: Int, by publisher: String = "Publisher/app", _ options: String...) throws -> Output {
        try place.run(
            [
                "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", publisher, "--at",
                SignedSetPlace.day(day),
            ] + options)
    }

    private func findings(day: Int, _ publishers: String...) throws -> [ServedFinding] {
        try place.servedFindings(
            day: day,
            (publishers.isEmpty ? ["Publisher/app"] : publishers).flatMap { ["--signed-by", $0] })
    }

    private func raise(_ sequence: Int, day: Int) throws {
        try place.succeed(
            "keys", "policy", "Keys/senders", "--publish-seq", "\(sequence)", at: SignedSetPlace.day(day))
    }

    private func addPublisherKey(day: Int) throws -> String {
        try place.succeed("keys", "add", "Publisher/app", at: SignedSetPlace.day(day))
        let keys = try place.keys("Publisher/app", at: SignedSetPlace.day(day))
        return try #require(keys.first { $0.kid != first && $0.state != "destroyed" }?.kid)
    }

    private func destroy(_ kid: String, day: Int) throws {
        let output = try place.run(
            "keys", "destroy", "Publisher/app", "--force", "--at", SignedSetPlace.day(day), "--", kid)
        try #require(output.exit == 0, "\(output)")
    }

    @Test(
        "a published set isn't signed again after a publisher key was added: the printed command raises its seq first")
    func added() throws {
        let key = try addPublisherKey(day: 2)
        let before = try place.contents(of: "www")
        let refused = try publish(day: 2)
        expectRefusal(refused, 65, saying: "A set that was published isn't signed again")
        let command = "pushcrypt keys policy Keys/senders --publish-seq 3"
        #expect(refused.stderr.contains(key) && refused.stderr.contains("`\(command)`"), "\(refused)")
        #expect(try place.contents(of: "www") == before)
        let found = try findings(day: 2)
        #expect(found.map(\.code) == ["served-signature"], "\(found)")
        #expect(
            found[0].advice == "\(command) && pushcrypt keys publish Keys/senders --to www --signed-by Publisher/app",
            "\(found)")
        try raise(3, day: 2)
        #expect(try publish(day: 2).exit == 0)
        #expect(try findings(day: 2).isEmpty)
        #expect(try place.read("www/senders.2.json") == before["senders.2.json"])
    }

    @Test(
        "an old publisher copy doesn't bring back a key that was added and destroyed after the senders' last change",
        arguments: ["the added key", "the first key"])
    func destroyed(_ which: String) throws {
        let added = try addPublisherKey(day: 2)
        let kid = which == "the first key" ? first : added
        try raise(3, day: 2)
        #expect(try publish(day: 2).exit == 0)
        _ = try place.shell("cp -a Publisher/app old")
        try destroy(kid, day: 3)
        expectRefusal(try publish(day: 3), 65, saying: "A set that was published isn't signed again")
        try raise(4, day: 3)
        #expect(try publish(day: 3).exit == 0)
        #expect(try findings(day: 3).isEmpty)
        _ = try place.shell("rm -r Publisher/app && mv old Publisher/app")
        let before = try place.contents(of: "www")
        let found = try findings(day: 4)
        #expect(found.map(\.code) == ["served-signature"], "\(found)")
        #expect(
            found[0].message.contains(
                "was not signed by publisher key \(kid), which is older: either it was destroyed"),
            "\(found)")
        expectRefusal(try publish(day: 4), 65, saying: "If the key was destroyed, destroy it here, too")
        #expect(try place.contents(of: "www") == before)
    }

    @Test("another publisher doesn't sign a published set again, so that the copies still show which key was destroyed")
    func spare() throws {
        try place.create("Publisher/spare", "publisher")
        _ = try addPublisherKey(day: 2)
        try raise(3, day: 2)
        #expect(try publish(day: 2).exit == 0)
        _ = try place.shell("cp -a Publisher/app old")
        try destroy(first, day: 3)
        try raise(4, day: 3)
        #expect(try publish(day: 3).exit == 0)
        expectRefusal(
            try publish(day: 4, by: "Publisher/spare", "--new-publisher"), 65,
            saying: "A set that was published isn't signed again")
        let advice = try #require(try findings(day: 4, "Publisher/spare").first?.advice)
        #expect(advice.contains("pushcrypt keys policy Keys/senders --publish-seq 5 && "), "\(advice)")
        try raise(5, day: 4)
        #expect(try publish(day: 4, by: "Publisher/spare", "--new-publisher").exit == 0)
        _ = try place.shell("rm -r Publisher/app && mv old Publisher/app")
        let found = try findings(day: 5, "Publisher/app", "Publisher/spare")
        #expect(found.map(\.code) == ["served-signature"], "\(found)")
        #expect(found[0].message.contains("www/senders.4.json was not signed by publisher key \(first)"), "\(found)")
        expectRefusal(
            try publish(day: 5, "--new-publisher"), 65,
            saying: "was not signed by publisher key \(first), which is older")
    }

    @Test("an old publisher copy whose only key was destroyed signs nothing, also with --new-publisher")
    func onlyDestroyedKey() throws {
        _ = try place.shell("cp -a Publisher/app old")
        let added = try addPublisherKey(day: 2)
        try raise(3, day: 2)
        #expect(try publish(day: 2).exit == 0)
        try destroy(first, day: 3)
        try raise(4, day: 3)
        #expect(try publish(day: 3).exit == 0)
        _ = try place.shell("rm -r Publisher/app && mv old Publisher/app")
        let found = try findings(day: 4)
        #expect(found.map(\.code) == ["served-signature"], "\(found)")
        #expect(found[0].message.contains("www/senders.json was not signed by publisher key \(first)"), "\(found)")
        #expect(found[0].advice.hasPrefix("Restore the newest backup of Publisher/app"), "\(found)")
        #expect(!found[0].advice.contains("--new-publisher"), "\(found)")
        try raise(5, day: 4)
        let before = try place.contents(of: "www")
        for options in [[], ["--new-publisher"]] {
            let refused = try place.run(
                [
                    "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Publisher/app", "--at",
                    SignedSetPlace.day(4),
                ] + options)
            expectRefusal(refused, 65, saying: "was not signed by publisher key \(first), which is older")
            #expect(!refused.stderr.contains(added), "\(refused)")
        }
        #expect(try place.contents(of: "www") == before)
    }

    @Test("with two publishers, the advice names the one that has signed the set")
    func twoPublishers() throws {
        try place.create("Publisher/next", "publisher")
        _ = try place.shell("rm www/senders.json")
        let found = try findings(day: 1, "Publisher/next", "Publisher/app")
        #expect(found.map(\.code) == ["served-unpublished"], "\(found)")
        #expect(found[0].advice.hasSuffix(" --signed-by Publisher/app"), "\(found)")
    }

    @Test("a publisher keyset that was changed under a clock far ahead signs nothing, and status says so")
    func clockAhead() throws {
        try place.succeed("keys", "add", "Publisher/app", at: SignedSetPlace.day(300))
        expectRefusal(try publish(day: 2), 65, saying: "Publisher/app was changed at 2026-12-26T09:00:00Z")
        let output = try place.run(
            "status", "Keys", "--served", "www", "--signed-by", "Publisher/app", "--json", "--at", SignedSetPlace.day(2)
        )
        let problems = try #require(try output.object()["problems"] as? [[String: String]])
        let clock = try #require(problems.first { $0["code"] == "clock" })
        #expect(clock["keyset"] == "Publisher/app" && clock["severity"] == "error", "\(clock)")
        #expect(clock["advice"]?.contains("docs/runbooks/wrong-clock.md") == true, "\(clock)")
    }
}
