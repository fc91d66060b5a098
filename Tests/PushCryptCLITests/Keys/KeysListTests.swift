import Foundation
import Testing

@Suite("keys list")
struct KeysListTests {
    @Test("shows a table")
    func table() throws {
        let place = try Workplace()
        let kid = try place.create("Keys/ios", "recipient", "--psk")
        let output = try place.run("keys", "list", "Keys/ios", "--at", Workplace.now)
        #expect(output.isSuccess, "\(output)")
        #expect(
            output.text == """
                KID          STATE    SUITE  PSK  CREATED               ACTIVATES             RETIRES  EXPIRES
                \(kid)  primary  p256   yes  2026-03-01T09:00:00Z  2026-03-01T09:00:00Z  -        -

                """)
    }

    @Test(
        "--json is an array of objects",
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
        for absent in ["retiresAt", "expiresAt", "revokedAt"] {
            #expect(rows[0][absent] is NSNull, "\(absent)")
        }
    }

    @Test("every state, by the times of the set")
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

    @Test("the demo keys without being asked twice", arguments: ["recipient", "sender", "shared"])
    func demoKeys(_ name: String) throws {
        let place = try Workplace()
        try place.copyDemoKeys()
        #expect(try place.run("keys", "list", "Keys/demo/\(name)").isSuccess)
    }

    @Test("what isn't there", arguments: [("Keys/none", Int32(66)), (".", 66), ("text", 65), ("", 66)])
    func missing(_ path: String, _ status: Int32) throws {
        let place = try Workplace()
        try place.write(Data("no keys".utf8), to: "text")
        expectRefusal(try place.run("keys", "list", path), status)
    }
}
