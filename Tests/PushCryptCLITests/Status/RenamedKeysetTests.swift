import Foundation
import PushCryptTestSupport
import Testing

/// A keyset lies under a new name, and perhaps another one has its earlier name.
@Suite("a keyset keeps its name in the served folder", .ownThreads)
struct RenamedKeysetTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.makeFolder("www", mode: 0o755)
        try place.create("Publisher/app", "publisher")
    }

    /// Publishes three sets, which remain as numbered copies.
    private func publishThree(_ path: String, _ kind: String) throws {
        for sequence in ["11", "12", "13"] {
            try place.succeed("keys", "policy", path, "--publish-seq", sequence)
            try #require(try place.publish(path, kind).exit == 0)
        }
    }

    /// Runs an advised command without its comment.
    private func follow(_ advice: String?) throws {
        let command = try #require(advice?.components(separatedBy: "  # ").first)
        _ = try place.shell(command.replacing("FOLDER", with: "aside"))
    }

    @Test(
        "another keyset lies in the place of a renamed one: neither is published, and status says how to put the folders back",
        arguments: ["sender", "recipient"], ["Keys/two", "Other/one"])
    func otherInPlace(_ kind: String, other: String) throws {
        try place.createPublishable("Keys/one", kind)
        try place.createPublishable(other, kind)
        try publishThree("Keys/one", kind)
        if other == "Keys/two" { try publishThree(other, kind) }
        let (www, one) = (try place.contents(of: "www"), try place.contents(of: "Keys/one"))
        _ = try place.shell("mv Keys/one Keys/one.bak; mv \(other) Keys/one")
        expectRefusal(
            try place.publish("Keys/one.bak", kind), 65,
            saying:
                "under the name one, and nothing fetches the name one.bak yet. If the keyset was renamed, put it back: "
                + "`mv Keys/one FOLDER && mv Keys/one.bak Keys/one`")
        expectRefusal(
            try place.publish("Keys/one", kind), 65, saying: "is a set of Keys/one.bak, and not of this keyset")
        let found = try place.servedErrors()
        #expect(
            found.contains { $0["keyset"] == "Keys/one.bak" && $0["advice"]?.hasPrefix("first end the error") == true },
            "\(found)")
        for _ in 1...2 {
            let commands = try place.servedErrors().filter {
                $0["keyset"] == "Keys/one" && $0["code"] == "served-foreign"
            }
            if let command = commands.first { try follow(command["advice"]) }
        }
        #expect(try place.contents(of: "Keys/one") == one)
        #expect(try place.contents(of: "www") == www)
        #expect(try place.servedErrors().isEmpty)
        if other == "Keys/two" { #expect(try place.publish("Keys/two", kind).exit == 0) }
    }

    @Test(
        "a renamed keyset is published under its earlier name, or on purpose under a new one; then none takes the earlier one"
    )
    func publishedOnPurpose() throws {
        try place.createPublishable("Keys/one", "sender")
        try publishThree("Keys/one", "sender")
        let www = try place.contents(of: "www")
        _ = try place.shell("mv Keys/one Keys/backend")
        expectRefusal(
            try place.publish("Keys/backend", "sender"), 65,
            saying:
                "put it back: `mv Keys/backend Keys/one`. To publish for those that fetch one, add --as one. For another name "
                + "as well, add --as backend")
        #expect(try place.publish("Keys/backend", "sender", "--as", "one").exit == 0)
        #expect(try place.contents(of: "www") == www)
        #expect(try place.publish("Keys/backend", "sender", "--as", "backend").exit == 0)
        #expect(try place.servedErrors().isEmpty)
        try place.create("Keys/one", "sender")
        let command = "mv Keys/one FOLDER && mv Keys/backend Keys/one"
        func expectReported() throws {
            let found = try place.servedErrors()
            #expect(
                found.contains {
                    $0["keyset"] == "Keys/one" && $0["code"] == "served-foreign"
                        && $0["advice"]?.hasPrefix(command) == true
                }, "\(found)")
        }
        try expectReported()
        try place.succeed("keys", "policy", "Keys/one", "--publish-topic", "com.example.app")
        try expectReported()
        expectRefusal(
            try place.publish("Keys/one", "sender"), 65, saying: "if the folder was renamed, put it back: `\(command)`")
        #expect(try place.publish("Keys/one", "sender", "--as", "new").exit == 0)
    }

    @Test(
        "a keyset from elsewhere lies in the place of one that is gone: it isn't published, and what status advises restores the lost one",
        arguments: ["sender", "recipient"], [1, 3])
    func lost(_ kind: String, copyCount: Int) throws {
        try place.createPublishable("Keys/one", kind)
        try place.createPublishable("Other/one", kind)
        if copyCount == 1 {
            try #require(try place.publish("Keys/one", kind).exit == 0)
        } else {
            try publishThree("Keys/one", kind)
        }
        try place.write(Data("correct horse battery staple".utf8), to: "passphrase")
        try place.settle("Keys")
        try place.succeed("keys", "backup", "Keys/one", "--to", "backup", "--backup-passphrase-file", "passphrase")
        let list = try place.run("keys", "list", "Keys/one", "--json", "--at", Workplace.now).text
        let www = try place.contents(of: "www")
        _ = try place.shell("rm -r Keys/one; mv Other/one Keys/one")
        expectRefusal(
            try place.publish("Keys/one", kind), 65, saying: "is a set of another keyset, and not of this keyset")
        let advice = try #require(try place.servedErrors().first { $0["code"] == "served-foreign" }?["advice"])
        let restore = "mv Keys/one FOLDER && pushcrypt keys restore --from FILE Keys/one"
        #expect(
            advice.hasPrefix(
                "if this folder lies in the place of the keyset that has these sets, put that one back: \(restore)"),
            "\(advice)")
        #expect(!advice.contains("mv www"))
        _ = try place.shell("mv Keys/one aside")
        try place.succeed("keys", "restore", "--from", "backup", "Keys/one", "--backup-passphrase-file", "passphrase")
        #expect(try place.run("keys", "list", "Keys/one", "--json", "--at", Workplace.now).text == list)
        #expect(try place.contents(of: "www") == www)
    }

    @Test(
        "folders of senders and recipients were exchanged: neither is published under the other's name, and one command puts them back"
    )
    func kinds() throws {
        try place.createPublishable("Keys/one", "sender")
        try place.createPublishable("Keys/two", "recipient")
        try publishThree("Keys/one", "sender")
        try publishThree("Keys/two", "recipient")
        let keys = try place.contents(of: "Keys")
        _ = try place.shell("mv Keys/one t; mv Keys/two Keys/one; mv t Keys/two")
        expectRefusal(
            try place.publish("Keys/two", "sender"), 65, saying: "under the name one, and nothing fetches the name two")
        expectRefusal(try place.publish("Keys/one", "recipient"), 65, saying: "under the name two")
        let found = try place.servedErrors().filter { $0["code"] == "served-foreign" }
        #expect(Set(found.compactMap { $0["keyset"] }) == ["Keys/one", "Keys/two"], "\(found)")
        try follow(found.first { $0["keyset"] == "Keys/one" }?["advice"])
        #expect(try place.contents(of: "Keys") == keys)
        #expect(try place.servedErrors().isEmpty)
    }

    /// Revokes and destroys the first key, and publishes its successor.
    private func replaceKey(of path: String, _ kind: String, _ kid: String) throws {
        for command in [["revoke", path, "--yes"], ["destroy", path, "--force"]] {
            let output = try place.run(["keys"] + command + ["--at", Workplace.now, "--", kid])
            try #require(output.exit == 0, "\(output)")
            try #require(try place.publish(path, kind).exit == 0)
        }
    }

    @Test(
        "an old copy without a key of today lies in the place of the renamed keyset: it isn't published, and status puts the keyset back",
        arguments: ["sender", "recipient"])
    func oldCopyInPlace(_ kind: String) throws {
        let kid = try place.createPublishable("Keys/one", kind)
        try publishThree("Keys/one", kind)
        _ = try place.shell("cp -a Keys/one old")
        try replaceKey(of: "Keys/one", kind, kid)
        try place.settle("Keys")
        let (www, one) = (try place.contents(of: "www"), try place.contents(of: "Keys/one"))
        _ = try place.shell("mv Keys/one Keys/one.bak; mv old Keys/one")
        #expect(try place.publish("Keys/one", kind).exit == 65)
        #expect(try place.publish("Keys/one.bak", kind).exit == 65)
        let advice = try place.servedErrors().filter { $0["keyset"] == "Keys/one" }.compactMap { $0["advice"] }
        let command = "mv Keys/one FOLDER && mv Keys/one.bak Keys/one"
        #expect(!advice.contains { $0.contains("keys publish Keys/one --to www  #") }, "\(advice)")
        let advised = advice.first { $0.hasPrefix(command) }
        #expect(advised != nil, "\(advice)")
        try follow(advised)
        #expect(try place.contents(of: "Keys/one") == one)
        #expect(try place.contents(of: "www") == www)
        #expect(try place.servedErrors().isEmpty)
    }

    @Test(
        "a new keyset with the name of a lost one, whose set revokes a key, isn't published, also after its seq was raised"
    )
    func newKeyset() throws {
        let kid = try place.create("Keys/one", "recipient")
        try publishThree("Keys/one", "recipient")
        try replaceKey(of: "Keys/one", "recipient", kid)
        let www = try place.contents(of: "www")
        _ = try place.shell("rm -r Keys/one")
        try place.create("Keys/one", "recipient")
        for _ in 1...2 {
            expectRefusal(
                try place.publish("Keys/one", "recipient"), 65,
                saying: "is a set of another keyset, and not of this keyset")
            let found = try place.servedErrors()
            #expect(
                found.contains { $0["advice"]?.hasPrefix("if this folder lies in the place of") == true }, "\(found)")
            #expect(!found.contains { $0["advice"]?.contains("mv www") == true }, "\(found)")
            try place.succeed("keys", "policy", "Keys/one", "--publish-seq", "99")
        }
        #expect(try place.contents(of: "www") == www)
    }

    @Test(
        "a sender keyset is published under the name of a recipient keyset that isn't published, or has another name: no finding"
    )
    func borrowedName() throws {
        try place.createPublishable("Keys/one", "sender")
        try place.createPublishable("Keys/two", "recipient")
        try #require(try place.publish("Keys/one", "sender", "--as", "two").exit == 0)
        #expect(!(try place.servedErrors().contains { $0["code"] == "served-foreign" }))
        try #require(try place.publish("Keys/two", "recipient", "--as", "mail").exit == 0)
        #expect(try place.servedErrors().isEmpty)
    }
}
