import Foundation
import PushCryptTestSupport
import Testing

/// Which publisher keyset has signed a served set, and its numbered copies.
@Suite("the publishers of a served set", .ownThreads)
struct ServedPublisherTests {
    private let place: Workplace

    /// `www` has the signed set of `Keys/senders`, which `Publisher/app` has signed; `Publisher/old` is a copy from before its first
    /// key was replaced.
    init() throws {
        place = try Workplace()
        try place.create("Keys/senders", "sender")
        try place.create("Publisher/app", "publisher")
        try place.makeFolder("www", mode: 0o755)
        let replaced = try #require(try place.keys("Publisher/app", at: Workplace.now).first?.kid)
        try place.succeed("keys", "policy", "Keys/senders", "--publish-topic", Workplace.topic, at: Workplace.now)
        _ = try place.shell("cp -a Publisher/app old")
        try place.succeed("keys", "add", "Publisher/app", at: SignedSetPlace.day(1))
        let output = try place.run(
            "keys", "destroy", "Publisher/app", "--force", "--at", SignedSetPlace.day(1), "--", replaced)
        try #require(output.exit == 0, "\(output)")
        let published = try publish()
        try #require(published.exit == 0, "\(published)")
    }

    private func publish(by publisher: String = "Publisher/app", _ options: String...) throws -> Output {
        try place.run(
            ["keys", "publish", "Keys/senders", "--to", "www", "--signed-by", publisher, "--at", SignedSetPlace.day(2)]
                + options)
    }

    private func raise(_ sequence: Int) throws {
        try place.succeed(
            "keys", "policy", "Keys/senders", "--publish-seq", "\(sequence)", at: SignedSetPlace.day(2))
    }

    private func findings(_ publisher: String = "Publisher/app") throws -> [ServedFinding] {
        try place.servedFindings(day: 2, "--signed-by", publisher)
    }

    @Test(
        "an old copy of the publisher whose only key was replaced signs nothing, and status says to restore it",
        arguments: ["true", "rm www/senders.json"])
    func oldCopy(_ loss: String) throws {
        _ = try place.shell("rm -r Publisher/app && mv old Publisher/app && \(loss)")
        let before = try place.contents(of: "www")
        let refused =
            "by none of Publisher/app: apps that pin only that key would refuse the new set. If Publisher/app is an old copy"
        expectRefusal(try publish(), 65, saying: refused)
        #expect(try place.contents(of: "www") == before)
        let found = try #require(try findings().first)
        #expect(found.code == "served-signature")
        #expect(
            found.advice.hasPrefix(
                "restore the newest backup of Publisher/app, if it is an old copy: pushcrypt keys restore --from FILE Publisher/app"
            ),
            "\(found)")
    }

    @Test("a set of another publisher keyset is replaced only with --new-publisher, which says when it has no effect")
    func otherPublisher() throws {
        try place.create("Publisher/other", "publisher")
        expectRefusal(try publish(by: "Publisher/other"), 65, saying: "add --new-publisher")
        try raise(7)
        let replaced = try publish(by: "Publisher/other", "--new-publisher")
        #expect(replaced.exit == 0 && !replaced.stderr.contains("no effect"), "\(replaced)")
        #expect(try findings("Publisher/other").isEmpty)
        let again = try publish(by: "Publisher/other", "--new-publisher")
        #expect(again.exit == 0 && again.stderr.contains("--new-publisher has no effect"), "\(again)")
        let unsigned = try place.run("keys", "publish", "Keys/senders", "--to", "www", "--new-publisher")
        #expect(unsigned.exit == 64 && unsigned.stderr.contains("--new-publisher needs --signed-by"), "\(unsigned)")
    }

    @Test("status names the publisher key of a set that no named publisher keyset has signed")
    func foreignSignature() throws {
        try place.create("Publisher/other", "publisher")
        let key = try #require(
            try place.keys("Publisher/app", at: SignedSetPlace.day(2)).first { $0.state != "destroyed" }?.kid)
        let found = try findings("Publisher/other")
        #expect(found.map(\.code) == ["served-signature"], "\(found)")
        #expect(
            found[0].message
                == "www/senders.json was signed by publisher key \(key), and by none of Publisher/other: apps that pin only these "
                + "publishers refuse it")
        #expect(
            found[0].advice.contains("name the publisher keyset that has this key with --signed-by, too"), "\(found)")
        #expect(found[0].advice.hasSuffix("--signed-by Publisher/other --new-publisher"), "\(found)")
        #expect(try findings().isEmpty)
    }

    @Test("a set whose only signer was destroyed since is replaced, and status says to publish it again")
    func replacedInOneStep() throws {
        let old = try #require(
            try place.keys("Publisher/app", at: SignedSetPlace.day(2)).first { $0.state != "destroyed" }?.kid)
        try place.succeed("keys", "add", "Publisher/app", at: SignedSetPlace.day(2))
        let destroyed = try place.run(
            "keys", "destroy", "Publisher/app", "--force", "--at", SignedSetPlace.day(2), "--", old)
        try #require(destroyed.exit == 0, "\(destroyed)")
        let found = try findings()
        #expect(found.map(\.code) == ["served-signature"], "\(found)")
        #expect(found[0].message.contains("is signed by publisher key \(old), which was destroyed since"), "\(found)")
        try raise(7)
        let output = try publish()
        #expect(output.exit == 0, "\(output)")
        #expect(try findings().isEmpty)
    }

    @Test("a set that an old copy of the publisher has signed isn't held against the keys that the publisher has now")
    func signedByOldCopy() throws {
        _ = try place.shell("cp -a Publisher/app new && rm -r Publisher/app && mv old Publisher/app")
        try raise(7)
        let output = try publish(by: "Publisher/app", "--new-publisher")
        #expect(output.exit == 0, "\(output)")
        _ = try place.shell("rm -r Publisher/app && mv new Publisher/app")
        let found = try findings()
        #expect(found.map(\.code) == ["served-signature"], "\(found)")
        #expect(found[0].message.contains("which was destroyed since"), "\(found)")
        try raise(8)
        #expect(try publish().exit == 0)
        #expect(try findings().isEmpty)
    }

    @Test("status says once that the restoration of a publisher isn't confirmed, also if only --signed-by names it")
    func unconfirmed() throws {
        try place.write(Data("a long winter".utf8), to: "secret")
        let sealing = ["--backup-passphrase-file", "secret", "--at", SignedSetPlace.day(2)]
        let backup = try place.run(["keys", "backup", "Publisher/app", "--to", "backup"] + sealing)
        _ = try place.shell("rm -r Publisher/app")
        let restored = try place.run(["keys", "restore", "Publisher/app", "--from", "backup"] + sealing)
        try #require(backup.exit == 0 && restored.exit == 0, "\(restored)")
        #expect(restored.stderr.contains("destroy them again"), "\(restored)")
        #expect(restored.stderr.contains("`pushcrypt status Publisher/app` reports this"), "\(restored)")
        /// The advice of each finding about it.
        func advice(_ paths: [String]) throws -> [String] {
            let output = try place.run(
                ["status"] + paths
                    + ["--served", "www", "--signed-by", "Publisher/app", "--json", "--at", SignedSetPlace.day(2)])
            let problems = try #require(try output.object()["problems"] as? [[String: String]])
            return problems.filter { $0["code"] == "unconfirmed-restore" }.compactMap { $0["advice"] }
        }
        try place.create("Keys/others", "recipient")
        for paths in [["Keys"], ["Keys", "Publisher"], ["Publisher", "Keys"], ["Keys/senders", "Keys/others"]] {
            let advice = try advice(paths)
            #expect(advice.count == 1, "\(paths): \(advice)")
            #expect(advice[0].hasPrefix("pushcrypt keys restore Publisher/app --confirm"), "\(advice)")
        }
        try place.succeed("keys", "restore", "Publisher/app", "--confirm", at: SignedSetPlace.day(2))
        #expect(try advice(["Keys", "Publisher"]).isEmpty)
    }

    @Test("a set of an earlier epoch in the place of a later one isn't published again: the advice names the later one")
    func earlierEpoch() throws {
        let raised = try place.run(
            "keys", "policy", "Keys/senders", "--publish-epoch", "2", "--yes", "--at", SignedSetPlace.day(2))
        #expect(raised.exit == 0, "\(raised)")
        #expect(try publish(by: "Publisher/app", "--epoch", "1").exit == 0)
        #expect(try publish(by: "Publisher/app", "--as", "senders-2").exit == 0)
        _ = try place.shell("cp www/senders.json www/senders-2.json")
        let found = try findings()
        #expect(found.map(\.code) == ["served-changed"], "\(found)")
        #expect(found[0].advice.hasPrefix("mv www/senders-2.json www/senders-2.json.old && "), "\(found)")
        #expect(found[0].advice.contains("--as senders-2") && !found[0].advice.contains("--epoch"), "\(found)")
    }

    @Test("a set with a damaged signature is named as damaged, and the advised commands replace it")
    func damaged() throws {
        try place.edit("www/senders.json") { text in
            // In the middle of the last value, which is a signature.
            let end = text.lastIndex(of: "\"")!
            let middle = text.index(end, offsetBy: -20)
            return text.replacingCharacters(in: middle...middle, with: text[middle] == "A" ? "B" : "A")
        }
        expectRefusal(try publish(), 65, saying: "www/senders.json is damaged: none of its signatures is valid")
        let found = try #require(try findings().first { $0.code == "served-signature" })
        #expect(found.message.contains("so it is damaged"), "\(found)")
        _ = try place.shell(
            found.advice.replacing("pushcrypt keys publish", with: "true"))
        let output = try publish()
        #expect(output.exit == 0, "\(output)")
        #expect(try findings().isEmpty)
    }
}
