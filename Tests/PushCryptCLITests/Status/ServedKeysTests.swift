import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// What would make placeholders, or bring a key back: the keys of the served set and those of the keyset differ.
@Suite("the keys of a served set", .ownThreads)
struct ServedKeysTests {
    private let place: Workplace
    private let kid: String

    /// `www` has the signed set of `Keys/senders`.
    init() throws {
        let signed = try SignedSetPlace()
        place = signed.place
        kid = try signed.kid("Keys/senders")
        try place.makeFolder("www", mode: 0o755)
        try expectPublished()
    }

    private func publish(_ options: String..., at time: String = Workplace.now) throws -> Output {
        try place.run(
            ["keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at", time] + options)
    }

    private func expectPublished(at time: String = Workplace.now) throws {
        let output = try publish(at: time)
        try #require(output.exit == 0, "\(output)")
    }

    private func revoke(at time: String = Workplace.now) throws {
        let output = try place.run("keys", "revoke", "Keys/senders", "--yes", "--at", time, "--", kid)
        try #require(output.exit == 0, "\(output)")
    }

    private func findings(day: Int = 0) throws -> [ServedFinding] { try place.servedFindings(day: day) }

    @Test("a served set without the key that signs now is an error at once, also within a day after the change")
    func signingKey() throws {
        let output = try place.run("rotate", "Keys/senders", "--now", "--at", Workplace.now)
        try #require(output.exit == 0, "\(output)")
        #expect(try findings().isEmpty)
        let next = try #require(try place.keys("Keys/senders", at: SignedSetPlace.day(8)).first { $0.kid != kid }?.kid)
        let promoted = try place.run(
            "keys", "promote", "Keys/senders", "--force", "--at", Workplace.now, "--", next)
        try #require(promoted.exit == 0, "\(promoted)")
        let found = try findings()
        #expect(found.map(\.code) == ["served-lacks"])
        #expect(
            found.first?.message
                == "www/senders.json lacks key \(next), which signs now: apps show a placeholder for each push")
        try expectPublished()
        #expect(try findings().isEmpty)
    }

    @Test(
        "a set or folder that other users can't read, or can change, is a warning, and the advised command ends it",
        arguments: ["chmod 640 www/senders.json", "chmod 750 www", "chmod 666 www/senders.json", "chmod 777 www"])
    func mode(_ command: String) throws {
        _ = try place.shell(command)
        let found = try findings()
        #expect(found.map(\.code) == ["served-mode"], "\(found)")
        #expect(try place.shell(#require(found.first).advice).isSuccess)
        #expect(try findings().isEmpty)
    }

    @Test("an old set in the place of a later one is no sign of a wrong clock")
    func oldFile() throws {
        let day = SignedSetPlace.day(80)
        try place.succeed("rotate", "Keys/senders", at: day)
        try expectPublished(at: day)
        _ = try place.shell("cp www/senders.2.json www/senders.json")
        let codes = try findings(day: 80).map(\.code)
        #expect(codes.contains("served-expired") && !codes.contains("served-refused"), "\(codes)")
    }

    @Test("a damaged copy of a later set is an error, and an older keyset isn't published")
    func damagedCopy() throws {
        _ = try place.shell("cp -a Keys/senders old")
        try revoke()
        try expectPublished()
        _ = try place.shell(
            "rm -r Keys/senders www/senders.json && mv old Keys/senders && truncate -s 300 www/senders.3.json")
        let found = try #require(
            try findings().first { $0.message.hasPrefix("www/senders.3.json, a numbered copy, is damaged") })
        // To move the copy away and to publish would bring the revoked key back.
        #expect(found.code == "served-newer" && !found.advice.contains("mv ") && found.advice.contains("keys restore"))
        expectRefusal(
            try publish(), 65,
            saying: "www/senders.3.json is the damaged copy of a later set, seq 3, and the keyset has seq 2")
        #expect(!place.has("www/senders.json"))
    }

    @Test(
        "a file of the web server whose name ends with a number is no copy of a set, and a keyset is published beside it"
    )
    func foreignNumber() throws {
        try place.write(Data("{}".utf8), to: "www/manifest.2027.json")
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "3", at: Workplace.now)
        try expectPublished()
        #expect(try findings().isEmpty)
    }

    @Test("a renamed old copy is compared with the set of its former name, and isn't published beside it")
    func renamedCopy() throws {
        let day = SignedSetPlace.day
        _ = try place.shell("cp -a Keys/senders Keys.old")
        try revoke(at: day(1))
        let destroyed = try place.run("keys", "destroy", "Keys/senders", "--force", "--at", day(1), "--", kid)
        try #require(destroyed.exit == 0, "\(destroyed)")
        try expectPublished(at: day(1))
        _ = try place.shell("rm -r Keys/senders && mv Keys.old Keys/backend")
        #expect(try findings(day: 1).contains { $0.code == "served-newer" && $0.message.hasPrefix("www/senders.json") })
        func publishRenamed() throws -> Output {
            try place.run(
                "keys", "publish", "Keys/backend", "--to", "www", "--signed-by", "Keys/publisher", "--as", "backend",
                "--at", day(1))
        }
        #expect(try publishRenamed().exit == 65)
        let revoked = try place.run("keys", "revoke", "Keys/backend", "--yes", "--at", day(1), "--", kid)
        try #require(revoked.exit == 0, "\(revoked)")
        expectRefusal(try publishRenamed(), 65, saying: "www/senders.json has seq 4, and the keyset has seq 3")
        #expect(!place.has("www/backend.json"))
    }

    @Test(
        "a lost signed set is an error at once beside unsigned keys, and in an empty folder if a key is revoked",
        arguments: [false, true])
    func lostSet(isRevoked: Bool) throws {
        if isRevoked {
            try revoke()
        } else {
            try place.succeed("keys", "publish", "Keys/senders", "--to", "www")
        }
        _ = try place.shell("rm www/senders.json www/senders.2.json")
        let found = try findings()
        #expect(found.map(\.code) == ["served-unpublished"], "\(found)")
        #expect(found.first?.message.hasPrefix("www has no signed set of the keyset, so nothing can fetch") == true)
    }

    @Test("an expired served set is an error, also on the day of a change")
    func expired() throws {
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "3", at: SignedSetPlace.day(61))
        #expect(try findings(day: 61).map(\.code) == ["served-expired"])
        try expectPublished(at: SignedSetPlace.day(61))
        #expect(try findings(day: 61).isEmpty)
    }

    @Test("an expired served set whose keyset's set has expired, too, has the advice to rotate, then to publish")
    func expiredWithKeyset() throws {
        let found = try #require(try findings(day: 80).first { $0.code == "served-expired" })
        #expect(
            found.advice.hasPrefix("pushcrypt rotate Keys/senders && pushcrypt keys publish Keys/senders --to www"),
            "\(found.advice)")
    }

    @Test(
        "keys publish refuses an old copy before and after --publish-seq, and publishes it when the served set is moved away"
    )
    func formerHost() throws {
        _ = try place.shell("cp -a Keys/senders former")
        try revoke(at: SignedSetPlace.day(1))
        try expectPublished(at: SignedSetPlace.day(1))
        let live = try #require(try place.keys("Keys/senders", at: SignedSetPlace.day(1)).first { $0.kid != kid }?.kid)
        _ = try place.shell("rm -r Keys/senders && mv former Keys/senders")
        let day = SignedSetPlace.day(2)
        expectRefusal(try publish(at: day), 65, saying: "If another host changes the keyset now, remove this copy")
        try revoke(at: day)
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "9", at: day)
        let words =
            "www/senders.json has key \(live), which the keyset has never had: another host uses it, or it was lost"
        #expect(
            try findings(day: 2).contains { $0.code == "served-conflict" && $0.message == "\(words) with a backup" })
        expectRefusal(
            try publish(at: day), 65, saying: "If the key is lost, pushes with it show placeholders: move the set")
        _ = try place.shell("mv www/senders.json www/senders.json.old")
        #expect(try publish(at: day).exit == 0)
        #expect(try publish(at: day).stderr.isEmpty)
    }

    @Test(
        "a set of another epoch doesn't replace the served one, the advice has the served epoch, and a lost set is an error"
    )
    func earlierEpoch() throws {
        try place.succeed("keys", "policy", "Keys/senders", "--publish-epoch", "2", "--yes", at: Workplace.now)
        #expect(try publish("--epoch", "1").exit == 0)
        try revoke()
        let found = try #require(try findings().first { $0.code == "served-revoked" })
        #expect(found.advice.hasSuffix("--signed-by Keys/publisher --epoch 1"), "\(found)")
        expectRefusal(
            try publish(), 65,
            saying: "www/senders.json has epoch 1, and this set has epoch 2, which the apps that fetch")
        #expect(try publish("--epoch", "1").exit == 0)
        #expect(try publish("--as", "senders-2").exit == 0)
        #expect(try findings().isEmpty)
        _ = try place.shell("mv www/senders.json lost")
        let lost = try findings()
        #expect(lost.map(\.code) == ["served-unpublished"], "\(lost)")
        #expect(
            lost.first?.message.hasPrefix("www has no senders.json any more: www/senders.4.json is its newest") == true)
        #expect(lost.first?.advice.contains("--signed-by Keys/publisher --epoch 1  #") == true)
    }

    @Test(
        "a served set that was issued in the future is an error, and the advice moves it away"
    )
    func issuedInFuture() throws {
        _ = try place.shell("cp -a Keys/senders old")
        try place.succeed("keys", "policy", "Keys/senders", "--keep", "3", at: SignedSetPlace.day(30))
        try expectPublished(at: SignedSetPlace.day(30))
        _ = try place.shell("rm -r Keys/senders && mv old Keys/senders")
        let found = try #require(try findings(day: 1).first { $0.code == "served-future" })
        #expect(found.message.hasPrefix("www/senders.json was issued at 2026-03-31T09:00:00Z, later than now"))
        #expect(found.advice.hasSuffix("mv www/senders.json www/senders.json.old"))
    }

    @Test(
        "a file with another keyset's set is an error of the keyset that has the file's name, and the advice corrects it"
    )
    func swapped() throws {
        try place.create("Keys/other", "sender")
        try place.succeed("keys", "policy", "Keys/other", "--publish-topic", Workplace.topic, at: Workplace.now)
        _ = try place.shell("cp www/senders.json www/other.json")
        let found = try findings()
        #expect(found.map(\.code) == ["served-foreign"], "\(found)")
        #expect(found.first?.message.hasPrefix("www/other.json is the set of Keys/senders") == true)
        let advice = try #require(found.first?.advice)
        #expect(advice.contains("keys publish Keys/other --to www --signed-by Keys/publisher"))
        let output = try place.shell("pushcrypt() { \"$PUSHCRYPT\" \"$@\" --at \(Workplace.now); }; \(advice)")
        #expect(output.exit == 0, "\(output)")
        #expect(try findings().isEmpty)
    }

    @Test(
        "an old copy with a higher seq and a lower epoch is an error, and isn't published until the epoch is raised again"
    )
    func lowerEpoch() throws {
        _ = try place.shell("cp -a Keys/senders old")
        func raiseEpoch() throws {
            let output = try place.run(
                "keys", "policy", "Keys/senders", "--publish-epoch", "2", "--yes", "--at", Workplace.now)
            try #require(output.exit == 0, "\(output)")
        }
        try raiseEpoch()
        _ = try place.shell("rm www/*")
        try expectPublished()
        _ = try place.shell("rm -r Keys/senders && mv old Keys/senders")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "9")
        let words = "www/senders.json has epoch 2, and the keyset has epoch 1"
        let found = try #require(try findings().first { $0.message.hasPrefix(words) })
        #expect(found.code == "served-newer" && found.advice.hasSuffix("Keys/senders --publish-epoch 2"), "\(found)")
        expectRefusal(try publish(), 65, saying: words)
        try raiseEpoch()
        try expectPublished()
        #expect(try findings().isEmpty)
    }

    @Test("a served key that the keyset has never had, in a set with the same seq, has the advice to raise seq first")
    func unknownKeyWithSameSequence() throws {
        _ = try place.shell("cp -a Keys/senders old")
        try place.succeed("keys", "add", "Keys/senders")
        try expectPublished()
        _ = try place.shell("rm -r Keys/senders && mv old Keys/senders")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "3")
        let advice = try #require(try findings().first { $0.code == "served-conflict" }).advice
        let commands = try #require(advice.split(separator: "publish again: ").last)
        #expect(
            commands.hasPrefix(
                "pushcrypt keys policy Keys/senders --publish-seq 4 && mv www/senders.json www/senders.json.old && pushcrypt keys "
                    + "publish "),
            "\(advice)")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "4")
        _ = try place.shell("mv www/senders.json www/senders.json.old")
        try expectPublished()
        #expect(try findings().isEmpty)
    }

    @Test("a signed set with the name of a recipient keyset has no finding")
    func borrowedName() throws {
        try place.create("Keys/app", "recipient")
        try place.succeed("keys", "publish", "Keys/app", "--to", "www", at: Workplace.now)
        _ = try place.shell("mv www/senders.json www/app.json && mv www/senders.2.json www/app.2.json")
        #expect(try findings().isEmpty)
    }

    @Test("a keystore and the folder of a keyset are no place to publish", arguments: ["Keys", "Keys/senders"])
    func privateFolder(_ folder: String) throws {
        expectRefusal(
            try place.run(
                "keys", "publish", "Keys/senders", "--to", folder, "--signed-by", "Keys/publisher", "--at",
                Workplace.now),
            65, saying: "\(folder) has private keys, which a web server must never serve")
    }

    @Test("seal and keys export say that a restoration isn't confirmed, until it is")
    func unconfirmed() throws {
        try place.write(Data("a long winter".utf8), to: "secret")
        let sealing = ["--backup-passphrase-file", "secret", "--at", Workplace.now]
        let backup = try place.run(["keys", "backup", "Keys/senders", "--to", "backup"] + sealing)
        try revoke()
        _ = try place.shell("rm -r Keys/senders")
        let restored = try place.run(["keys", "restore", "Keys/senders", "--from", "backup"] + sealing)
        try #require(backup.exit == 0 && restored.exit == 0, "\(restored)")
        try place.create("Keys/phone", "shared")
        let commands = [
            ["keys", "export", "Keys/senders"],
            ["seal", "--to", "Keys/phone", "--sign-with", "Keys/senders", "--topic", Workplace.topic, "--bare"],
        ]
        let note = "so keys that were revoked or destroyed may be in use again. Revoke these again, then confirm it"
        func notes() throws -> [Bool] {
            try commands.map { command in
                let output = try place.run(
                    command + ["--at", Workplace.now], stdin: Data(#"{"aps":{"alert":"Hi"}}"#.utf8))
                #expect(output.exit == 0, "\(output)")
                return output.stderr.contains(note)
            }
        }
        #expect(try notes() == [true, true])
        try place.succeed("keys", "restore", "Keys/senders", "--confirm")
        #expect(try notes() == [false, false])
    }
}
