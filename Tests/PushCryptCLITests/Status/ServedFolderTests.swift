import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// `status` and `keys doctor` with `--served`: a keyset is compared with its sets in the folder that `keys publish` writes.
@Suite("--served", .ownThreads)
struct ServedFolderTests {
    private let place: Workplace
    private let kid: String

    /// `www` has the public keys and the signed set of `Keys/senders`.
    init() throws {
        let signed = try SignedSetPlace()
        place = signed.place
        kid = try signed.kid("Keys/senders")
        try place.makeFolder("www", mode: 0o755)
        try publish()
    }

    private func publish() throws {
        for options in [[], ["--signed-by", "Keys/publisher"]] {
            let output = try place.run(
                ["keys", "publish", "Keys/senders", "--to", "www", "--at", Workplace.now] + options)
            try #require(output.exit == 0, "\(output)")
        }
    }

    private func revoke() throws {
        let output = try place.run("keys", "revoke", "Keys/senders", "--yes", "--at", Workplace.now, "--", kid)
        try #require(output.exit == 0, "\(output)")
    }

    private func status(_ folder: String = "www", day: Int = 0) throws -> Output {
        try place.settle("Keys")
        return try place.run(
            "status", "Keys", "--served", folder, "--ignore", "plain-text", "--ignore", "future-file", "--at",
            SignedSetPlace.day(day))
    }

    /// The errors of keys doctor, or its other findings.
    private func errors(day: Int = 0, _ severity: String = "error") throws
        -> [(code: String, message: String, advice: String)]
    {
        try place.settle("Keys")
        let output = try place.run(
            "keys", "doctor", "Keys", "--served", "www", "--json", "--at", SignedSetPlace.day(day))
        let found = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]])
        return found.filter { $0["severity"] == severity }.map {
            ($0["code"] ?? "", $0["message"] ?? "", $0["advice"] ?? "")
        }
    }

    @Test("sets of the last change are right, also long after it")
    func same() throws {
        for day in [0, 20] { #expect(try status(day: day).exit == 0) }
        #expect(try errors().isEmpty)
    }

    @Test("a served set that differs from its numbered copy is critical, and publishing it again corrects it")
    func changed() throws {
        try place.edit("www/senders.json") { $0.replacing("\"payload\"", with: " \"payload\"") }
        #expect(try errors().map(\.code) == ["served-changed"])
        #expect(try status().exit == 2)
        try publish()
        #expect(try status().exit == 0)
    }

    @Test("a publisher called as a served sender keyset isn't compared with its set")
    func publisherOfTheSameName() throws {
        try place.create("Publisher/senders", "publisher")
        try place.settle("Publisher")
        let output = try place.run(
            "status", "Keys", "Publisher", "--served", "www", "--ignore", "plain-text", "--ignore", "future-file",
            "--at",
            Workplace.now)
        #expect(output.exit == 0 && !output.text.contains("served-"), "\(output)")
        let doctor = try place.run(
            "keys", "doctor", "Publisher", "--served", "www", "--json", "--at", Workplace.now)
        #expect(!doctor.text.contains("served-"), "\(doctor)")
    }

    @Test("a revocation that wasn't published is critical at once, and the advice publishes it")
    func revoked() throws {
        try revoke()
        let output = try status()
        #expect(output.exit == 2, "\(output)")
        let found = try errors()
        #expect(found.map(\.code) == ["served-revoked", "served-revoked"], "\(found)")
        let words = "key \(kid) was revoked at \(Workplace.now), and www/senders.json, seq 2, doesn't revoke it"
        #expect(found.contains { $0.message == words + ": apps still trust it" }, "\(found)")
        #expect(found.contains { $0.message.contains("www/senders.jwks.json, seq 2") }, "\(found)")
        #expect(
            found.map(\.advice) == [
                "pushcrypt keys publish Keys/senders --to www --signed-by Keys/publisher",
                "pushcrypt keys publish Keys/senders --to www",
            ])
        try publish()
        #expect(try status().exit == 0)
    }

    @Test("a change that wasn't published is an error after a day")
    func older() throws {
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "3", at: Workplace.now)
        #expect(try status(day: 1).exit == 0)
        #expect(try status(day: 2).exit == 2)
        let found = try errors(day: 2)
        #expect(found.map(\.code) == ["served-older", "served-older"], "\(found)")
        #expect(found[0].message.contains("has seq 2, and the keyset has seq 3 since \(Workplace.now)"), "\(found)")
    }

    @Test("a keyset that is older than its set, with its whole folder, is an old copy, and revives a revoked key")
    func oldCopy() throws {
        _ = try place.shell("cp -a Keys/senders copy")
        try revoke()
        try publish()
        _ = try place.shell("rm -r Keys/senders && mv copy Keys/senders")
        #expect(try place.run("status", "Keys", "--ignore", "plain-text", "--at", Workplace.now).exit != 2)
        #expect(try status().exit == 2)
        let found = try errors()
        #expect(Set(found.map(\.code)) == ["served-newer", "served-revoked"], "\(found)")
        #expect(
            found.contains {
                $0.message.contains("and the keyset has seq 2: the keyset is an old copy, or another host")
            })
        let revived = try #require(found.first { $0.code == "served-revoked" })
        #expect(revived.message.contains("revokes key \(kid), which the keyset doesn't"), "\(revived)")
        #expect(revived.advice == "pushcrypt keys revoke Keys/senders \(kid.hasPrefix("-") ? "-- " : "")\(kid)")
    }

    @Test("a set of another keyset, or a file that is no set, is an error")
    func foreign() throws {
        try place.create("Other/senders", "sender")
        try place.create("Keys/plain", "sender")
        try place.succeed("keys", "publish", "Other/senders", "--to", ".", "--as", "other", at: Workplace.now)
        _ = try place.shell("cp other.jwks.json www/senders.jwks.json && echo '{}' >www/plain.json")
        let found = try errors()
        #expect(found.map(\.code) == ["served-foreign", "served-foreign"], "\(found)")
        #expect(found[0].message == "www/plain.json is not a set that `keys publish` writes")
        #expect(found[1].message.hasPrefix("www/senders.jwks.json has no key of the keyset"))
    }

    @Test("a set under another name is compared too, and numbered copies and other files aren't")
    func renamed() throws {
        _ = try place.shell(
            "cd www && mv senders.json app.json && mv senders.jwks.json app.jwks.json && echo '{}' >manifest.json")
        #expect(try status().exit == 0)
        try revoke()
        let found = try errors()
        #expect(found.map(\.code) == ["served-revoked", "served-revoked"], "\(found)")
        #expect(
            found.map(\.advice) == [
                "pushcrypt keys publish Keys/senders --to www --signed-by Keys/publisher --as app",
                "pushcrypt keys publish Keys/senders --to www --as app",
            ])
        for options in [[], ["--signed-by", "Keys/publisher"]] {
            let command = ["keys", "publish", "Keys/senders", "--to", "www", "--as", "app"] + options
            #expect(try place.run(command + ["--at", Workplace.now]).exit == 0)
        }
        #expect(try status().exit == 0)
    }

    @Test("another set with the same seq, as after a restored backup, is an error")
    func conflict() throws {
        _ = try place.shell("cp -a Keys/senders copy")
        try place.succeed("keys", "add", "Keys/senders", at: Workplace.now)
        try publish()
        #expect(try status().exit == 0)
        _ = try place.shell("rm -r Keys/senders && mv copy Keys/senders")
        try place.succeed("keys", "add", "Keys/senders", at: SignedSetPlace.day(1))
        #expect(try status(day: 1).exit == 2)
        let found = try errors(day: 1)
        #expect(found.map(\.code) == ["served-conflict", "served-conflict"], "\(found)")
        let words = "which the keyset has never had: another host uses it, or it was lost with a backup"
        #expect(found.allSatisfy { $0.message.hasSuffix(words) }, "\(found)")
        _ = try place.shell("mv www/senders.json lost.json && mv www/senders.jwks.json lost.jwks.json")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "4", at: SignedSetPlace.day(1))
        for options in [[], ["--signed-by", "Keys/publisher"]] {
            let output = try place.run(
                ["keys", "publish", "Keys/senders", "--to", "www", "--at", SignedSetPlace.day(1)] + options)
            #expect(output.exit == 0, "\(output)")
        }
        #expect(try errors(day: 1).isEmpty)
    }

    @Test("a set that was published and is gone is an error, with the revocations that its numbered copy lacks")
    func gone() throws {
        _ = try place.shell("rm www/senders.json www/senders.jwks.json")
        let output = try status()
        #expect(output.exit == 2 && !output.stderr.contains("no set of any keyset"), "\(output)")
        #expect(try errors().map(\.code) == ["served-unpublished"])
        try revoke()
        #expect(Set(try errors().map(\.code)) == ["served-unpublished", "served-revoked"])
        try publish()
        #expect(try status().exit == 0)
    }

    @Test("a signed set that was never published is a warning at first, and an error after a day")
    func neverPublished() throws {
        _ = try place.shell("rm www/*")
        #expect(try status(day: 0).exit == 1)
        #expect(try errors(day: 20).map(\.code) == ["served-unpublished"])
    }

    @Test("a signed set that was lost with its copies is an error, also on the day of a change")
    func goneAfterChange() throws {
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "3", at: SignedSetPlace.day(20))
        _ = try place.shell("rm www/*")
        #expect(try errors(day: 20).map(\.code) == ["served-unpublished"])
    }

    @Test(
        "a recipient keyset without a set beside sets of others is a warning until it is published; shared keys are none"
    )
    func absent() throws {
        try place.create("Keys/phones", "recipient")
        try place.create("Keys/fleet", "shared")
        let output = try status()
        #expect(output.exit == 1 && output.text.contains("www has no set of the keyset"), "\(output)")
        #expect(
            output.text.contains("pushcrypt keys publish Keys/phones --to www  # if nothing shall fetch"), "\(output)")
        #expect(!output.text.contains("Keys/fleet: "), "\(output)")
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www")
        #expect(try status().exit == 0)
    }

    @Test(
        "a key that was revoked and destroyed is found in a copy of the keyset, also if the log and the numbered copies are lost"
    )
    func destroyed() throws {
        let day = SignedSetPlace.day
        _ = try place.shell("cp -a Keys/senders old")
        try revoke()
        for command in [
            ["keys", "destroy", "Keys/senders", "--force"],
            ["keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher"],
        ] {
            let output = try place.run(command + ["--at", day(2)] + (command[1] == "destroy" ? ["--", kid] : []))
            try #require(output.exit == 0, "\(output)")
        }
        _ = try place.shell("rm -r Keys/senders www/*.[0-9]*.json www/senders.jwks.json && mv old Keys/senders")
        let words = "www/senders.json, seq 4, lacks key \(kid), which is older: it was destroyed"
        #expect(try errors(day: 2).contains { $0.code == "served-revoked" && $0.message.hasPrefix(words) })
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "9", at: day(2))
        func publishAgain() throws -> Output {
            try place.run(
                "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at", day(2))
        }
        expectRefusal(try publishAgain(), 65, saying: words)
        let revoked = try place.run("keys", "revoke", "Keys/senders", "--yes", "--at", day(2), "--", kid)
        #expect(revoked.exit == 0, "\(revoked)")
        expectRefusal(try publishAgain(), 65, saying: "which the keyset has never had: another host uses it")
        _ = try place.shell("mv www/senders.json www/senders.json.old")
        let published = try publishAgain()
        #expect(published.exit == 0, "\(published)")
        #expect(try errors(day: 2).isEmpty)
    }

    @Test("an old copy of unsigned keys is refused with the command that raises its seq, and published after it")
    func oldUnsigned() throws {
        try place.create("Keys/phones", "recipient")
        _ = try place.shell("cp -a Keys/phones copy")
        try place.succeed("keys", "add", "Keys/phones")
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www")
        _ = try place.shell("rm -r Keys/phones && mv copy Keys/phones")
        expectRefusal(
            try place.run("keys", "publish", "Keys/phones", "--to", "www", "--at", Workplace.now), 65,
            saying: "then raise its seq: `pushcrypt keys policy Keys/phones --publish-seq 3`")
        try place.succeed("keys", "policy", "Keys/phones", "--publish-seq", "3")
        _ = try place.shell("mv www/phones.jwks.json www/phones.jwks.json.old")
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www")
    }

    @Test("while apps refuse the set because an earlier one was issued under a wrong clock, status warns")
    func wrongClock() throws {
        _ = try place.shell("cp -a Keys/senders copy")
        let ahead = SignedSetPlace.day(400)
        for command in [
            ["keys", "add", "Keys/senders", "--confirm-clock"],
            ["keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher"],
        ] {
            let output = try place.run(command + ["--at", ahead])
            try #require(output.exit == 0, "\(output)")
        }
        _ = try place.shell("rm -r Keys/senders && mv copy Keys/senders")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "4", at: SignedSetPlace.day(1))
        _ = try place.shell("mv www/senders.json www/senders.json.old")
        for _ in 0..<2 {
            let output = try place.run(
                "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at",
                SignedSetPlace.day(1))
            #expect(output.exit == 0, "\(output)")
        }
        let warning = try #require(try errors(day: 1, "warning").first { $0.code == "served-refused" })
        let words = "www/senders.3.json was issued at 2027-04-05T09:00:00Z, under a wrong clock: apps that have fetched"
        #expect(warning.message.hasPrefix(words))
        #expect(try errors(day: 1).isEmpty)
    }

    @Test("an unconfirmed restoration of a publisher signs nothing")
    func unconfirmedPublisher() throws {
        try place.write(Data("a long winter".utf8), to: "secret")
        let sealing = ["--backup-passphrase-file", "secret", "--at", Workplace.now]
        let backup = try place.run(["keys", "backup", "Keys/publisher", "--to", "backup"] + sealing)
        _ = try place.shell("rm -r Keys/publisher")
        let restored = try place.run(["keys", "restore", "Keys/publisher", "--from", "backup"] + sealing)
        #expect(backup.exit == 0 && restored.exit == 0, "\(restored)")
        for command in [["publish", "Keys/senders", "--to", "www"], ["export", "Keys/senders"]] {
            expectRefusal(
                try place.run(["keys"] + command + ["--signed-by", "Keys/publisher", "--at", Workplace.now]), 75,
                saying:
                    "Destroy these again, then confirm it: `pushcrypt keys restore Keys/publisher --confirm`"
            )
        }
        try place.succeed("keys", "restore", "Keys/publisher", "--confirm")
        try publish()
    }

    @Test("a served set without its numbered copy is a warning, and the advised command writes the copy again")
    func lostCopy() throws {
        let copies = try place.names(in: "www").filter { $0.contains(".2.") }
        #expect(!copies.isEmpty)
        _ = try place.shell("rm www/*.2.*")
        let found = try errors("warning").filter { $0.code == "served-copy" }
        #expect(found.count == copies.count, "\(found)")
        for each in found {
            let words = each.advice.split(separator: " ").dropFirst().map(String.init)
            let output = try place.run(words + ["--at", Workplace.now])
            #expect(output.exit == 0, "\(each): \(output)")
        }
        #expect(try place.names(in: "www").filter { $0.contains(".2.") } == copies)
    }

    @Test(
        "a folder without a set of any keyset is a warning, also for one keyset, which is named; one that isn't there is unknown"
    )
    func empty() throws {
        try place.makeFolder("empty")
        let output = try status("empty")
        #expect(output.exit == 1 && output.text.contains("empty: the folder has no set of any keyset"), "\(output)")
        let doctor = try place.run("keys", "doctor", "Keys", "--served", "empty", "--at", Workplace.now)
        #expect(doctor.text.contains("warning  empty: the folder has no set of any keyset"), "\(doctor)")
        try place.create("Keys/phones", "recipient")
        let one = try place.run("status", "Keys/phones", "--served", "empty", "--at", Workplace.now)
        #expect(one.exit == 1 && one.text.contains("Keys/phones: empty has no set of the keyset"), "\(one)")
        #expect(try status("none").exit == 3)
        #expect(try place.run("keys", "doctor", "Keys", "--served", "none").exit == 66)
    }
}
