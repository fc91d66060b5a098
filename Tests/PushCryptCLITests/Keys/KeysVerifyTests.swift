import Foundation
import PushCryptCore
import Testing

@Suite("keys verify", .ownThreads)
struct KeysVerifyTests {
    @Test("keys verify prints every check of an intact keyset")
    func transcript() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient")
        let output = try place.run("keys", "verify", "Keys/ios", "--at", Workplace.now)
        #expect(output.isSuccess, "\(output)")
        #expect(
            output.text == """
                ok         digest     keyset.json matches its digest
                ok         metadata   1 recipient key, seq 1
                ok         lives      key \(kid) seals now, and a key seals at every later time
                ok         keys       every private key is present and matches its public key and its id
                ok         log        the chain of hashes in the audit log is whole and matches the keyset: 1 line
                ok         public     public.jwks.json matches the keyset
                ok         leftovers  no interrupted change left a file

                """)
    }

    @Test("keys verify without the secret lists the checks that it couldn't make")
    func encrypted() throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/ios", .sender)
        let without = try place.run("keys", "verify", "Keys/ios", "--at", Workplace.now)
        #expect(without.isSuccess, "\(without)")
        #expect(try checks(without, "unchecked") == ["keys", "public"])
        #expect(without.text.contains("give --passphrase-file"))
        let with = try place.run("keys", "verify", "Keys/ios", "--passphrase-file", "passphrase")
        #expect(with.isSuccess, "\(with)")
        #expect(try checks(with, "ok").count == 7)
        try place.write(Data("wrong".utf8), to: "wrong")
        expectRefusal(
            try place.run("keys", "verify", "Keys/ios", "--passphrase-file", "wrong"), 77,
            saying: "the passphrase is wrong")
    }

    @Test(
        "keys verify accepts the published demo keys and writes nothing", arguments: ["recipient", "sender", "shared"])
    func demo(_ name: String) throws {
        let place = try Workplace()
        try place.copyDemoKeys()
        let output = try place.run("keys", "verify", "Keys/demo/\(name)")
        #expect(output.isSuccess, "\(output)")
        #expect(try place.names(in: "Keys/demo/\(name)") == ["keyset.json"])
    }

    @Test("--json prints one object for each check")
    func json() throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        try place.edit("Keys/ios/audit.jsonl") { $0.replacing("root", with: "nobody").replacing("1", with: "2") }
        let output = try place.run("keys", "verify", "Keys/ios", "--json", "--at", Workplace.now)
        #expect(output.exit == 65, "\(output)")
        let rows = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]])
        #expect(
            rows.map { $0["check"] as? String } == [
                "digest", "metadata", "lives", "keys", "log", "public", "leftovers",
            ])
        #expect(rows.map { $0["outcome"] as? String } == ["ok", "ok", "ok", "ok", "bad", "ok", "ok"])
        #expect(rows[0]["advice"] is NSNull)
        #expect((rows[4]["advice"] as? String)?.contains("keys log Keys/ios --start-new") == true)
    }

    @Test("keys verify exits 66 without a keyset", arguments: ["none", ".", "passphrase"])
    func missing(_ path: String) throws {
        let place = try Workplace()
        try place.createEncrypted("Keys/ios", .shared)
        expectRefusal(try place.run("keys", "verify", path), 66)
    }

    @Test("keys verify refuses files that other users can read", arguments: ["", "/keyset.json", "/audit.jsonl"])
    func modes(_ name: String) throws {
        let place = try Workplace()
        try place.create("Keys/ios", "shared")
        try place.setMode(0o755, of: "Keys/ios\(name)")
        expectRefusal(try place.run("keys", "verify", "Keys/ios"), 77, saying: "correct it with: chmod")
    }

    private func checks(_ output: Output, _ outcome: String) throws -> [String] {
        output.text.matches(of: /(?m)^([a-z]+) +([a-z]+)/).filter { $0.1 == outcome }.map { String($0.2) }
    }
}
