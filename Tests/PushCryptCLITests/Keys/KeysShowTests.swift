import Foundation
import Testing

@Suite("keys show", .ownThreads)
struct KeysShowTests {
    @Test("keys show prints properties, times, state and history of a key")
    func words() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient", "--psk", "--reason", "the first")
        let output = try place.run("keys", "show", "Keys/ios", kid, "--at", "2026-03-04T09:00:00Z")
        #expect(output.isSuccess, "\(output)")
        let thumbprint = try #require(output.text.firstMatch(of: /thumbprint  ([A-Za-z0-9_-]{43})[ ]/)?.1)
        #expect(thumbprint.hasPrefix(kid.prefix(10)))
        let actor = try #require(output.text.firstMatch(of: /created by (.*): seals at once/)?.1)
        #expect(
            Workplace.named(output.text.replacing(thumbprint, with: "THUMBPRINT"), [kid])
                .replacing("by \(actor):", with: "by WHO:") == """
                    Key key number0 of Keys/ios at 2026-03-04T09:00:00Z

                      state       primary
                      kind        recipient: senders seal with its public key, the device opens with its private key
                      suite       p256: HPKE with P-256 and AES-256-GCM, suite 1
                      psk         yes: sending also needs the pre-shared key
                      thumbprint  THUMBPRINT (RFC 7638, SHA-256)

                      created     2026-03-01T09:00:00Z  3d ago
                      activates   2026-03-01T09:00:00Z  3d ago
                      retires     -
                      expires     -
                      revoked     -
                      destroyed   -

                      seals       yes: it seals every new push since 2026-03-01T09:00:00Z
                      opens       yes
                      next        Its successor is added at 2026-05-23T09:00:00Z (in 80d), by the policy: key
                                  key number0 seals until 2026-05-30T09:00:00Z; the new one is published 7d before it
                                  seals.

                    History
                      2026-03-01T09:00:00Z  created by WHO: seals at once; why: the first

                    """)
    }

    @Test(
        "keys show says whether a key in each state seals and opens, and its next change",
        arguments: [
            (
                "expired", "no: it expired at 2025-12-10T09:00:00Z", "no: it expired at 2025-12-10T09:00:00Z",
                "The erasure of its material has been due since 2025-12-10T09:00:00Z (81d ago): run `pushcrypt rotate Keys/app`."
            ),
            (
                "retiring", "no: it retired at 2025-12-10T09:00:00Z", "yes: it opens what is still on its way",
                """
                It expires at 2026-03-10T09:00:00Z (in 9d): the last push was sealed with it before \
                2025-12-10T09:00:00Z, and no push is valid for more than 30 days.
                """
            ),
            (
                "revoked", "no: it was revoked at 2025-11-15T09:00:00Z", "no: it was revoked at 2025-11-15T09:00:00Z",
                """
                Its material can be erased from 2026-04-01T09:00:00Z (in 31d) on; until then `pushcrypt reseal` can use it.
                """
            ),
            (
                "primary", "yes: it seals every new push since 2025-12-10T09:00:00Z", "yes",
                "It retires at 2026-03-10T09:00:00Z (in 9d): key KID takes over."
            ),
            (
                "pending", "no: it is published and seals nothing yet", "yes: a sender's clock may be ahead",
                """
                It seals from 2026-03-10T09:00:00Z (in 9d) on. The policy publishes a key 7d ahead, so that every device \
                has it by then.
                """
            ),
            (
                "destroyed", "no: its material was erased at 2025-09-12T09:00:00Z",
                "no: its material was erased at 2025-09-12T09:00:00Z",
                "Nothing: its material is erased, and its id can't be used again."
            ),
        ])
    func states(_ state: String, _ seals: String, _ opens: String, _ next: String) throws {
        let place = try Workplace()
        let kids = try place.writeKeyset("Keys/app", SampleLifecycles.all)
        let kid = kids[try #require(SampleLifecycles.states.firstIndex(of: state))]
        let output = try place.shell("COLUMNS=200 \"$PUSHCRYPT\" keys show Keys/app \(kid) --at \(Workplace.now)")
        #expect(output.isSuccess, "\(output)")
        let rows = output.text.replacing(kids[5], with: "KID").split(separator: "\n")
        #expect(rows.contains("  state       \(state)"))
        #expect(rows.contains("  seals       \(seals)"))
        #expect(rows.contains("  opens       \(opens)"))
        #expect(rows.contains("  next        \(next)"))
        #expect(rows.contains("  There is no audit log."))
    }

    @Test(
        "keys show names the algorithms and the number of the key's suite",
        arguments: [
            (["recipient", "--suite", "p256"], "p256: HPKE with P-256 and AES-256-GCM, suite 1"),
            (["recipient", "--suite", "x25519"], "x25519: HPKE with X25519 and AES-128-GCM, suite 2"),
            (["shared"], "shared: HKDF-SHA256 and AES-256-GCM, suite 4"),
            (["sender"], "ed25519: Ed25519 signatures"),
        ])
    func suites(_ kind: [String], _ suite: String) throws {
        let place = try Workplace()
        let created = try place.run(["keys", "create", "Keys/app", "--insecure-plaintext", "--kind"] + kind)
        try #require(created.isSuccess, "\(created)")
        let output = try place.run("keys", "show", "Keys/app", created.line)
        #expect(output.isSuccess, "\(output)")
        #expect(output.text.split(separator: "\n").contains("  suite       \(suite)"), "\(output)")
    }

    @Test("the history contains the key's log entries, including those that a crash kept out of the log")
    func history() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient")
        let revoked = try place.run(
            "keys", "revoke", "Keys/ios", kid, "--yes", "--reason", "laptop stolen", "--at", Workplace.now)
        try #require(revoked.exit == 0, "\(revoked)")
        for isInterrupted in [false, true] {
            if isInterrupted {
                let log = String(decoding: try place.read("Keys/ios/audit.jsonl"), as: UTF8.self)
                let first = try #require(log.split(separator: "\n").first)
                try place.write(Data((first + "\n").utf8), to: "Keys/ios/audit.jsonl")
            }
            let shown = try place.shownKey("Keys/ios", kid)
            let history = try #require(shown["history"] as? [[String: Any]])
            #expect(history.map { $0["what"] as? String } == ["created", "revoked"])
            #expect(history.map { $0["at"] as? String } == [Workplace.now, Workplace.now])
            #expect(history.map { $0["why"] as? String } == [nil, "laptop stolen"])
            #expect(history.allSatisfy { $0["who"] is String && $0["n"] is Int })
            #expect(shown["historyProblem"] is NSNull)
        }
    }

    @Test("keys show warns about an edited audit log")
    func editedLog() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient", "--reason", "the first")
        let log = String(decoding: try place.read("Keys/ios/audit.jsonl"), as: UTF8.self)
        try place.write(Data(log.replacing("the first", with: "the other").utf8), to: "Keys/ios/audit.jsonl")
        let output = try place.run("keys", "show", "Keys/ios", kid, "--at", Workplace.now)
        #expect(output.exit == 0 && output.text.contains("the audit log is broken: "), "\(output)")
        #expect(try place.shownKey("Keys/ios", kid)["historyProblem"] is String)
    }

    @Test("--json contains the members of keys list and more", arguments: ["recipient", "sender", "shared"])
    func json(_ kind: String) throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", kind)
        let shown = try place.shownKey("Keys/ios", kid)
        let list = try place.run("keys", "list", "Keys/ios", "--json", "--at", Workplace.now)
        let row = try #require((try JSONSerialization.jsonObject(with: list.stdout) as? [[String: Any]])?.first)
        let added = ["keyset", "thumbprint", "next", "history", "historyProblem"]
        #expect(NSDictionary(dictionary: shown.filter { !added.contains($0.key) }) == NSDictionary(dictionary: row))
        #expect(Set(shown.keys) == Set(row.keys).union(added))
        #expect(shown["keyset"] as? String == "Keys/ios")
        #expect((shown["thumbprint"] as? String)?.count == (kind == "shared" ? nil : 43))
    }

    @Test("a key in a file has no history and no policy")
    func file() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient")
        try place.export("Keys/ios", to: "set.json")
        let shown = try place.shownKey("set.json", kid)
        #expect(shown["history"] is NSNull)
        #expect(shown["next"] as? String == "Nothing: no end is set.")
        #expect((shown["thumbprint"] as? String) == (try place.shownKey("Keys/ios", kid)["thumbprint"] as? String))
    }

    @Test("the error for an unknown key lists the keyset's keys", arguments: ["AAAAAAAAAAA", "nope"])
    func unknown(_ kid: String) throws {
        let place = try Workplace()
        let kids = try place.writeKeyset("Keys/app", [SampleLifecycles.destroyed, SampleLifecycles.primary])
        let output = try place.run("keys", "show", "Keys/app", kid)
        expectRefusal(output, 66, saying: "there are: \(kids[1]), \(kids[0])\n")
        for text in ["", "a b", "abc", "AAAAAAAAAAAA"] {
            expectUsageError(try place.run("keys", "show", "Keys/app", text))
        }
    }

    @Test("keys show needs no secret for encrypted keys and prints none")
    func secrets() throws {
        let place = try Workplace()
        let kid = try place.shell(
            "PUSHCRYPT_PASSPHRASE='long enough' \"$PUSHCRYPT\" keys create Keys/web --kind sender"
        )
        .line
        #expect(try place.run("keys", "show", "Keys/web", kid).isSuccess)
        let plain = try place.create("Keys/ios", "recipient", "--psk")
        let output = try place.run("keys", "show", "Keys/ios", plain)
        for secret in try place.secrets(in: "Keys/ios/keyset.json") { #expect(!output.text.contains(secret)) }
    }

    @Test(
        "keys show exits 66 for a missing path and 65 for a bad file",
        arguments: [("Keys/none", Int32(66)), (".", 66), ("text", 65)])
    func missing(_ path: String, _ status: Int32) throws {
        let place = try Workplace()
        try place.write(Data("no keys".utf8), to: "text")
        expectRefusal(try place.run("keys", "show", path, "AAAAAAAAAAA"), status)
    }
}

extension Workplace {
    func shownKey(_ path: String, _ kid: String) throws -> [String: Any] {
        let output = try run("keys", "show", path, kid, "--json", "--at", Self.now)
        try #require(output.isSuccess, "\(output)")
        return try output.object()
    }
}
