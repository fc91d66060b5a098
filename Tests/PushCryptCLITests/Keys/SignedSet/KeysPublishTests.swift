import Foundation
import PushCryptTestSupport
import Testing

@Suite("keys publish", .ownThreads)
struct KeysPublishTests {
    private let signed: SignedSetPlace
    private var place: Workplace { signed.place }

    init() throws {
        signed = try SignedSetPlace()
        try signed.place.makeFolder("www", mode: 0o755)
    }

    private func publish(_ options: String..., at time: String = Workplace.now) throws -> Output {
        try place.run(
            ["keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at", time] + options)
    }

    /// The inode and the time of modification.
    private func identity(_ path: String) throws -> [NSObject?] {
        let attributes = try FileManager.default.attributesOfItem(atPath: place.folder.file(path).path)
        return [attributes[.systemFileNumber] as? NSObject, attributes[.modificationDate] as? NSObject]
    }

    @Test("a signed set and its copy are what keys export prints, readable for all, and the pins verify them")
    func written() throws {
        let output = try place.shell(
            "umask 077; \"$PUSHCRYPT\" keys publish Keys/senders --to www/ --signed-by Keys/publisher --at \(Workplace.now)"
        )
        #expect(output.isSuccess, "\(output)")
        #expect(output.text == "wrote www/senders.json, seq 2, and its copy www/senders.2.json\n")
        #expect(try place.names(in: "www") == ["senders.2.json", "senders.json"])
        for name in ["senders.json", "senders.2.json"] {
            #expect(try place.mode(of: "www/\(name)") == 0o644)
            #expect(try place.read("www/\(name)") == signed.export().stdout)
        }
        try place.export("Keys/publisher", to: "pins", "--pins-for", "Keys/senders")
        #expect(try place.run("keys", "list", "www/senders.json", "--pins", "pins", "--at", Workplace.now).isSuccess)
    }

    @Test("an unchanged set keeps its file and time, and a wrong mode is corrected")
    func unchanged() throws {
        #expect(try publish().isSuccess)
        let before = try identity("www/senders.json")
        try place.setMode(0o600, of: "www/senders.json")
        let again = try publish(at: SignedSetPlace.day(1))
        #expect(again.isSuccess && again.text == "www/senders.json is up to date, seq 2\n", "\(again)")
        #expect(try identity("www/senders.json") == before)
        #expect(try place.mode(of: "www/senders.json") == 0o644)
        let json = try publish("--json").object()
        #expect(json["changed"] as? Bool == false && json["seq"] as? Int == 2)
        #expect(json["file"] as? String == "www/senders.json" && json["copy"] as? String == "www/senders.2.json")
    }

    @Test("without --signed-by, a note says that the signed set is not published, and that its file stays as it is")
    func unsigned() throws {
        let command = ["keys", "publish", "Keys/senders", "--to", "www", "--at", Workplace.now]
        let first = try place.run(command)
        #expect(first.exit == 0 && first.text.contains("wrote www/senders.jwks.json"), "\(first)")
        #expect(first.stderr.contains("its signed set was not published: to publish it, add --signed-by"), "\(first)")
        #expect(try publish().isSuccess)
        let second = try place.run(command)
        #expect(second.exit == 0 && second.stderr.contains("www/senders.json stays as it is"), "\(second)")
        try place.create("Keys/plain", "sender")
        let plain = try place.run("keys", "publish", "Keys/plain", "--to", "www", "--at", Workplace.now)
        #expect(plain.exit == 0 && !plain.stderr.contains("its signed set"), "\(plain)")
    }

    @Test("after a change the next set replaces the file, and its predecessor stays under its number")
    func next() throws {
        #expect(try publish().isSuccess)
        let first = try place.read("www/senders.json")
        try place.succeed("rotate", "Keys/senders", at: SignedSetPlace.day(30))
        #expect(try publish(at: SignedSetPlace.day(30)).text.hasPrefix("wrote www/senders.json, seq 3"))
        #expect(try place.names(in: "www") == ["senders.2.json", "senders.3.json", "senders.json"])
        #expect(try place.read("www/senders.2.json") == first)
        #expect(try place.read("www/senders.3.json") == place.read("www/senders.json"))
        #expect(try place.read("www/senders.json") != first)
    }

    @Test(
        "a key that the served set revokes isn't published as valid, also with a higher seq, until the keyset revokes it"
    )
    func revived() throws {
        let kid = try signed.kid("Keys/senders")
        _ = try place.shell("cp -Rp Keys/senders Backup")
        try place.succeed("rotate", "Keys/senders", "--emergency", "--revoke", kid, "--yes", at: SignedSetPlace.day(1))
        #expect(try publish(at: SignedSetPlace.day(1)).isSuccess)
        let served = try place.read("www/senders.json")
        _ = try place.shell("rm -r Keys/senders; mv Backup Keys/senders")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "20", at: SignedSetPlace.day(2))
        let refused = try publish(at: SignedSetPlace.day(2))
        expectRefusal(refused, 65, saying: "www/senders.json revokes key \(kid), which the keyset doesn't")
        let line = "`pushcrypt keys revoke Keys/senders \(kid.hasPrefix("-") ? "-- " : "")\(kid)`"
        #expect(refused.stderr.contains("Otherwise revoke the key here, too: \(line)"), "\(refused)")
        #expect(try place.read("www/senders.json") == served)
        try place.succeed("keys", "revoke", "Keys/senders", kid, "--yes", at: SignedSetPlace.day(2))
        expectRefusal(try publish(at: SignedSetPlace.day(2)), 65, saying: "which the keyset has never had")
        _ = try place.shell("mv www/senders.json www/senders.json.old")
        #expect(try publish(at: SignedSetPlace.day(2)).exit == 0)
    }

    @Test(
        "a key that a served recipient set revokes isn't published again after a restored backup, and its numbered set stays"
    )
    func revivedRecipient() throws {
        try place.write(Data("a long winter".utf8), to: "pass")
        let kid = try place.create("Keys/phones", "recipient")
        let secret = ["--backup-passphrase-file", "pass"]
        let backup = try place.run(["keys", "backup", "Keys/phones", "--to", "b", "--at", Workplace.now] + secret)
        try #require(backup.isSuccess, "\(backup)")
        func publish(_ day: Int) throws -> Output {
            try place.run("keys", "publish", "Keys/phones", "--to", "www", "--at", SignedSetPlace.day(day))
        }
        try place.succeed("keys", "revoke", "Keys/phones", kid, "--yes", at: SignedSetPlace.day(1))
        #expect(try publish(1).isSuccess)
        _ = try place.shell("rm -r Keys/phones")
        let day = ["--at", SignedSetPlace.day(2)]
        let restored = try place.run(["keys", "restore", "--from", "b", "Keys/phones"] + secret + day)
        #expect(restored.exit == 0, "\(restored)")
        let before = try place.contents(of: "www")
        expectRefusal(try publish(2), 75, saying: "then confirm it: `pushcrypt keys restore Keys/phones --confirm`")
        try place.succeed("keys", "restore", "Keys/phones", "--confirm", at: SignedSetPlace.day(2))
        let refused = try publish(2)
        expectRefusal(refused, 65, saying: "www/phones.jwks.json revokes key \(kid), which the keyset doesn't")
        let line = "`pushcrypt keys revoke Keys/phones \(kid.hasPrefix("-") ? "-- " : "")\(kid)`"
        #expect(refused.stderr.contains(line), "\(refused)")
        _ = try place.shell("rm www/phones.jwks.json")
        expectRefusal(
            try publish(2), 65, saying: "www/phones.2.jwks.json revokes key \(kid), which the keyset doesn't")
        #expect(try place.read("www/phones.2.jwks.json") == before["phones.2.jwks.json"])
        try place.write(#require(before["phones.jwks.json"]), to: "www/phones.jwks.json", mode: 0o644)
        try place.succeed("keys", "revoke", "Keys/phones", kid, "--yes", at: SignedSetPlace.day(2))
        #expect(try publish(2).text.hasPrefix("wrote www/phones.jwks.json, seq 4"))
        #expect(try place.read("www/phones.2.jwks.json") == before["phones.2.jwks.json"])
    }

    @Test(
        "a signed set that brings a revoked key back is refused, also if only the numbered copy with the revocation is left",
        arguments: ["rm www/senders.json", ": >www/senders.json"])
    func lostSignedSet(_ loss: String) throws {
        let kid = try signed.kid("Keys/senders")
        _ = try place.shell("cp -Rp Keys Backup")
        try place.succeed("keys", "revoke", "Keys/senders", kid, "--yes")
        #expect(try publish().isSuccess)
        _ = try place.shell("rm -r Keys && mv Backup Keys && \(loss)")
        if loss.hasPrefix(":") {
            expectRefusal(
                try publish(), 65,
                saying: "www/senders.json is not a signed sender set. If it is a damaged one of this keyset, move it")
            _ = try place.shell("rm www/senders.json")
        }
        expectRefusal(try publish(), 65, saying: "www/senders.3.json revokes key \(kid), which the keyset doesn't")
        try place.succeed("keys", "revoke", "Keys/senders", kid, "--yes", at: SignedSetPlace.day(1))
        expectRefusal(
            try publish(at: SignedSetPlace.day(1)), 65,
            saying: "raise the keyset's seq: `pushcrypt keys policy Keys/senders --publish-seq 4`")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "4", "--yes", at: SignedSetPlace.day(1))
        #expect(try publish(at: SignedSetPlace.day(1)).isSuccess)
    }

    @Test("a numbered signed set is not overwritten by another one with its seq, also if the served file is gone")
    func numbered() throws {
        _ = try place.shell("cp -Rp Keys Backup")
        try place.succeed("keys", "add", "Keys/senders")
        #expect(try publish().isSuccess)
        let kept = try place.read("www/senders.3.json")
        _ = try place.shell("rm -r Keys www/senders.json && mv Backup Keys")
        try place.succeed("keys", "add", "Keys/senders")
        expectRefusal(
            try publish(), 65,
            saying: "www/senders.3.json is another set with the same seq 3, so apps would refuse this one")
        #expect(try place.names(in: "www") == ["senders.3.json"] && place.read("www/senders.3.json") == kept)
        #expect(try publish("--as", "other").isSuccess)
    }

    @Test("a restored recipient keyset that was rotated replaces the served keys, also those that it lost")
    func lostKey() throws {
        try place.create("Keys/inbox", "recipient")
        func publish(_ day: Int) throws -> Output {
            try place.run("keys", "publish", "Keys/inbox", "--to", "www", "--at", SignedSetPlace.day(day))
        }
        _ = try place.shell("cp -Rp Keys/inbox Backup")
        try place.succeed("keys", "add", "Keys/inbox", at: SignedSetPlace.day(1))
        #expect(try publish(1).isSuccess)
        _ = try place.shell("cp Backup/keyset.json Keys/inbox/keyset.json")
        try place.succeed("keys", "restore", "Keys/inbox", "--back-in-time", at: SignedSetPlace.day(2))
        try place.succeed("keys", "add", "Keys/inbox", at: SignedSetPlace.day(2))
        let output = try publish(2)
        #expect(output.exit == 0 && output.text.hasPrefix("wrote www/inbox.jwks.json"), "\(output)")
        #expect(output.stderr.contains("which a restoration lost: pushes with it show placeholders"), "\(output)")
    }

    @Test("a restored backup with a lower seq exits 65 and changes nothing; after --publish-seq it is published")
    func restored() throws {
        _ = try place.shell("cp -Rp Keys Backup")
        try place.succeed("rotate", "Keys/senders", at: SignedSetPlace.day(30))
        #expect(try publish(at: SignedSetPlace.day(30)).exit == 0)
        let before = try place.contents(of: "www")
        _ = try place.shell("rm -r Keys && mv Backup Keys")
        expectRefusal(
            try publish(at: SignedSetPlace.day(31)), 65,
            saying:
                "www/senders.json has seq 3, and the keyset has seq 2: it is an old copy. If another host changes the keyset "
                + "now, remove this copy. If there is a newer backup, restore it: `pushcrypt keys restore --from FILE "
                + "Keys/senders`. Otherwise, or if you have just restored the newest one, revoke again what was revoked or "
                + "destroyed after it, then raise its seq: `pushcrypt keys policy Keys/senders --publish-seq 4`")
        #expect(try place.contents(of: "www") == before)
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "4", "--yes", at: SignedSetPlace.day(31))
        #expect(try publish(at: SignedSetPlace.day(31)).isSuccess)
    }

    @Test(
        "a set that ends before the served one was issued, under a wrong clock, is published with a note that apps refuse it"
    )
    func issuedUnderWrongClock() throws {
        _ = try place.shell("cp -Rp Keys Backup")
        try place.succeed("keys", "add", "Keys/senders", at: SignedSetPlace.day(300))
        #expect(try publish(at: SignedSetPlace.day(300)).exit == 0)
        _ = try place.shell("rm -r Keys && mv Backup Keys")
        try place.succeed("keys", "policy", "Keys/senders", "--publish-seq", "4", "--yes", at: SignedSetPlace.day(1))
        _ = try place.shell("mv www/senders.json www/senders.json.old")
        let output = try publish(at: SignedSetPlace.day(1))
        #expect(output.exit == 0 && output.stderr.contains("apps that have fetched it refuse this set"), "\(output)")
        #expect(try publish(at: SignedSetPlace.day(1)).stderr.isEmpty)
    }

    @Test("another set under the same seq exits 65 and changes nothing")
    func conflict() throws {
        _ = try place.shell("cp -Rp Keys Backup")
        try place.succeed("keys", "add", "Keys/senders")
        #expect(try publish().isSuccess)
        let before = try place.contents(of: "www")
        _ = try place.shell("rm -r Keys && mv Backup Keys")
        try place.succeed("keys", "add", "Keys/senders")
        expectRefusal(try publish(), 65, saying: "another set with the same seq 3")
        #expect(try place.contents(of: "www") == before)
    }

    @Test("another keyset, an earlier epoch, or another file under the name exits 65, and another name is accepted")
    func foreign() throws {
        #expect(try publish().isSuccess)
        let other = try SignedSetPlace()
        try other.place.makeFolder("www", mode: 0o755)
        try other.place.write(place.read("www/senders.json"), to: "www/senders.json", mode: 0o644)
        let command = [
            "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at", Workplace.now,
        ]
        expectRefusal(try other.place.run(command), 65, saying: "www/senders.json is the set of another keyset")
        #expect(try other.place.run(command + ["--as", "other"]).isSuccess)
        try place.succeed("keys", "policy", "Keys/senders", "--publish-epoch", "2", "--yes")
        expectRefusal(
            try publish(), 65, saying: "has epoch 1, and this set has epoch 2, which the apps that fetch that file")
        _ = try place.shell("mkdir old && mv www/senders.* old")
        #expect(try publish().exit == 0)
        expectRefusal(try publish("--epoch", "1"), 65, saying: "has epoch 2, and this set has epoch 1")
        #expect(try publish("--epoch", "1", "--as", "senders-1").isSuccess)
        try place.write(Data("{}".utf8), to: "www/senders.json", mode: 0o644)
        expectRefusal(try publish(), 65, saying: "www/senders.json is not a signed sender set")
        #expect(try place.read("www/senders.json") == Data("{}".utf8))
    }

    @Test(
        "the set of another keyset of the same keystore is named, and after the printed command the right one is published"
    )
    func exchanged() throws {
        try place.create("Keys/others", "sender")
        try place.succeed("keys", "policy", "Keys/others", "--publish-topic", Workplace.topic)
        for name in ["senders", "others"] {
            try place.succeed("keys", "publish", "Keys/\(name)", "--to", "www", "--signed-by", "Keys/publisher")
        }
        _ = try place.shell("cp www/others.json www/senders.json")
        let command = [
            "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at", Workplace.now,
        ]
        expectRefusal(
            try place.run(command), 65,
            saying:
                "www/senders.json doesn't belong to the keyset: it is the set of Keys/others. If it lies in the wrong place"
        )
        _ = try place.shell("mv www/senders.json www/senders.json.old")
        #expect(try place.run(command).exit == 0)
    }

    @Test("an expired set, a set that apps refuse, and senders without a set exit 65 and write nothing")
    func refused() throws {
        expectRefusal(try publish(at: SignedSetPlace.day(60)), 65, saying: "`rotate` issues it again")
        try place.create("Keys/other", "sender")
        expectRefusal(
            try place.run("keys", "publish", "Keys/other", "--to", "www", "--signed-by", "Keys/publisher"), 65,
            saying: "--publish-topic")
        #expect(try place.names(in: "www").isEmpty)
    }

    @Test("the public keys of senders and recipients are published, and an old copy of the keyset is refused")
    func publicKeys() throws {
        try place.create("Keys/inbox", "recipient", "--psk")
        let command = ["keys", "publish", "Keys/inbox", "--to", "www"]
        let first = try place.run(command)
        #expect(first.text == "wrote www/inbox.jwks.json, seq 1, and its copy www/inbox.1.jwks.json\n", "\(first)")
        #expect(try place.read("www/inbox.jwks.json") == place.read("Keys/inbox/public.jwks.json"))
        #expect(try place.run(command).text == "www/inbox.jwks.json is up to date, seq 1\n")
        _ = try place.shell("cp -Rp Keys/inbox Backup")
        try place.succeed("keys", "add", "Keys/inbox")
        #expect(try place.run(command).isSuccess)
        _ = try place.shell("rm -r Keys/inbox && mv Backup Keys/inbox")
        expectRefusal(try place.run(command), 65, saying: "has seq 2, and the keyset has seq 1")
        expectRefusal(
            try place.run("keys", "publish", "Keys/senders", "--to", "www", "--as", "inbox"), 65,
            saying: "a numbered copy of this name, is a set of Keys/inbox")
        #expect(try place.run("keys", "publish", "Keys/senders", "--to", "www").exit == 0)
    }

    @Test("other public keys with the same seq exit 65, also if only their copy is left, and the printed command helps")
    func publicConflict() throws {
        for loss in ["true", "rm www/inbox.jwks.json"] {
            try place.create("Keys/inbox", "recipient")
            let command = ["keys", "publish", "Keys/inbox", "--to", "www"]
            _ = try place.shell("cp -Rp Keys/inbox Backup")
            try place.succeed("keys", "add", "Keys/inbox")
            #expect(try place.run(command).isSuccess)
            _ = try place.shell("rm -r Keys/inbox && mv Backup Keys/inbox && \(loss)")
            try place.succeed("keys", "add", "Keys/inbox")
            let before = try place.contents(of: "www")
            let refused = try place.run(command)
            expectRefusal(refused, 65, saying: "is another set with the same seq 2")
            #expect(refused.stderr.contains("If another host publishes it, stop one of the two"), "\(refused)")
            #expect(try place.contents(of: "www") == before)
            let line = try #require(refused.stderr.firstMatch(of: /`pushcrypt (keys policy .*)`/)?.1)
            #expect(line == "keys policy Keys/inbox --publish-seq 3")
            let raised = try place.run(line.split(separator: " ").map(String.init) + ["--at", Workplace.now])
            #expect(raised.exit == 0, "\(raised)")
            if loss == "true" {
                expectRefusal(
                    try place.run(command), 65, saying: "which the keyset has never had: another host uses it")
                _ = try place.shell("mv www/inbox.jwks.json lost")
            }
            #expect(try place.run(command).text.hasPrefix("wrote www/inbox.jwks.json, seq 3"))
            _ = try place.shell("rm -r Keys/inbox www/inbox*")
        }
    }

    @Test("shared and publisher keys aren't published")
    func kinds() throws {
        try place.create("Keys/fleet", "shared")
        expectRefusal(try place.run("keys", "publish", "Keys/fleet", "--to", "www"), 65, saying: "--device")
        expectRefusal(try place.run("keys", "publish", "Keys/publisher", "--to", "www"), 65, saying: "--pins-for")
        #expect(try place.names(in: "www").isEmpty)
    }

    @Test("a missing folder exits 66, a link to a folder is followed, and a link in place of the file is refused")
    func folders() throws {
        expectRefusal(
            try place.run("keys", "publish", "Keys/senders", "--to", "none"), 66,
            saying: "none: there is no such folder; create it: `mkdir -p none`")
        _ = try place.shell("ln -s www link")
        #expect(try place.run("keys", "publish", "Keys/senders", "--to", "link").exit == 0)
        _ = try place.shell("cd www && mv senders.jwks.json real && ln -s real senders.jwks.json")
        expectRefusal(
            try place.run("keys", "publish", "Keys/senders", "--to", "www"), 65, saying: "is a symbolic link")
    }

    @Test(
        "options without effect exit 64",
        arguments: [
            ["--epoch", "1"], ["--publisher-passphrase-file", "pass"], ["--as", ""], ["--as", "a/b"], ["--as", ".a"],
            ["--as", "senders.2"], ["--as", "senders.json"], ["--as", "senders.2.jwks.json"],
        ])
    func usage(_ options: [String]) throws {
        expectUsageError(try place.run(["keys", "publish", "Keys/senders", "--to", "www"] + options))
    }

    @Test(
        "killed at each step it leaves the old set or the new one, and the next run finishes and removes the rest",
        .enabled(if: FaultPoints.exist, FaultPoints.missing), arguments: ["created", "written", "synced", "renamed"])
    func killed(_ step: String) throws {
        #expect(try publish().isSuccess)
        let old = try place.read("www/senders.json")
        try place.succeed("keys", "add", "Keys/senders")
        let new = try signed.export().stdout
        let arguments = "keys publish Keys/senders --to www --signed-by Keys/publisher --at \(Workplace.now)"
        let killed = try place.shell("PUSHCRYPT_FAULT_POINT=publication-\(step) exec \"$PUSHCRYPT\" \(arguments)")
        #expect(killed.signal == SIGKILL, "\(killed)")
        #expect([old, new].contains(try place.read("www/senders.json")))
        #expect(try publish().isSuccess)
        #expect(try place.read("www/senders.json") == new)
        #expect(try place.names(in: "www") == ["senders.2.json", "senders.3.json", "senders.json"])
    }
}
