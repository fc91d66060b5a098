import Foundation
import PushCryptTestSupport
import Testing

@Suite("revoke", .ownThreads)
struct RevokeTests {
    private let host: KeystorePlace
    private let kid: String

    init() throws {
        host = try KeystorePlace()
        try host.succeed("rotate")
        kid = try #require(host.kids().first)
    }

    private func revoke(_ options: String..., key: String? = nil, day: Int = 1) throws -> Output {
        try host.run(["revoke", "senders"] + options, key: key ?? kid, day: day)
    }

    @Test func `revoke makes a new primary key, publishes the revocation, and says what is left to do`() throws {
        let output = try revoke("--yes")
        #expect(output.exit == 0, "\(output)")
        let new = try #require(host.kids().last)
        #expect(output.text.contains("revoked key \(kid)") && output.text.contains("added key \(new)"), "\(output)")
        #expect(output.stderr.contains("left to do: apps refuse the key when they have fetched"), "\(output)")
        let keys = try host.servedKeys()
        #expect(keys[kid]?["revokedAt"] != nil && keys[new]?["revokedAt"] == nil && keys[new] != nil)
        try host.expectHealthy(day: 1)
    }

    @Test func `revoke says what is lost, and changes nothing without --yes or with --dry-run`() throws {
        let before = try host.place.contents(of: ".")
        let asked = try revoke()
        #expect(asked.exit == 64 && asked.stderr.contains("still on its way shows a placeholder"), "\(asked)")
        #expect(asked.stderr.contains("`pushcrypt rotate --now --at-once senders`"), "\(asked)")
        let dry = try revoke("--dry-run")
        #expect(dry.exit == 10 && dry.text.contains("would revoke key \(kid)"), "\(dry)")
        #expect(try host.place.contents(of: ".") == before)
    }

    @Test func `with --yes the whole id is needed, and an unknown one exits 66`() throws {
        let short = try revoke("--yes", key: String(kid.prefix(5)))
        #expect(short.exit == 64 && short.stderr.contains("is short for \(kid)"), "\(short)")
        expectRefusal(try revoke("--yes", key: "AAAAAAAAAAA"), 66, saying: "has no key AAAAAAAAAAA")
        #expect(try host.log().count == 3)
    }

    @Test func `revoke works under an earlier clock, and again publishes what a lost folder lacks`() throws {
        #expect(try revoke("--yes", day: -30).exit == 0)
        #expect(try host.log().contains { $0["what"] as? String == "revoked" })
        try host.place.remove("www/\(host.id()).1.json")
        let again = try revoke("--yes")
        #expect(again.exit == 0 && again.stderr.contains("is revoked already"), "\(again)")
        #expect(try host.servedKeys()[kid]?["revokedAt"] != nil)
    }
}
