import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// Public keys without a signature: a set of them doesn't name its keyset, and has no time.
@Suite("the public keys of recipients in the served folder", .ownThreads)
struct ServedPublicKeysTests {
    private let place: Workplace

    /// `www` has the signed set of `Keys/senders`.
    init() throws {
        place = try SignedSetPlace().place
        try place.makeFolder("www", mode: 0o755)
        try place.succeed("keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher")
    }

    private func findings(day: Int = 0) throws -> [ServedFinding] { try place.servedFindings(day: day) }

    @Test("a destroyed key of an unsigned set isn't published again, also after --publish-seq")
    func destroyedUnsigned() throws {
        try place.create("Keys/phones", "recipient")
        try place.succeed("keys", "add", "Keys/phones")
        let next = try #require(try place.keys("Keys/phones", at: Workplace.now).last?.kid)
        func publish() throws -> Output {
            try place.run("keys", "publish", "Keys/phones", "--to", "www", "--at", Workplace.now)
        }
        #expect(try publish().exit == 0)
        _ = try place.shell("cp -a Keys/phones old")
        let destroyed = try place.run("keys", "destroy", "Keys/phones", "--force", "--at", Workplace.now, "--", next)
        try #require(destroyed.exit == 0, "\(destroyed)")
        #expect(try publish().exit == 0)
        _ = try place.shell("rm -r Keys/phones && mv old Keys/phones")
        expectRefusal(try publish(), 65, saying: "www/phones.jwks.json, seq 3, lacks key \(next), which is older")
        try place.succeed("keys", "policy", "Keys/phones", "--publish-seq", "4")
        expectRefusal(try publish(), 65, saying: "www/phones.jwks.json, seq 3, lacks key \(next), which is older")
        let revoked = try place.run("keys", "revoke", "Keys/phones", "--yes", "--at", Workplace.now, "--", next)
        #expect(revoked.exit == 0, "\(revoked)")
        #expect(try publish().exit == 0)
    }

    @Test(
        "keys publish refuses an old copy of public keys under its own and another name, and names the key that it lacks"
    )
    func renamedPublicKeys() throws {
        try place.create("Keys/phones", "recipient")
        _ = try place.shell("cp -a Keys/phones Keys.old")
        try place.succeed("keys", "add", "Keys/phones", at: Workplace.now)
        let next = try #require(try place.keys("Keys/phones", at: Workplace.now).last?.kid)
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www", at: Workplace.now)
        _ = try place.shell("rm -r Keys/phones && mv Keys.old Keys/phones")
        for name in ["phones", "handsets"] {
            expectRefusal(
                try place.run("keys", "publish", "Keys/phones", "--to", "www", "--as", name, "--at", Workplace.now), 65,
                saying:
                    "www/phones.jwks.json has seq 2, and the keyset has seq 1: it is an old copy, without key \(next) ("
            )
        }
        #expect(!place.has("www/handsets.jwks.json"))
    }

    @Test(
        "an old copy whose only key was destroyed isn't published over its later sets, also if the served one is lost")
    func destroyedOnlyKey() throws {
        let day = SignedSetPlace.day
        let first = try place.create("Keys/phones", "recipient")
        func publish(_ number: Int) throws -> Output {
            try place.run("keys", "publish", "Keys/phones", "--to", "www", "--at", day(number))
        }
        #expect(try publish(0).exit == 0)
        _ = try place.shell("cp -a Keys/phones old")
        let revoked = try place.run("keys", "revoke", "Keys/phones", "--yes", "--at", day(1), "--", first)
        let destroyed = try place.run("keys", "destroy", "Keys/phones", "--force", "--at", day(1), "--", first)
        try #require(revoked.exit == 0 && destroyed.exit == 0, "\(destroyed)")
        #expect(try publish(1).exit == 0)
        _ = try place.shell("rm -r Keys/phones www/phones.jwks.json && mv old Keys/phones")
        #expect(try findings(day: 2).contains { $0.code == "served-revoked" && $0.message.contains(first) })
        let words = "www/phones.3.jwks.json has no key of the keyset. If it is another keyset's set, move it away"
        expectRefusal(try publish(2), 65, saying: words)
        try place.succeed("keys", "policy", "Keys/phones", "--publish-seq", "4", at: day(2))
        expectRefusal(try publish(2), 65, saying: words)
        #expect(!place.has("www/phones.jwks.json"))
    }

    @Test("a recipient key that a set from a wrong clock lacks isn't given up: the restored keyset is published")
    func recipientsAfterWrongClock() throws {
        let (day, ahead) = (SignedSetPlace.day(10), SignedSetPlace.day(300))
        try place.create("Keys/phones", "recipient")
        func publish(at time: String) throws -> Output {
            try place.run("keys", "publish", "Keys/phones", "--to", "www", "--at", time)
        }
        #expect(try publish(at: Workplace.now).exit == 0)
        _ = try place.shell("cp -a Keys/phones old")
        for time in [ahead, SignedSetPlace.day(308)] { _ = try place.run("rotate", "Keys/phones", "--at", time) }
        let first = try #require(try place.keys("old", at: day).first?.kid)
        let destroyed = try place.run(
            "keys", "destroy", "Keys/phones", "--force", "--at", SignedSetPlace.day(390), "--", first)
        #expect(destroyed.exit == 0, "\(destroyed)")
        #expect(try publish(at: SignedSetPlace.day(390)).exit == 0)
        #expect(try place.shell("grep -c -e \(first) www/phones.jwks.json; true").text.hasPrefix("0"))
        _ = try place.shell("rm -r Keys/phones && mv old Keys/phones")
        let served = try #require(try findings(day: 10).first { $0.message.contains("phones") })
        #expect(served.code == "served-future", "\(served)")
        let condition = "if this clock is right, docs/runbooks/wrong-clock.md; if the keyset is restored already: "
        try #require(served.advice.hasPrefix(condition), "\(served)")
        for command in served.advice.dropFirst(condition.count).split(separator: " && ") {
            guard command.hasPrefix("pushcrypt ") else {
                _ = try place.shell(String(command))
                continue
            }
            let output = try place.run(command.split(separator: " ").dropFirst().map(String.init) + ["--at", day])
            #expect(output.exit == 0, "\(command): \(output)")
        }
        #expect(try findings(day: 10).allSatisfy { !$0.message.contains("phones") })
    }

    @Test("the set of another recipient keyset in the place of a set isn't held against the keys of its keyset")
    func swappedRecipients() throws {
        try place.create("Keys/phones", "recipient")
        try place.create("Keys/tablets", "recipient")
        try place.succeed("keys", "policy", "Keys/tablets", "--rotate-every", "60d")
        for name in ["phones", "tablets"] { try place.succeed("keys", "publish", "Keys/\(name)", "--to", "www") }
        _ = try place.shell("cp www/tablets.jwks.json www/phones.jwks.json")
        let found = try findings().filter { $0.message.contains("phones") }
        #expect(found.map(\.code) == ["served-foreign"], "\(found)")
        #expect(found.first?.message.contains("is the set of Keys/tablets") == true, "\(found)")
        let output = try place.run("keys", "publish", "Keys/phones", "--to", "www", "--at", Workplace.now)
        expectRefusal(
            output, 65, saying: "www/phones.jwks.json doesn't belong to the keyset: it is the set of Keys/tablets")
    }

    @Test("the public keys of senders in the place of a recipient set aren't held against the recipients' keys")
    func sendersInPlaceOfRecipients() throws {
        let kid = try place.create("Keys/phones", "recipient")
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www")
        try place.succeed("keys", "publish", "Keys/senders", "--to", "www")
        _ = try place.shell("cp www/senders.jwks.json www/phones.jwks.json")
        let output = try place.run("keys", "publish", "Keys/phones", "--to", "www", "--at", Workplace.now)
        expectRefusal(output, 65, saying: "www/phones.jwks.json doesn't belong to the keyset")
        #expect(!output.stderr.contains("keys revoke") && !output.stderr.contains(kid), "\(output)")
        let found = try findings().filter { $0.message.contains("phones") }
        #expect(found.map(\.code) == ["served-foreign"], "\(found)")
    }

    @Test(
        "a stray numbered copy under another keyset's name: the sets of that keyset aren't held against its own keyset")
    func strayCopy() throws {
        for name in ["phones", "tablets"] {
            try place.create("Keys/\(name)", "recipient")
            try place.succeed("keys", "publish", "Keys/\(name)", "--to", "www")
        }
        _ = try place.shell(
            "cp www/phones.jwks.json www/tablets.jwks.json; cp www/phones.1.jwks.json www/tablets.1.jwks.json")
        let found = try #require(try findings().first { $0.message.contains("www/tablets.jwks.json is the set of") })
        for command in found.advice.split(separator: "  #")[0].split(separator: " && ") {
            guard command.hasPrefix("pushcrypt ") else {
                _ = try place.shell(String(command))
                continue
            }
            let output = try place.run(
                command.split(separator: " ").dropFirst().map(String.init) + ["--at", Workplace.now])
            #expect(output.exit == 0, "\(command): \(output)")
        }
        #expect(try findings().isEmpty)
        try place.succeed("keys", "add", "Keys/phones", at: SignedSetPlace.day(1))
        let output = try place.run("keys", "publish", "Keys/phones", "--to", "www", "--at", SignedSetPlace.day(1))
        #expect(output.exit == 0, "\(output)")
        #expect(try findings(day: 1).isEmpty)
    }

    @Test("an old file whose keys were all destroyed since is an error at once, and the advice ends it")
    func destroyedKeys() throws {
        let kid = try place.create("Keys/phones", "recipient")
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www")
        try place.succeed("keys", "add", "Keys/phones")
        let destroyed = try place.run(
            "keys", "destroy", "Keys/phones", "--force", "--at", SignedSetPlace.day(8), "--", kid)
        try #require(destroyed.exit == 0, "\(destroyed)")
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www", at: SignedSetPlace.day(8))
        _ = try place.shell("cp www/phones.1.jwks.json www/phones.jwks.json")
        let found = try #require(try findings(day: 8).first { $0.code == "served-lacks" })
        #expect(found.message.hasPrefix("www/phones.jwks.json has only keys that were destroyed"), "\(found)")
        #expect(found.advice == "pushcrypt keys publish Keys/phones --to www")
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www", at: SignedSetPlace.day(8))
        #expect(try findings(day: 8).isEmpty)
    }

    @Test("an emptied folder: each keyset has its finding, which is an error if one of its keys is revoked")
    func emptied() throws {
        for name in ["phones", "tablets"] {
            let kid = try place.create("Keys/\(name)", "recipient")
            if name == "tablets" {
                _ = try place.run("keys", "revoke", "Keys/tablets", "--yes", "--at", Workplace.now, "--", kid)
            }
            try place.succeed("keys", "publish", "Keys/\(name)", "--to", "www")
        }
        _ = try place.shell("rm www/*")
        let output = try place.run(
            "keys", "doctor", "Keys", "--served", "www", "--json", "--at", SignedSetPlace.day(2))
        let list = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]])
        let served = list.filter { $0["code"]?.hasPrefix("served-") == true }.map {
            [$0["keyset"] ?? "", $0["severity"] ?? "", $0["code"] ?? ""].joined(separator: " ")
        }
        #expect(
            served.sorted() == [
                "Keys/phones warning served-absent", "Keys/senders error served-unpublished",
                "Keys/tablets error served-absent",
            ])
        let published = try place.run(
            "keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher", "--at",
            SignedSetPlace.day(2)
        )
        #expect(published.stderr.contains("nothing showed whether the keyset or Keys/publisher is an old copy"))
    }

    /// What is exchanged, in the folder of the two keysets, and what is advised for the first one.
    enum Exchange: String, CaseIterable {
        case folders = "set -- Keys/phones Keys/tablets"
        case keysetFiles = "set -- Keys/phones/keyset.json Keys/tablets/keyset.json"
        case servedFiles = "set -- www/phones.jwks.json www/tablets.jwks.json"

        var advice: String {
            switch self {
            case .folders:
                "mv Keys/phones Keys/phones.exchanged && mv Keys/tablets Keys/phones && mv Keys/phones.exchanged Keys/tablets"
                    + "  # as the numbered copies show, unless all files of the names were exchanged"
            case .keysetFiles:
                "mv Keys/phones/keyset.json Keys/phones/keyset.json.exchanged && mv Keys/tablets/keyset.json Keys/phones/keyset.json && "
                    + "mv Keys/phones/keyset.json.exchanged Keys/tablets/keyset.json"
            case .servedFiles:
                "pushcrypt keys policy Keys/phones --publish-seq 2 && mv www/phones.jwks.json www/phones.jwks.json.old && "
                    + "pushcrypt keys publish Keys/phones --to www"
                    + "  # or, if this name is Keys/tablets's, publish this keyset with --as NAME"
            }
        }
    }

    @Test(
        "two keysets, or their served sets, were exchanged: the advised commands restore both",
        arguments: Exchange.allCases)
    func exchanged(_ exchange: Exchange) throws {
        for name in ["phones", "tablets"] {
            try place.create("Keys/\(name)", "recipient")
            try place.succeed("keys", "publish", "Keys/\(name)", "--to", "www")
        }
        let right = try place.contents(of: "www")
        func errors() throws -> [[String: String]] {
            try place.settle("Keys")
            let output = try place.run(
                "keys", "doctor", "Keys", "--served", "www", "--json", "--at", SignedSetPlace.day(0))
            let found = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]])
            return found.filter { $0["severity"] == "error" }
        }
        #expect(try errors().isEmpty)
        _ = try place.shell("\(exchange.rawValue); mv $1 t; mv $2 $1; mv t $2")
        let found = try errors()
        let code = exchange == .keysetFiles ? "audit-broken" : "served-foreign"
        let first = try #require(found.first { $0["keyset"] == "Keys/phones" && $0["code"] == code }, "\(found)")
        #expect(first["advice"] == exchange.advice)
        let commands = found.compactMap { $0["advice"] }.filter { $0.contains("mv ") }
        let ran = try place.shell(
            "pushcrypt() { \"$PUSHCRYPT\" \"$@\" --at \(SignedSetPlace.day(0)); }; \(commands.joined(separator: "\n"))")
        let left = try errors()
        #expect(left.isEmpty, "\(left), \(ran)")
        if exchange != .servedFiles { #expect(try place.contents(of: "www") == right) }
    }

    @Test("a folder of another system: status says first to check the folder")
    func otherSystem() throws {
        let other = try SignedSetPlace().place
        _ = try place.shell("rm www/*")
        try other.makeFolder("www", mode: 0o755)
        try other.succeed("keys", "publish", "Keys/senders", "--to", "www", "--signed-by", "Keys/publisher")
        try place.write(other.read("www/senders.json"), to: "www/senders.json", mode: 0o644)
        let found = try #require(try findings().first)
        #expect(found.code == "served-foreign", "\(found)")
        #expect(found.message.hasSuffix("it may be another system's folder"), "\(found)")
        #expect(found.advice.hasPrefix("check first that this is the right folder; if it is: "), "\(found)")
    }

    @Test("a later set without a common key and without numbered copies doesn't get the advice to move it away")
    func laterWithoutCopies() throws {
        try place.create("Keys/phones", "recipient")
        _ = try place.shell("cp -a Keys/phones old")
        let first = try #require(try place.keys("Keys/phones", at: Workplace.now).first?.kid)
        for command in [["rotate", "Keys/phones", "--now"], ["keys", "revoke", "Keys/phones", "--yes", "--", first]] {
            let end = command.firstIndex(of: "--") ?? command.endIndex
            let output = try place.run(Array(command[..<end]) + ["--at", Workplace.now] + command[end...])
            try #require(output.exit == 0, "\(output)")
        }
        let destroyed = try place.run(
            "keys", "destroy", "Keys/phones", "--force", "--at", Workplace.now, "--", first)
        try #require(destroyed.exit == 0, "\(destroyed)")
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www")
        _ = try place.shell("rm www/phones.[0-9]*; rm -r Keys/phones; mv old Keys/phones")
        let found = try #require(try findings().first { $0.message.contains("phones") })
        #expect(found.code == "served-foreign" && !found.advice.contains("mv "), "\(found)")
        #expect(found.advice.contains("if it is restored, and what was revoked later is revoked again"), "\(found)")
    }

    @Test("public keys that were changed under a clock far ahead aren't published")
    func unsignedUnderWrongClock() throws {
        try place.create("Keys/phones", "recipient")
        try place.succeed("keys", "publish", "Keys/phones", "--to", "www")
        let before = try place.read("www/phones.jwks.json")
        try place.succeed("keys", "add", "Keys/phones", "--confirm-clock", at: SignedSetPlace.day(300))
        expectRefusal(
            try place.run("keys", "publish", "Keys/phones", "--to", "www", "--at", SignedSetPlace.day(1)), 65,
            saying: "docs/runbooks/wrong-clock.md")
        #expect(try place.read("www/phones.jwks.json") == before)
    }
}
