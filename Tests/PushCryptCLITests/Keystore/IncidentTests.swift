import Foundation
import PushCryptTestSupport
import Testing

/// What no command noticed once: `rotate` and `status` name each at once, and one command ends it.
@Suite("Incidents that were silent", .ownThreads)
struct IncidentTests {
    private let host: KeystorePlace

    init() throws {
        host = try KeystorePlace()
        try host.succeed("rotate")
    }

    /// Expects these exit statuses, and the code of the only finding that is more than a notice.
    private func expect(
        _ code: String, rotate: Int32?, status: Int32, day: Int, on name: String = "a",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        if let rotate {
            let output = try host.run("rotate", day: day, on: name)
            #expect(output.exit == rotate, "\(output)", sourceLocation: sourceLocation)
        }
        let output = try host.run("status", "--json", day: day, on: name)
        #expect(output.exit == status, "\(output)", sourceLocation: sourceLocation)
        #expect(try codes(output) == [code], "\(output)", sourceLocation: sourceLocation)
    }

    private func codes(_ output: Output) throws -> Set<String> {
        let findings = try #require(output.object()["findings"] as? [[String: Any]])
        return Set(
            findings.filter { $0["severity"] as? String != "notice" }.compactMap { $0["code"] as? String })
    }

    @Test func `a snapshot of a shared keyset doesn't bring a revoked key back: 78, critical, and restore ends it`()
        throws
    {
        let kid = try #require(host.kids("a/Keys/fleet.keyset").first)
        try host.copyFile("a/Keys/fleet.keyset", to: "snapshot")
        let time = Workplace.later(Workplace.days)
        let revoked = try host.run(
            "a", ["revoke", "fleet", "--yes", "--at", time, "--", kid], day: 1, settings: "a/pushcrypt.json")
        try #require(revoked.exit == 0, "\(revoked)")
        try host.copyFile("snapshot", to: "a/Keys/fleet.keyset")
        try expect("oldCopy", rotate: 78, status: 2, day: 1)
        try host.succeed("restore", day: 1)
        let keys = try host.log("a/Keys/fleet.keyset").compactMap { ($0["keys"] as? [String: [String: Any]])?[kid] }
        #expect(keys.contains { $0["revokedAt"] != nil }, "\(keys)")
        try host.expectHealthy(day: 1)
    }

    @Test func `one run of cron a year ahead publishes nothing: 78, critical, and the right clock ends it`() throws {
        let before = try (host.place.contents(of: "a/Keys"), host.place.contents(of: "www"))
        try expect("clock", rotate: 78, status: 2, day: 365)
        #expect(try host.place.contents(of: "a/Keys") == before.0 && host.place.contents(of: "www") == before.1)
        try host.expectHealthy(day: 1)
    }

    @Test func `a host that isn't the writer is a warning in its first run: 78, and restore ends it`() throws {
        try host.copy("a", to: "b")
        try expect("otherWriter", rotate: 78, status: 1, day: 1, on: "b")
        try host.succeed("restore", day: 1, on: "b")
        try host.expectHealthy(day: 1, on: "b")
    }

    @Test(
        "a read-only disk is critical in the first run, although nothing is due: 78",
        .enabled(if: FullDisk.isAvailable, FullDisk.missing))
    func readOnlyDisk() throws {
        let output = try FullDisk.run(
            """
            mount --bind a a && mount -o remount,bind,ro a || exit 1
            export PUSHCRYPT_SETTINGS=$PWD/a/pushcrypt.json PUSHCRYPT_WRITER=a
            "$PUSHCRYPT" rotate --at \(Workplace.later(Workplace.days)) >rotate; echo $? >>rotate
            "$PUSHCRYPT" status --json --at \(Workplace.later(Workplace.days))
            """, in: host.place)
        #expect(output.exit == 2, "\(output)")
        #expect(try codes(output) == ["cannotWrite"], "\(output)")
        #expect(try host.place.read("rotate") == Data("78\n".utf8))
        try host.expectHealthy(day: 1)
    }

    @Test func `a dead cron is a warning after 36 hours, and one run ends it`() throws {
        #expect(try codes(host.run("status", "--json", day: 1)) == [])
        try expect("notRun", rotate: nil, status: 1, day: 2)
        try host.expectHealthy(day: 2)
    }

    @Test func `a publication that fails is critical until one succeeds: 69`() throws {
        try host.place.move("www", to: "elsewhere")
        try host.place.write(Data(), to: "www")
        let failed = try host.run("rotate", "--now", "senders", day: 1)
        #expect(failed.exit == 69, "\(failed)")
        try expect("cannotWrite", rotate: 69, status: 2, day: 1)
        try host.place.remove("www")
        try host.place.move("elsewhere", to: "www")
        try expect("runFailed", rotate: nil, status: 2, day: 1)
        try host.expectHealthy(day: 1)
        #expect(try codes(host.run("status", "--json", day: 1)) == [])
    }
}
