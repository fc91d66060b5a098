import Foundation
import Testing

@Suite("rotate --emergency", .ownThreads)
struct EmergencyTests {
    private let place: Workplace
    private let old: String
    private static let time = "2026-02-01T00:00:00Z"

    init() throws {
        place = try Workplace()
        old = try place.createAtNewYear("Keys/app")
    }

    @Test("rotate --emergency without --yes prints the losses and changes nothing")
    func asks() throws {
        let before = try place.read("Keys/app/keyset.json")
        let output = try place.run("rotate", "Keys/app", "--emergency", "--revoke", old, "--at", Self.time)
        expectRefusal(output, 64, saying: "--yes")
        #expect(output.stderr.contains("every push made with key \(old) that is still on its way shows a placeholder"))
        #expect(output.stderr.contains("until they have fetched the new key"))
        #expect(try place.read("Keys/app/keyset.json") == before)
    }

    @Test("--yes revokes the key and makes a new one primary in one step")
    func replaces() throws {
        let push = try place.sealed(to: "Keys/app", at: Self.time)
        let output = try place.run(
            "rotate", "Keys/app", "--emergency", "--revoke", old, "--yes", "--at", Self.time, "--reason", "leaked")
        #expect(output.exit == 0, "\(output)")
        let keys = try place.keys("Keys/app", at: Self.time)
        #expect(keys.map(\.state) == ["revoked", "primary"])
        #expect(
            output.text == """
                revoked \(old): every push made with key \(old) that is still on its way shows a placeholder from now on
                added \(keys[1].kid): seals at once

                """)
        #expect(try place.opening(push, with: "Keys/app", at: Self.time) == "keyRevoked")
        let next = try place.sealed(to: "Keys/app", at: Self.time)
        #expect(try place.opening(next, with: "Keys/app", at: Self.time) == "opened")
        let log = String(decoding: try place.read("Keys/app/audit.jsonl"), as: UTF8.self)
        #expect(log.contains(#""why":"leaked""#))
    }

    @Test("a retired key never seals again, even if its successor is revoked")
    func older() throws {
        _ = try place.rotate("Keys/app", at: "2026-03-25T00:00:00Z")
        let successor = try #require(try place.keys("Keys/app", at: "2026-04-02T00:00:00Z").last)
        #expect(successor.state == "primary")
        let output = try place.run(
            "rotate", "Keys/app", "--emergency", "--revoke", successor.kid, "--yes", "--at", "2026-04-02T00:00:00Z")
        #expect(output.exit == 0, "\(output)")
        #expect(try place.states("Keys/app", at: "2026-04-02T00:00:00Z") == ["retiring", "revoked", "primary"])
    }

    @Test("--promote makes a pending key primary instead of a new one")
    func promotesPending() throws {
        _ = try place.rotate("Keys/app", at: Self.time, "--now")
        let pending = try #require(try place.keys("Keys/app", at: Self.time).last?.kid)
        let output = try place.run(
            "rotate", "Keys/app", "--emergency", "--revoke", old, "--promote", pending, "--yes",
            "--at", "2026-02-04T00:00:00Z")
        #expect(output.exit == 0, "\(output)")
        let keys = try place.keys("Keys/app", at: "2026-02-04T00:00:00Z")
        #expect(keys.map(\.state) == ["revoked", "primary"])
        #expect(keys[1].kid == pending)
    }

    @Test("reseal seals queued pushes of the revoked key again")
    func reseal() throws {
        let push = try place.sealed(to: "Keys/app", at: Self.time)
        _ = try place.run("rotate", "Keys/app", "--emergency", "--revoke", old, "--yes", "--at", Self.time)
        let line = Data(#"{"payload":"#.utf8) + push + Data("}\n".utf8)
        let output = try place.run(
            ["reseal", "--keys", "Keys/app", "--topic", Workplace.topic, "--errors", "errors", "--at", Self.time],
            stdin: line)
        #expect(output.exit == 0, "\(output)")
        let resealed = try JSONSerialization.jsonObject(with: output.stdout) as? [String: Any]
        let payload = try JSONSerialization.data(withJSONObject: try #require(resealed?["payload"]))
        #expect(try place.opening(payload, with: "Keys/app", at: Self.time) == "opened")
    }

    @Test("--dry-run prints the losses, exits 10 and changes nothing")
    func dry() throws {
        let before = try place.read("Keys/app/keyset.json")
        let output = try place.run(
            "rotate", "Keys/app", "--emergency", "--revoke", old, "--dry-run", "--at", Self.time)
        #expect(output.exit == 10)
        #expect(output.text.contains("would revoke key \(old)"))
        #expect(try place.read("Keys/app/keyset.json") == before)
    }

    @Test(
        "rotate --emergency exits 64 for bad usage",
        arguments: [
            ["--emergency"], ["--revoke", "AAAAAAAAAAA"], ["--promote", "AAAAAAAAAAA"],
            ["--emergency", "--revoke", "abc"], ["--emergency", "--revoke", "no key"],
            ["--emergency", "--revoke", "AAAAAAAAAAA", "--now"],
            ["--emergency", "--revoke", "AAAAAAAAAAA", "Keys/other"],
        ])
    func usage(_ options: [String]) throws {
        expectUsageError(try place.run(["rotate", "Keys/app"] + options))
    }

    @Test("--revoke exits 66 for an unknown key and 65 for a retired key")
    func wrongKey() throws {
        let unknown = try place.run("rotate", "Keys/app", "--emergency", "--revoke", "AAAAAAAAAAA", "--yes")
        expectRefusal(unknown, 66, saying: "no key AAAAAAAAAAA")
        _ = try place.rotate("Keys/app", at: "2026-03-25T00:00:00Z")
        let retired = try place.run(
            "rotate", "Keys/app", "--emergency", "--revoke", old, "--yes", "--at", "2026-04-02T00:00:00Z")
        let advice = "pushcrypt keys revoke Keys/app \(old)"
        expectRefusal(
            retired, 65, saying: "is retiring and doesn't seal, so it needs no successor; to revoke it: `\(advice)`")
        _ = try place.shell(advice.replacing("pushcrypt", with: "\"$PUSHCRYPT\"") + " --yes --at 2026-04-02T00:00:00Z")
        let revoked = try place.run(
            "rotate", "Keys/app", "--emergency", "--revoke", old, "--yes", "--at", "2026-04-02T00:00:00Z")
        expectRefusal(revoked, 65, saying: "is already revoked, and another key seals: nothing is left to revoke")
        let again = try place.run("keys", "revoke", "Keys/app", old, "--yes", "--at", "2026-04-02T00:00:00Z")
        expectRefusal(again, 65, saying: "has been revoked since 2026-04-02T00:00:00Z")
    }
}
