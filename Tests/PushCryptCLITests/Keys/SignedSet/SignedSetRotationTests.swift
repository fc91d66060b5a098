import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("the rotation of signed sets and of publisher keys", .ownThreads)
struct SignedSetRotationTests {
    @Test("rotate renews a signed set once, when half of its validity has passed")
    func renewed() throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        let early = try place.rotate("Keys/senders", at: SignedSetPlace.day(29))
        #expect(early.exit == 0 && early.done.isEmpty)
        #expect(early.next?["step"] as? String == "renew")
        #expect(early.next?["at"] as? String == "2026-03-31T09:00:00Z")
        let dry = try place.rotate("Keys/senders", at: SignedSetPlace.day(30), "--dry-run")
        #expect(dry.exit == 10 && dry.due == ["renew"])
        #expect(try place.rotate("Keys/senders", at: SignedSetPlace.day(30)).done == ["renew"])
        let again = try place.rotate("Keys/senders", at: SignedSetPlace.day(30))
        #expect(again.exit == 0 && again.done.isEmpty)
        let set = try #require(again.members["signedSet"] as? [String: Any])
        #expect(set["issuedAt"] as? String == "2026-03-31T09:00:00Z")
        #expect(set["validUntil"] as? String == "2026-05-30T09:00:00Z")
        #expect(set["seq"] as? Int == 3 && set["state"] as? String == "valid")
        #expect(try signed.export(at: SignedSetPlace.day(61)).isSuccess)
        let log = try place.run("keys", "log", "Keys/senders", "--json")
        #expect(log.text.contains("publicationChanged") && log.text.contains("renewed"))
    }

    @Test("rotate says that the set was issued, and which command signs it; a step that isn't done needs no export")
    func issued() throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        let command = ["rotate", "Keys/senders", "--at", SignedSetPlace.day(30)]
        let advice = "keys publish Keys/senders --to FOLDER --signed-by"
        let dry = try place.run(command + ["--dry-run"]).text
        #expect(dry.contains("due      issue the signed set again\n") && !dry.contains(advice), "\(dry)")
        let done = try place.run(command).text
        #expect(done.contains("done     issue the signed set again\n"), "\(done)")
        #expect(
            done.contains("publish  the new set now: `pushcrypt \(advice) Publisher/NAME`\n"), "\(done)")
        #expect(!done.contains("renew"))
        #expect(!(try place.run(command).text.contains(advice)))
        let revoked = try place.succeed(
            "keys", "revoke", "Keys/senders", signed.kid("Keys/senders"), "--yes",
            at: SignedSetPlace.day(31))
        #expect(revoked.text.hasSuffix("publish the new set now: `pushcrypt \(advice) Publisher/NAME`\n"))
    }

    @Test("where a program publishes the set, a change doesn't advise to publish it, nor does another secret")
    func published() throws {
        let place = try SignedSetPlace(secrets: (publisher: "p", sender: "s")).place
        try place.write(Data("#!/bin/sh\n".utf8), to: "hook", mode: 0o700)
        try place.write(Data("the second".utf8), to: "safe.pass")
        let secret = ["--passphrase-file", "sender.pass"]
        let added = try place.run(
            ["keys", "secrets", "add", "Keys/senders", "--name", "safe", "--new-passphrase-file", "safe.pass", "--at"]
                + [SignedSetPlace.day(1)] + secret)
        #expect(added.isSuccess && !added.text.contains("publish"), "\(added)")
        let rotate = ["rotate", "Keys/senders", "--at", SignedSetPlace.day(31)] + secret
        let done = try place.run(rotate + ["--exec-on-change", "./hook"])
        #expect(done.text.contains("done     issue the signed set") && !done.text.contains("publish"), "\(done)")
        let policy = ["keys", "policy", "Keys/senders", "--keep", "3", "--at", SignedSetPlace.day(32)]
        let later = try place.run(policy + secret)
        let command = "pushcrypt rotate Keys/senders --passphrase-file sender.pass --exec-on-change ./hook"
        #expect(later.text.hasSuffix("\npublish with the program of the last run: `\(command)`\n"), "\(later)")
    }

    @Test(
        "rotate says that publisher keys are never rotated, in text and JSON",
        arguments: [[], ["--now"], ["--dry-run"]])
    func exemption(_ options: [String]) throws {
        let place = try SignedSetPlace().place
        let before = try place.contents(of: "Keys/publisher")
        let command = ["rotate", "Keys/publisher", "--at", SignedSetPlace.day(300)] + options
        let text = try place.run(command)
        #expect(text.isSuccess, "\(text)")
        #expect(text.text.contains("nothing is due: publisher keys are never rotated"))
        let json = try place.run(command + ["--json"]).object()
        #expect((json["exemption"] as? String)?.hasPrefix("publisher keys are never rotated") == true)
        #expect((json["done"] as? [Any])?.isEmpty == true && json["next"] is NSNull)
        #expect(try place.contents(of: "Keys/publisher") == before)
    }

    @Test("--emergency, revoke, promote and retire of a publisher key exit 65 and change nothing")
    func refusedChanges() throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        let kid = try signed.kid("Keys/publisher")
        let before = try place.contents(of: "Keys/publisher")
        for command in [
            ["rotate", "Keys/publisher", "--emergency", "--revoke", kid], ["keys", "revoke", "Keys/publisher", kid],
            ["keys", "promote", "Keys/publisher", kid], ["keys", "retire", "Keys/publisher", kid],
        ] {
            expectRefusal(
                try place.run(command + ["--yes", "--at", SignedSetPlace.day(9)]), 65, saying: "publisher keys are not")
        }
        expectRefusal(
            try place.run("keys", "policy", "Keys/publisher", "--keep", "3"), 65, saying: "change with an app update")
        expectRefusal(
            try place.run(
                "keys", "destroy", "Keys/publisher", kid, "--yes", "--force", "--at", SignedSetPlace.day(9)), 65,
            saying: "only publisher key")
        #expect(try place.contents(of: "Keys/publisher") == before)
    }

    @Test("a publisher key is destroyed by force when there is another one")
    func destroyed() throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        let kid = try signed.kid("Keys/publisher")
        try place.succeed("keys", "add", "Keys/publisher")
        let destroy = ["keys", "destroy", "Keys/publisher", kid, "--yes", "--at", SignedSetPlace.day(9)]
        expectRefusal(try place.run(destroy), 75, saying: "accept no further set")
        let done = try place.run(destroy + ["--force"])
        #expect(done.exit == 0, "\(done)")
        #expect(try place.states("Keys/publisher", at: SignedSetPlace.day(300)) == ["primary", "destroyed"])
        try signed.publish(at: SignedSetPlace.day(10))
        let verified = try place.run("keys", "verify", "Keys/publisher")
        #expect(verified.exit == 0 && verified.text.contains("2 publisher keys"), "\(verified)")
    }

    @Test(
        "publisher keys and a policy, rehearsal or reports exit 64",
        arguments: [
            ["keys", "create", "Keys/new", "--kind", "publisher", "--keep", "3", "--insecure-plaintext"],
            ["keys", "rehearse", "Keys/publisher", "--refresh-p50", "1h", "--refresh-p99", "2d"],
            ["keys", "coverage", "Keys/publisher", "--reports", "-"],
        ])
    func withoutPolicy(_ command: [String]) throws {
        expectUsageError(try SignedSetPlace().place.run(command))
    }

    @Test(
        "keys list, keys show and keys doctor warn below a third of the validity and after it",
        arguments: [
            (30, nil, nil), (41, "expires soon", "set-expiring"), (60, "expired, verifies nothing", "set-expired"),
        ]
            as [(Int, String?, String?)])
    func warnings(_ day: Int, _ words: String?, _ code: String?) throws {
        let signed = try SignedSetPlace()
        let (place, time) = (signed.place, SignedSetPlace.day(day))
        let list = try place.run("keys", "list", "Keys/senders", "--at", time).text
        let show = try place.run("keys", "show", "Keys/senders", signed.kid("Keys/senders"), "--at", time).text
        for text in [list, show] {
            let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(line.contains("issued at 2026-03-01T09:00:00Z (\(day)d ago), valid until 2026-04-30T09:00:00Z"))
            #expect(line.contains(words ?? "et: issued") || (words == nil && line.contains("signed set issued")))
            #expect(words != nil || !(line.contains("expires soon") || line.contains("verifies nothing")))
        }
        let doctor = try place.run("keys", "doctor", "Keys/senders", "--json", "--at", time)
        #expect(doctor.exit == (code == "set-expired" ? 65 : 0))
        let codes = ["set-expiring", "set-expired", "rotation-due"].filter { doctor.text.contains("\"\($0)\"") }
        #expect(codes == [code ?? "rotation-due"], "\(doctor)")
        let rows = try JSONSerialization.jsonObject(
            with: place.run("keys", "list", "Keys", "--json", "--at", time).stdout)
        let sets = (rows as? [[String: Any]])?.map { ($0["signedSet"] as? [String: Any])?["state"] as? String }
        #expect(sets == [nil, day == 30 ? "valid" : day == 41 ? "expiring" : "expired"])
    }

    @Test(
        "a renewal that is killed leaves the old or the renewed set, and the next rotation carries it out once",
        .enabled(if: FaultPoints.exist, FaultPoints.missing),
        arguments: [ChangePoint.keysetSynced, .keysetRenamed, .publicRenamed])
    func killed(_ point: ChangePoint) throws {
        let signed = try SignedSetPlace()
        let place = signed.place
        let command = ["rotate", "Keys/senders", "--at", SignedSetPlace.day(30)]
        let killed = try CLI.start(
            command, in: place.folder.url, environment: ["PUSHCRYPT_FAULT_POINT": point.rawValue]
        ).wait()
        #expect(killed.signal == 9, "\(killed)")
        #expect(try signed.export(at: SignedSetPlace.day(61)).exit == (point.isMade ? 0 : 65))
        let next = try place.rotate("Keys/senders", at: SignedSetPlace.day(30))
        #expect(next.exit == 0 && next.done == (point.isMade ? [] : ["renew"]))
        #expect(try signed.export(at: SignedSetPlace.day(61)).isSuccess)
        let verified = try place.run("keys", "verify", "Keys/senders", "--at", SignedSetPlace.day(30))
        #expect(verified.exit == 0, "\(verified)")
    }
}
