import Foundation
import Testing

@Suite("keys list", .ownThreads)
struct KeysListTests {
    @Test("keys list prints a table, the next step and a timeline")
    func table() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient", "--psk")
        let output = try place.run("keys", "list", "Keys/ios", "--at", Workplace.now)
        #expect(output.isSuccess, "\(output)")
        #expect(
            Workplace.named(output.text, [kid]) == """
                KID          STATE    SUITE  PSK  AGE  SEALS  OPENS  NEXT CHANGE
                key number0  primary  p256   yes  0s   yes    yes    -

                Next: 2026-05-23T09:00:00Z add a key (in 83d)

                               ▼ now 2026-03-01T09:00:00Z
                key number0    │████████████████████████████████████████████████████████████████████████████████████
                (next key)     │                                                                           ░░░░░░░██
                             ─┬┴───────────────────────────┬──────────────────────────┬────────────────────────────┬
                             2026-03-01               2026-04-01                 2026-05-01               2026-06-01
                             █ seals and opens

                """)
    }

    @Test(
        "--json prints one object for each key",
        arguments: [
            (["recipient"], "p256"), (["recipient", "--suite", "x25519"], "x25519"), (["shared"], "shared"),
            (["sender"], "ed25519"),
        ])
    func json(_ kind: [String], _ suite: String) throws {
        let place = try Workplace()
        let created = try place.run(
            ["keys", "create", "Keys/ios", "--insecure-plaintext", "--at", Workplace.now, "--kind"] + kind)
        let output = try place.run("keys", "list", "Keys/ios", "--json", "--at", Workplace.now)
        #expect(output.isSuccess, "\(output)")
        let rows = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]])
        #expect(rows.count == 1)
        #expect(rows[0]["kid"] as? String == created.line)
        #expect(rows[0]["kind"] as? String == kind[0])
        #expect(rows[0]["suite"] as? String == suite)
        #expect(rows[0]["state"] as? String == "primary")
        #expect(rows[0]["psk"] as? Bool == false)
        #expect(rows[0]["createdAt"] as? String == Workplace.now)
        #expect(rows[0]["activatesAt"] as? String == Workplace.now)
        #expect(rows[0]["ageInSeconds"] as? Int == 0)
        #expect(rows[0]["sealsNow"] as? Bool == true && rows[0]["opensNow"] as? Bool == true)
        for absent in ["retiresAt", "expiresAt", "revokedAt", "destroyedAt", "nextChange"] {
            #expect(rows[0][absent] is NSNull, "\(absent)")
        }
        #expect(rows[0].count == 15)
    }

    @Test("--json contains each key's state and its next change")
    func changes() throws {
        let place = try Workplace()
        let kids = try place.writeKeyset("Keys/app", SampleLifecycles.all)
        let output = try place.run("keys", "list", "Keys/app", "--json", "--at", Workplace.now)
        let rows = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]])
        #expect(rows.map { $0["kid"] as? String } == Array(kids.dropFirst() + kids.prefix(1)))
        #expect(
            rows.map { $0["state"] as? String }
                == Array(SampleLifecycles.states.dropFirst() + SampleLifecycles.states.prefix(1)))
        #expect(rows.map { $0["sealsNow"] as? Bool } == [false, false, false, true, false, false])
        #expect(rows.map { $0["opensNow"] as? Bool } == [false, true, false, true, true, false])
        let changes = rows.map { $0["nextChange"] as? [String: String] }
        #expect(changes.map { $0?["state"] } == [nil, "expired", nil, "retiring", "primary", nil])
        #expect(changes.compactMap { $0?["at"] } == Array(repeating: "2026-03-10T09:00:00Z", count: 3))
        #expect(rows[4]["ageInSeconds"] as? Int == 28 * 86_400)
    }

    @Test("keys list shows each state that follows from the times of a set")
    func states() throws {
        let place = try Workplace()
        let lifecycles = [
            ("expired", #""activatesAt":"2025-01-01T00:00:00Z","expiresAt":"2026-02-01T00:00:00Z""#),
            ("retiring", #""activatesAt":"2025-06-01T00:00:00Z","retiresAt":"2026-02-01T00:00:00Z""#),
            ("primary", #""activatesAt":"2026-02-01T00:00:00Z""#),
            ("pending", #""activatesAt":"2026-04-01T00:00:00Z""#),
            ("pending", ""),
            ("revoked", #""activatesAt":"2026-02-02T00:00:00Z","revokedAt":"2026-02-03T00:00:00Z""#),
        ]
        let kids = try place.writeSet(lifecycles.map(\.1), to: "set.json")
        let output = try place.run("keys", "list", "set.json", "--json", "--at", Workplace.now)
        let rows = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: Any]])
        #expect(rows.map { $0["kid"] as? String } == kids)
        #expect(rows.map { $0["state"] as? String } == lifecycles.map(\.0))
    }

    @Test("keys list shows the demo keys without --allow-demo-keys", arguments: ["recipient", "sender", "shared"])
    func demoKeys(_ name: String) throws {
        let place = try Workplace()
        try place.copyDemoKeys()
        let output = try place.run("keys", "list", "Keys/demo/\(name)")
        #expect(output.isSuccess && output.text.contains("primary"), "\(output)")
        // Demo keys are never rotated.
        #expect(!output.text.contains("add a key") && !output.text.contains("next key"), "\(output)")
    }

    @Test(
        "keys list exits 66 for a missing path and 65 for a bad file",
        arguments: [("Keys/none", Int32(66)), (".", 66), ("text", 65)])
    func missing(_ path: String, _ status: Int32) throws {
        let place = try Workplace()
        try place.write(Data("no keys".utf8), to: "text")
        expectRefusal(try place.run("keys", "list", path), status)
    }
}
