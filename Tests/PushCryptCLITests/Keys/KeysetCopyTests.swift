import Foundation
import PushCryptTestSupport
import Testing

/// A copy of a keyset in the same keystore, as `cp -a` makes it.
@Suite("a copy of a keyset in its keystore", .ownThreads)
struct KeysetCopyTests {
    private let place: Workplace
    private static let due = "2026-05-25T00:00:00Z"

    init() throws {
        place = try Workplace()
        try place.create("Keys/senders", "sender")
        try place.create("Keys/phones", "recipient")
        _ = try place.shell("cp -a Keys/senders Keys/senders.old")
    }

    private func codes(_ path: String) throws -> [String: [String]] {
        let output = try place.run("keys", "doctor", path, "--json", "--at", Workplace.now)
        let list = try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]] ?? []
        return Dictionary(grouping: list) { $0["keyset"] ?? "" }.mapValues { $0.compactMap { $0["code"] } }
    }

    @Test("keys doctor reports an error on both, and nothing about the other keyset")
    func doctor() throws {
        let output = try place.run("keys", "doctor", "Keys", "--at", Workplace.now)
        #expect(output.exit == 65, "\(output)")
        for (one, other) in [("senders", "senders.old"), ("senders.old", "senders")] {
            let words = """
                error    Keys/\(one): Keys/\(other) (seq 1) has the same keys as this one (seq 1): only \
                one is the keyset, and a copy of it would get other new keys than apps and devices know
                         pushcrypt keys list Keys/\(one)  # the seq doesn't tell which one is the copy: look which one your \
                programs use, and move the other one out of the keystore

                """
            #expect(output.text.contains(words), "\(output)")
        }
        #expect(try codes("Keys")["Keys/phones"]?.contains("copied-keyset") == false)
    }

    @Test(
        "of two with different seq, only the one with the lower seq is advised to be moved, and pasting both advices ends the error"
    )
    func lowerSequence() throws {
        let kid = try #require(try place.keys("Keys/senders", at: Workplace.now).first?.kid)
        let revoked = try place.run("keys", "revoke", "Keys/senders", "--yes", "--at", Workplace.now, "--", kid)
        #expect(revoked.exit == 0, "\(revoked)")
        let output = try place.run("keys", "doctor", "Keys", "--json", "--at", Workplace.now)
        let list = try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]] ?? []
        let found = list.filter { $0["code"] == "copied-keyset" }
        let advice = found.reduce(into: [String: String]()) { $0[$1["keyset"] ?? ""] = $1["advice"] }
        #expect(
            advice == [
                "Keys/senders": "pushcrypt keys list Keys/senders  # keep this one, which has the highest seq",
                "Keys/senders.old":
                    "mv Keys/senders.old FOLDER  # its seq is lower; FOLDER is a new name outside the keystore; if your programs use this "
                    + "path, then: mv Keys/senders Keys/senders.old",
            ])
        #expect(found.contains { $0["message"]?.contains("(seq 2) has") == true }, "\(found)")
        let script = advice.values.joined(separator: "\n").replacing("FOLDER ", with: "old ")
        _ = try place.shell("pushcrypt() { \"$PUSHCRYPT\" \"$@\"; }; \(script)")
        #expect(place.has("old/keyset.json"))
        #expect(try codes("Keys")["Keys/senders"]?.contains("copied-keyset") == false)
    }

    @Test(
        "rotate refuses both, also if nothing is due, with 75 and an error in JSON, and runs no program for them",
        arguments: [[], ["--dry-run"]])
    func refused(_ options: [String]) throws {
        try place.write(Data("#!/bin/sh\necho \"$PUSHCRYPT_KEYSET\" >>ran\n".utf8), to: "hook", mode: 0o700)
        for arguments in [["--all", "Keys"], ["Keys/senders.old", "Keys/senders"]] {
            let command = ["rotate"] + arguments + options + ["--exec-on-change", "./hook", "--at", Workplace.now]
            let output = try place.run(command)
            #expect(output.exit == 75, "\(output)")
            let objects = try place.run(command + ["--json"]).text.split(separator: "\n").map {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
            for (one, other) in [("senders", "senders.old"), ("senders.old", "senders")] {
                let words =
                    "Keys/\(one): Keys/\(other) (seq 1) has the same keys as this one (seq 1): "
                #expect(output.stderr.contains(words), "\(output)")
                let object = objects.first { $0?["keyset"] as? String == "Keys/\(one)" }
                #expect((object??["error"] as? String)?.hasPrefix(words) == true, "\(objects)")
            }
            let end = "until then rotate changes neither, and runs no program for them"
            let ends = output.stderr.split(separator: "\n").filter { $0.hasSuffix(end) }
            #expect(ends.count == 2 && !output.stderr.contains("Keys/phones:"), "\(output)")
        }
        let ran = place.has("ran") ? String(decoding: try place.read("ran"), as: UTF8.self) : ""
        #expect(ran == (options.isEmpty ? "Keys/phones\n" : ""))
        #expect(!place.has("Keys/senders/hook.json"))
        _ = try place.shell("mkdir -m 700 kept && mv Keys/senders.old kept")
        #expect(try place.run("rotate", "--all", "Keys", "--at", Workplace.now).stderr.isEmpty)
    }

    @Test("the served sets are compared with the keyset that is published, and not with its copy")
    func served() throws {
        try place.makeFolder("www", mode: 0o755)
        for keyset in ["Keys/senders", "Keys/phones"] { try place.succeed("keys", "publish", keyset, "--to", "www") }
        func codes() throws -> [String: [String]] {
            let output = try place.run(
                "keys", "doctor", "Keys", "--served", "www", "--json", "--at", Workplace.later(3 * Workplace.days))
            let list = try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]] ?? []
            let served = list.filter { $0["code"]?.hasPrefix("served-") == true }
            return Dictionary(grouping: served) { $0["keyset"] ?? "" }.mapValues { $0.compactMap { $0["code"] } }
        }
        #expect(try codes().isEmpty)
        // A revocation raises the seq above that of the copy, which seems to be older than the set then.
        let kid = try #require(try place.keys("Keys/senders", at: Workplace.now).first?.kid)
        let revoked = try place.run("keys", "revoke", "Keys/senders", "--yes", "--at", Workplace.now, "--", kid)
        #expect(revoked.exit == 0, "\(revoked)")
        #expect(try codes().mapValues { $0.sorted() } == ["Keys/senders": ["served-older", "served-revoked"]])
        try place.succeed("keys", "publish", "Keys/senders", "--to", "www")
        #expect(try codes().isEmpty)
    }

    @Test(
        "a key is revoked in the copy: the advice is to revoke it in the other one before one is moved away, and a higher seq from a wrong clock, or of the one that isn't served, gets no advice to keep it",
        arguments: [false, true])
    func undecided(isServed: Bool) throws {
        try place.makeFolder("www", mode: 0o755)
        if isServed { try place.succeed("keys", "publish", "Keys/senders", "--to", "www") }
        let kid = try #require(try place.keys("Keys/senders.old", at: Workplace.now).first?.kid)
        let time = isServed ? Workplace.now : Workplace.later(300 * Workplace.days)
        let options = isServed ? [] : ["--confirm-clock"]
        let revoked = try place.run(
            ["keys", "revoke", "Keys/senders.old", "--yes", "--at", time] + options + ["--", kid])
        try #require(revoked.exit == 0, "\(revoked)")
        func advice() throws -> [String: String] {
            let output = try place.run(
                "keys", "doctor", "Keys", "--json", "--served", "www", "--at", Workplace.later(Workplace.days))
            let list = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]])
            let found = list.filter { $0["code"] == "copied-keyset" }
            #expect(found.count == 2, "\(found)")
            return found.reduce(into: [:]) { $0[$1["keyset"] ?? ""] = $1["advice"] }
        }
        let revoking = "pushcrypt keys revoke Keys/senders \(kid.hasPrefix("-") ? "-- " : "")\(kid)"
        #expect(revoked.stderr.contains("Keys/senders has the same key and doesn't revoke it"), "\(revoked)")
        #expect(revoked.stderr.contains(revoking), "\(revoked)")
        #expect(
            try advice() == [
                "Keys/senders": revoking + "  # before you move a keyset away",
                "Keys/senders.old":
                    "move none of them away before you have revoked in Keys/senders what the others revoked, as advised "
                    + "there; then check again",
            ])
        let repeated = try place.run(
            ["keys", "revoke", "Keys/senders", "--yes", "--at", time] + options + ["--", kid])
        try #require(repeated.exit == 0, "\(repeated)")
        let undecided = try advice().values
        #expect(
            undecided.allSatisfy {
                $0.contains("the seq doesn't tell which one is the copy: look which one")
                    && $0.hasSuffix("; the served folder has a set with the name of Keys/senders") == isServed
            },
            "\(undecided)")
    }

    @Test("keys doctor of one of them finds the other one")
    func one() throws {
        #expect(try codes("Keys/senders.old")["Keys/senders.old"]?.contains("copied-keyset") == true)
        let inside = try place.shell("cd Keys/senders && \"$PUSHCRYPT\" keys doctor . --at \(Workplace.now)")
        #expect(inside.exit == 65 && inside.text.contains("Keys/senders.old (seq 1) has"), "\(inside)")
    }

    @Test("status is critical, and every step of both is blocked")
    func status() throws {
        let output = try place.run("status", "Keys", "Keys/senders", "--ignore", "plain-text", "--at", Workplace.now)
        #expect(output.exit == 2 && output.text.hasPrefix("PUSHCRYPT CRITICAL: Keys/senders: "), "\(output)")
        #expect(output.text.contains("blocked=2") && output.text.contains("errors=2"), "\(output)")
    }

    @Test("rotate refuses both when a step is due, and rotates the other keysets; a revocation is never refused")
    func rotate() throws {
        let before = try place.contents(of: "Keys")
        for arguments in [["--all", "Keys"], ["--all", "Keys", "--dry-run"]] {
            let output = try place.run(["rotate"] + arguments + ["--at", Self.due])
            #expect(output.exit == 75, "\(output)")
            for (one, other) in [("senders", "senders.old"), ("senders.old", "senders")] {
                #expect(
                    output.stderr.contains("Keys/\(one): Keys/\(other) (seq 1) has the same keys"),
                    "\(output)")
            }
            #expect(output.text.contains("Keys/phones at \(Self.due)"), "\(output)")
        }
        let after = try place.contents(of: "Keys")
        #expect(after.filter { $0.key.hasPrefix("senders") } == before.filter { $0.key.hasPrefix("senders") })
        let kid = try #require(try place.keys("Keys/senders", at: Self.due).first?.kid)
        try place.succeed("rotate", "Keys/senders", "--emergency", "--revoke", kid, "--yes", at: Self.due)
    }

    @Test("after the copy was moved out of the keystore, as advised, rotate works")
    func moved() throws {
        _ = try place.shell("mkdir -m 700 kept && mv Keys/senders.old kept")
        #expect(try place.run("rotate", "Keys/senders", "--at", Self.due).exit == 0)
        #expect(try codes("Keys")["Keys/senders"]?.contains("copied-keyset") == false)
    }

    @Test("a copy in a hidden folder or deeper in the keystore is an error, and isn't advised to move within it")
    func hidden() throws {
        for target in ["Keys/.senders.old", "Keys/old/senders"] {
            _ = try place.shell("mkdir -p -m 700 $(dirname \(target)); mv Keys/senders.old \(target)")
            #expect(try codes("Keys")[target]?.contains("copied-keyset") == true)
            #expect(try codes("Keys")[target]?.contains("misplaced") == false)
            _ = try place.shell("mv \(target) Keys/senders.old; rm -rf Keys/old")
        }
    }

    @Test("a keyset whose key was destroyed in another one of the keystore isn't a copy")
    func destroyed() throws {
        let kids = try place.writeKeyset("Keys/a", [SampleLifecycles.primary])
        _ = try place.shell("cp -a Keys/a Keys/b")
        #expect(try codes("Keys")["Keys/b"]?.contains("copied-keyset") == true)
        try place.succeed("rotate", "Keys/a", "--emergency", "--revoke", kids[0], "--yes")
        let destroyed = try place.run(
            "keys", "destroy", "Keys/a", "--force", "--at", Workplace.now, "--", kids[0])
        #expect(destroyed.exit == 0, "\(destroyed)")
        #expect(try codes("Keys")["Keys/b"]?.contains("copied-keyset") == false)
    }
}
