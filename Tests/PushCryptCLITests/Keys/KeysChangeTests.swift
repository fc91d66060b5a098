import Foundation
import Testing

@Suite("keys add, promote, retire, revoke, destroy, prune, policy", .ownThreads)
struct KeysChangeTests {
    private let place: Workplace
    private let first: String
    private static let time = "2026-02-01T00:00:00Z"

    init() throws {
        place = try Workplace()
        first = try place.createAtNewYear("Keys/app")
    }

    private func change(_ arguments: String..., at time: String = Self.time) throws -> Output {
        try place.run(["keys"] + arguments + ["--at", time])
    }

    /// The newest key's kid.
    private func newest() throws -> String {
        try #require(try place.keys("Keys/app", at: Self.time).last?.kid)
    }

    @Test("keys add prints the new key and the time from which it seals")
    func add() throws {
        let output = try change("add", "Keys/app")
        #expect(output.isSuccess, "\(output)")
        #expect(output.text == "added \(try newest()): seals from 2026-02-08T00:00:00Z\n")
        let json = try place.run("keys", "add", "Keys/app", "--force", "--json", "--at", Self.time)
        let done = try #require((try json.object()["done"] as? [[String: String]])?.first)
        #expect(done == ["what": "added", "kid": try newest(), "detail": "seals from 2026-02-08T00:00:00Z"])
    }

    @Test(
        "keys add generates a key of the keyset's kind, suite and psk",
        arguments: [["recipient", "--psk"], ["recipient", "--suite", "x25519"], ["sender"]])
    func sort(_ kind: [String]) throws {
        let created = try place.run(
            ["keys", "create", "Keys/like", "--insecure-plaintext", "--at", Workplace.newYear, "--kind"] + kind)
        #expect(created.isSuccess, "\(created)")
        #expect(try change("add", "Keys/like").isSuccess)
        let keys = try place.keys("Keys/like", at: Self.time)
        #expect(keys.count == 2)
        #expect(keys[0]["suite"] == keys[1]["suite"])
        #expect(try place.secrets(in: "Keys/like/keyset.json").count == (kind.contains("--psk") ? 4 : 2))
    }

    @Test("keys add refuses a second pending key and an early activation without --force")
    func addRefused() throws {
        expectRefusal(
            try change("add", "Keys/app", "--activates-at", "2026-02-02T00:00:00Z"), 75, saying: "--force")
        expectRefusal(
            try change("add", "Keys/app", "--activates-at", "2026-01-31T00:00:00Z"), 64, saying: "is in the past")
        #expect(try change("add", "Keys/app").isSuccess)
        expectRefusal(try change("add", "Keys/app"), 75, saying: "is already pending")
        #expect(try place.keys("Keys/app", at: Self.time).count == 2)
    }

    @Test("keys promote refuses before publishLead, and with --force it prints the losses")
    func promote() throws {
        #expect(try change("add", "Keys/app").isSuccess)
        let kid = try newest()
        expectRefusal(try change("promote", "Keys/app", kid), 75, saying: "wait until 2026-02-08T00:00:00Z")
        #expect(try place.states("Keys/app", at: Self.time) == ["primary", "pending"])
        let forced = try change("promote", "Keys/app", kid, "--force")
        #expect(forced.exit == 0, "\(forced)")
        #expect(forced.stderr.contains("devices that haven't fetched key \(kid)"))
        #expect(try place.states("Keys/app", at: Self.time) == ["retiring", "primary"])
        expectRefusal(
            try change("promote", "Keys/app", first), 65, saying: "is retiring; you can promote a key that is: pending")
    }

    @Test("keys promote before publishLead is refused for a policy that requires coverage")
    func promoteInTime() throws {
        try place.createAtNewYear("Keys/gated", "shared", "--require-coverage", "99.9%")
        #expect(try change("add", "Keys/gated").text.hasSuffix(": waits to be promoted\n"))
        let kid = try #require(try place.keys("Keys/gated", at: Self.time).last?.kid)
        #expect(try place.states("Keys/gated", at: "2026-06-01T00:00:00Z") == ["primary", "pending"])
        let early = try change("promote", "Keys/gated", kid)
        expectRefusal(early, 75)
    }

    @Test("keys retire retires a pending key, and the primary key stays primary")
    func retire() throws {
        #expect(try change("add", "Keys/app").isSuccess)
        let kid = try newest()
        expectRefusal(try change("retire", "Keys/app", kid), 64, saying: "will never seal")
        #expect(try change("retire", "Keys/app", kid, "--yes").exit == 0)
        let keys = try place.keys("Keys/app", at: "2026-02-20T00:00:00Z")
        #expect(keys.map(\.state) == ["primary", "retiring"])
        #expect(keys[0]["retiresAt"] == nil && keys[0]["expiresAt"] == nil)
        expectRefusal(try change("retire", "Keys/app", first, "--yes"), 65, saying: "add a key and promote it")
    }

    @Test("keys revoke replaces the primary key, and it replaces no other key")
    func revoke() throws {
        #expect(try change("add", "Keys/app").isSuccess)
        let pending = try newest()
        expectRefusal(
            try change("revoke", "Keys/app", pending), 64,
            saying: "Keys/app: no push is lost. Nothing was changed; to confirm")
        #expect(try change("revoke", "Keys/app", pending, "--yes").exit == 0)
        #expect(try place.states("Keys/app", at: "2026-02-20T00:00:00Z") == ["primary", "revoked"])
        #expect(try change("revoke", "Keys/app", first, "--yes").exit == 0)
        #expect(try place.states("Keys/app", at: Self.time) == ["revoked", "revoked", "primary"])
        expectRefusal(try change("revoke", "Keys/app", first, "--yes"), 65, saying: "has been revoked since")
    }

    @Test("keys destroy refuses a key that a push may need, and always the primary key")
    func destroy() throws {
        _ = try place.rotate("Keys/app", at: "2026-03-25T00:00:00Z")
        expectRefusal(
            try change("destroy", "Keys/app", first, "--yes", at: "2026-04-02T00:00:00Z"), 75,
            saying: "wait until 2026-06-30T00:10:00Z")
        let primary = try newest()
        expectRefusal(
            try change("destroy", "Keys/app", primary, "--force", "--yes", at: "2026-04-02T00:00:00Z"), 65,
            saying: "is the primary one and can't be destroyed: `pushcrypt rotate` replaces it (--now begins at once)")
        let push = try place.sealed(to: "Keys/app", at: "2026-03-31T00:00:00Z")
        let forced = try change("destroy", "Keys/app", first, "--force", at: "2026-04-02T00:00:00Z")
        #expect(forced.exit == 0, "\(forced)")
        #expect(forced.stderr.contains("shows a placeholder permanently"))
        #expect(try place.states("Keys/app", at: "2026-04-02T00:00:00Z") == ["primary", "destroyed"])
        #expect(try place.opening(push, with: "Keys/app", at: "2026-04-02T00:00:00Z") == "unknownKey")
        #expect(try place.secrets(in: "Keys/app/keyset.json").count == 1)
    }

    @Test("keys prune destroys the expired keys and no other key")
    func prune() throws {
        for day in ["2026-03-25", "2026-06-25", "2026-09-25"] {
            #expect(try place.run("keys", "add", "Keys/app", "--at", day + "T00:00:00Z").isSuccess)
        }
        let time = "2026-12-01T00:00:00Z"
        #expect(try place.states("Keys/app", at: time) == ["expired", "expired", "retiring", "primary"])
        expectRefusal(try change("prune", "Keys/app", at: time), 64, saying: "opens nothing any more")
        #expect(try change("prune", "Keys/app", "--yes", at: time).exit == 0)
        #expect(try place.states("Keys/app", at: time) == ["retiring", "primary", "destroyed", "destroyed"])
        let again = try change("prune", "Keys/app", at: time)
        #expect(again.isSuccess && again.text == "nothing to change\n", "\(again)")
    }

    @Test("keys policy shows and changes the policy, and a bad policy changes nothing")
    func policy() throws {
        let shown = try place.run("keys", "policy", "Keys/app", "--json")
        #expect(
            shown.text == """
                {"rotateEvery": "P90D", "publishLead": "P7D", "overlap": "P30D", "keep": 2, "writer": "tests"}

                """)
        let changed = try change("policy", "Keys/app", "--rotate-every", "30d", "--keep", "3")
        #expect(changed.isSuccess, "\(changed)")
        #expect(changed.text.contains("rotateEvery 30d, ") && changed.text.contains(", keep 3"))
        #expect(try place.rotate("Keys/app", at: Self.time).done == ["add"])
        let same = try change("policy", "Keys/app", "--keep", "3")
        #expect(same.text == "nothing to change\n")
        for options in [["--publish-lead", "30d"], ["--keep", "0"], ["--rotate-every", "0s"]] {
            let before = try place.read("Keys/app/keyset.json")
            expectRefusal(try place.run(["keys", "policy", "Keys/app"] + options), 64)
            #expect(try place.read("Keys/app/keyset.json") == before)
        }
    }

    @Test(
        "keys create with a bad policy exits 64 and creates nothing",
        arguments: [["--publish-lead", "90d"], ["--keep", "101"], ["--overlap", "9y"]])
    func badPolicy(_ options: [String]) throws {
        let output = try place.run(
            ["keys", "create", "Keys/new", "--kind", "shared", "--insecure-plaintext"] + options)
        #expect(output.exit == 64)
        #expect(try place.names(in: "Keys") == ["app"])
    }

    @Test(
        "commands for a missing keyset or key exit 66",
        arguments: ["add", "promote", "retire", "revoke", "destroy", "prune", "policy"])
    func missing(_ command: String) throws {
        let kid = ["promote", "retire", "revoke", "destroy"].contains(command) ? ["AAAAAAAAAAA"] : []
        expectRefusal(try place.run(["keys", command, "Keys/none"] + kid), 66)
        if !kid.isEmpty {
            expectRefusal(
                try place.run(["keys", command, "Keys/app"] + kid + ["--at", Self.time]), 66, saying: "no key")
        }
    }
}
