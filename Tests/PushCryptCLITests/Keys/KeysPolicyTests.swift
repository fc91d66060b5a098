import Foundation
import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@Suite("keys policy", .ownThreads)
struct KeysPolicyTests {
    private let host: KeystorePlace

    init() throws {
        host = try KeystorePlace()
        try host.succeed("rotate")
    }

    private func policy(_ options: String..., of keyset: String = "senders") throws -> Output {
        try host.run("a", ["keys", "policy", keyset] + options, day: 0, settings: "a/pushcrypt.json")
    }

    @Test("without an option it shows policy, publication, epochs and writer, and changes nothing")
    func show() throws {
        let before = try host.place.contents(of: ".")
        let shown = try policy("--json")
        let json = try shown.object()
        #expect(json["policy"] as? [String: Any] != nil && json["writer"] as? String == "a", "\(shown)")
        #expect((json["epochs"] as? [String: String])?.keys.sorted() == ["1"])
        #expect((json["publication"] as? [String: Any])?["validFor"] as? String == "P60D")
        let text = try policy().text
        #expect(text.contains("a retired key opens for 90d10m") && text.contains("for \(Workplace.topic)"), "\(text)")
        #expect(try policy(of: "app").text.contains("publisher keys are never rotated"))
        #expect(try host.place.contents(of: ".") == before)
    }

    @Test("a changed policy is one line, and what isn't named stays; the same policy again writes nothing")
    func change() throws {
        #expect(try policy("--keep", "4", "--require-coverage", "99%").exit == 0)
        #expect(try policy("--rotate-every", "30d").exit == 0)
        let state = try host.place.log("a/Keys/senders").state
        #expect(state.policy.keep == 4 && state.policy.rotateEveryInSeconds == 30 * 86_400)
        #expect(state.policy.requiredCoverage != nil && state.publication?.validForInSeconds == 60 * 86_400)
        let before = try host.place.contents(of: ".")
        let same = try policy("--keep", "4")
        #expect(same.isSuccess && same.stdout.isEmpty, "\(same)")
        #expect(try host.place.contents(of: ".") == before)
        #expect(try policy("--require-coverage", "none").exit == 0)
        #expect(try host.place.log("a/Keys/senders").state.policy.requiredCoverage == nil)
    }

    @Test("new topics and another validity are published at once")
    func publication() throws {
        let output = try policy("--topic", "com.example.one", "--topic", "com.example.two", "--valid-for", "14d")
        #expect(output.exit == 0 && output.text.contains("published "), "\(output)")
        #expect(try host.served()["topics"] as? [String] == ["com.example.one", "com.example.two"])
        #expect(try host.served()["validUntil"] as? String == "2026-03-15T09:00:00Z")
        try host.expectHealthy()
    }

    @Test("an epoch is published with its publisher, and its end removes the file")
    func epochs() throws {
        try host.succeed("keys", "create", host.file("a/Publisher/next"), "--kind", "publisher", "--insecure-plaintext")
        let id = try host.id()
        let begun = try policy("--epoch", "2", "--publisher", "next")
        #expect(begun.exit == 0, "\(begun)")
        #expect(try host.place.names(in: "www") == ["\(id).1.json", "\(id).2.json"])
        let taken = try policy("--epoch", "2", "--publisher", "app")
        #expect(taken.exit == 64 && taken.stderr.contains("--epoch 3 --publisher"), "\(taken)")
        let ended = try policy("--end-epoch", "1")
        #expect(ended.exit == 0 && ended.text.contains("removed "), "\(ended)")
        #expect(try host.place.names(in: "www") == ["\(id).2.json"])
        try host.expectHealthy()
    }

    @Test(
        "what no app or keyset accepts is refused and changes nothing",
        arguments: [
            ("senders --valid-for 91d", 64, "14d to 90d"),
            ("senders --topic a.b --topic a.b", 64, "different topics"), ("senders --topic a..b", 64, "--topic"),
            ("senders --epoch -1 --publisher app", 64, "--epoch"),
            ("senders --epoch 2 --publisher fleet", 64, "has shared keys"),
            ("senders --epoch 2 --publisher none", 66, "there is no such keyset"),
            ("senders --end-epoch 3", 64, "name one of its epochs: 1"), ("senders --keep 0", 64, "--keep"),
            ("fleet --topic a.b", 65, "these are shared keys"), ("app --keep 3", 65, "no policy"),
            ("none --keep 3", 66, "there is no such keyset"),
        ] as [(String, Int32, String)])
    func refused(_ arguments: String, _ status: Int32, _ message: String) throws {
        let before = try host.place.contents(of: ".")
        let words = arguments.split(separator: " ").map(String.init)
        let output = try host.run("a", ["keys", "policy"] + words, day: 0, settings: "a/pushcrypt.json")
        #expect(output.exit == status && output.stderr.contains(message), "\(output)")
        #expect(try host.place.contents(of: ".") == before)
    }
}

@Suite("keys destroy", .ownThreads)
struct KeysDestroyTests {
    private let host: KeystorePlace

    init() throws { host = try KeystorePlace() }

    private func destroy(_ keyset: String, _ options: String..., kid: String) throws -> Output {
        try host.run(["keys", "destroy", keyset] + options, key: kid, day: 1)
    }

    @Test("destroy says what is lost, asks, erases the key and publishes; the id stays in the log")
    func pending() throws {
        try host.succeed("rotate", "senders", "--now")
        let kid = try #require(host.kids().last)
        let before = try host.place.contents(of: ".")
        let asked = try destroy("senders", kid: kid)
        #expect(asked.exit == 64 && asked.stderr.contains("will never seal"), "\(asked)")
        let dry = try destroy("senders", "--dry-run", kid: String(kid.prefix(5)))
        #expect(dry.exit == 10 && dry.text.contains("would destroy key \(kid)"), "\(dry)")
        #expect(try host.place.contents(of: ".") == before)
        let done = try destroy("senders", "--yes", kid: kid)
        #expect(done.exit == 0 && done.text.contains("destroyed key \(kid)"), "\(done)")
        #expect(try host.servedKeys()[kid] == nil)
        #expect(try host.place.secrets(in: "a/Keys/senders").count == 1)
        let again = try destroy("senders", "--yes", kid: kid)
        #expect(again.exit == 65 && again.stderr.contains("already destroyed"), "\(again)")
    }

    @Test("a primary key, an unknown one and short ids with --yes are refused")
    func refused() throws {
        let kid = try #require(host.kids().first)
        let before = try host.place.contents(of: "a")
        for (kid, status) in [(kid, 65), (String(kid.prefix(5)), 64), ("AAAAAAAAAAA", 66)] as [(String, Int32)] {
            #expect(try destroy("senders", "--yes", kid: kid).exit == status)
        }
        #expect(try host.place.contents(of: "a") == before)
    }
}
