import Foundation
import PushCryptTestSupport
import Testing

@Suite("status", .ownThreads)
struct StatusTests {
    private let host: KeystorePlace

    init() throws {
        host = try KeystorePlace()
        try host.succeed("rotate")
    }

    @Test func `a host with daily runs is ok: exit 0, one line first, and keys in clear are notices`() throws {
        let output = try host.run("status")
        #expect(output.exit == 0, "\(output)")
        #expect(output.text.hasPrefix("PUSHCRYPT OK: 3 keysets, rotate ran now | keysets=3 critical=0"), "\(output)")
        #expect(output.text.contains("notice notEncrypted \(host.file("a/Keys/senders.keyset"))"), "\(output)")
    }

    @Test func `a dead cron is a warning and exits 1, and an old copy is critical and exits 2 with its remedy`() throws
    {
        let late = try host.run("status", day: 2)
        #expect(late.exit == 1 && late.text.hasPrefix("PUSHCRYPT WARNING: "), "\(late)")
        #expect(late.text.contains("warning notRun "), "\(late)")
        try host.copyFile("a/Keys/senders.keyset", to: "old.keyset")
        try host.succeed("rotate", "--now", "senders")
        try host.copyFile("old.keyset", to: "a/Keys/senders.keyset")
        let before = try host.place.contents(of: ".")
        let old = try host.run("status")
        let senders = host.file("a/Keys/senders.keyset")
        #expect(old.exit == 2 && old.text.hasPrefix("PUSHCRYPT CRITICAL: \(senders): "), "\(old)")
        #expect(old.text.contains("critical oldCopy \(senders): "), "\(old)")
        #expect(old.text.contains("    `pushcrypt restore \(senders)`\n"), "\(old)")
        #expect(try host.place.contents(of: ".") == before)
    }

    @Test func `without settings the status is unknown and exits 3`() throws {
        let output = try host.run("a", ["status"], day: 0, settings: nil)
        #expect(output.exit == 3 && output.text.hasPrefix("PUSHCRYPT UNKNOWN: there are no settings"), "\(output)")
    }

    @Test func `--json has the findings with their codes, and the keysets`() throws {
        let output = try host.run("status", "--json", day: 2)
        let object = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [String: Any])
        #expect(object["status"] as? String == "warning" && (object["keysets"] as? [Any])?.count == 3)
        let codes = (object["findings"] as? [[String: Any]])?.compactMap { $0["code"] as? String } ?? []
        #expect(codes.contains("notRun"), "\(codes)")
    }

    @Test func `--prometheus writes the number of findings of each code and the last run, which all can read`() throws {
        let output = try host.run("status", "--prometheus", host.file("pushcrypt.prom"), day: 2)
        #expect(output.exit == 1, "\(output)")
        let text = String(decoding: try host.place.read("pushcrypt.prom"), as: UTF8.self)
        #expect(try host.place.mode(of: "pushcrypt.prom") == 0o644)
        #expect(text.contains("pushcrypt_findings{code=\"notRun\",severity=\"warning\"} 1\n"), "\(text)")
        #expect(text.contains("pushcrypt_findings{code=\"oldCopy\",severity=\"critical\"} 0\n"), "\(text)")
        #expect(text.contains("\npushcrypt_last_run_timestamp_seconds "), "\(text)")
        let unwritable = try host.run("status", "--prometheus", host.file("none/pushcrypt.prom"))
        #expect(unwritable.exit == 3, "\(unwritable)")
    }

    @Test func `--codes prints each code once with a severity and a sentence`() throws {
        let rows = try host.succeed("status", "--codes").text.split(separator: "\n").map { $0.split(separator: "\t") }
        #expect(rows.count == 28 && rows.allSatisfy { $0.count == 3 && $0[2].hasSuffix(".") }, "\(rows)")
        #expect(Set(rows.map { $0[0] }).count == rows.count)
    }

    @Test("status wraps what a finding says, and no command that it advises")
    func status() throws {
        let place = try Workplace()
        try place.create("Keys/app", "shared")
        try place.write(Data(#"{"keystores":["Keys"],"history":"history"}"#.utf8), to: "settings.json")
        let output = try place.shell(
            "COLUMNS=40 \"$PUSHCRYPT\" status --settings settings.json --at \(Workplace.now)")
        let command = "`pushcrypt keys secret set \(place.folder.file("Keys/app.keyset").path)`"
        #expect(output.text.contains("\n    \(command)\n"), "\(output)")
        let text = output.text.split(separator: "\n").dropFirst().filter { !$0.contains(place.folder.path) }
        #expect(text.count > 3 && text.allSatisfy { $0.count <= 40 }, "\(output)")
    }

    /// Expects these exit statuses, and the code of the only finding that is more than a notice.
    private func expect(
        _ code: String, rotate: Int32?, status: Int32, day: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        if let rotate {
            let output = try host.run("rotate", day: day)
            #expect(output.exit == rotate, "\(output)", sourceLocation: sourceLocation)
        }
        let output = try host.run("status", "--json", day: day)
        #expect(output.exit == status, "\(output)", sourceLocation: sourceLocation)
        #expect(try codes(output) == [code], "\(output)", sourceLocation: sourceLocation)
    }

    private func codes(_ output: Output) throws -> Set<String> {
        let findings = try #require(output.object()["findings"] as? [[String: Any]])
        return Set(
            findings.filter { $0["severity"] as? String != "notice" }.compactMap { $0["code"] as? String })
    }

    @Test func `one run of cron a year ahead publishes nothing: 78, critical, and the right clock ends it`() throws {
        let before = try (host.place.contents(of: "a/Keys"), host.place.contents(of: "www"))
        try expect("clock", rotate: 78, status: 2, day: 365)
        #expect(try host.place.contents(of: "a/Keys") == before.0 && host.place.contents(of: "www") == before.1)
        try host.expectHealthy(day: 1)
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
