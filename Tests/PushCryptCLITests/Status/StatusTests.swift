import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite("status", .ownThreads)
struct StatusTests {
    private let place: Workplace

    /// A shared keyset that was encrypted at `Workplace.now`; its next key is due 83 days later.
    init() throws {
        place = try Workplace()
        try place.createEncrypted("Keys/fleet", .shared, scrypt: .standard)
    }

    static func day(_ day: Int) -> String { Workplace.later(day * Workplace.days) }

    private func status(_ options: String..., at time: String = Workplace.now) throws -> Output {
        try place.settle("Keys")
        return try place.run(["status", "--at", time] + options)
    }

    private func firstLine(_ output: Output) -> String { output.text.components(separatedBy: "\n")[0] }

    @Test("a healthy keystore with its secret prints OK and the next step, and exits 0")
    func healthy() throws {
        let output = try status("--passphrase-file", "passphrase")
        #expect(output.isSuccess, "\(output)")
        #expect(
            output.text == """
                PUSHCRYPT OK: 1 keyset; next in Keys/fleet: add a key at 2026-05-23T09:00:00Z | keysets=1 due=0 blocked=0 \
                overdue=0s warnings=0 errors=0
                KEYSET      STATUS  SECRET  LOG    NEXT STEP
                Keys/fleet  ok      right   whole  add a key in 83d

                """)
    }

    @Test("status of the folder around a keystore names the keystore, and advises to move none of its keysets")
    func folderAround() throws {
        for path in [".", "./"] {
            let output = try status(path)
            #expect(output.exit == 1 && !output.text.contains("mv "), "\(output)")
            #expect(output.text.contains("warning  ./Keys: this folder is a keystore of its own"), "\(output)")
            #expect(output.text.contains("\n         pushcrypt status ./Keys  # "), "\(output)")
        }
        #expect(try status("./Keys").exit == 0)
    }

    @Test("without a secret it exits 0 too, and stderr says that the secret was not checked")
    func unchecked() throws {
        let output = try status()
        #expect(output.exit == 0 && firstLine(output).hasPrefix("PUSHCRYPT OK: "), "\(output)")
        #expect(output.stderr.hasPrefix("pushcrypt: 1 secret of encrypted keysets not checked, because none was given"))
        #expect(try status("--no-check-secret").isSuccess)
    }

    @Test(
        "a step that is due is OK for a day, then a warning, and critical after 7 days",
        arguments: [
            (83, Int32(0), "OK"), (85, 1, "WARNING"), (89, 1, "WARNING"), (91, 2, "CRITICAL"),
        ])
    func overdue(_ day: Int, _ exit: Int32, _ word: String) throws {
        let output = try status("--passphrase-file", "passphrase", at: Self.day(day))
        #expect(output.exit == exit, "\(output)")
        #expect(firstLine(output).hasPrefix("PUSHCRYPT \(word): "), "\(output)")
        #expect(firstLine(output).contains(" due=1 blocked=0 overdue=\((day - 83) * Workplace.days)s "), "\(output)")
        guard exit > 0 else { return }
        let message = "Keys/fleet: it has been due since 2026-05-23T09:00:00Z to add the next key"
        #expect(firstLine(output).contains(message), "\(output)")
        let advice = "\n         pushcrypt rotate Keys/fleet --passphrase-file passphrase\n"
        #expect(output.text.contains(advice), "\(output)")
    }

    @Test(
        "an expired key is OK for a day, then a warning, and critical after 7 days",
        arguments: [
            (0, Int32(0)), (2, 1), (8, 2),
        ])
    func expired(_ days: Int, _ exit: Int32) throws {
        try place.writeKeyset(
            "Other/app",
            [
                #""createdAt": "2026-01-01T00:00:00Z", "activatesAt": "2026-01-01T00:00:00Z", "#
                    + #""retiresAt": "2026-02-01T00:00:00Z", "expiresAt": "2026-03-03T09:00:00Z""#,
                #""createdAt": "2026-01-25T00:00:00Z", "activatesAt": "2026-02-01T00:00:00Z""#,
            ], updatedAt: "2026-02-01T00:00:00Z")
        try place.settle("Other")
        let output = try place.run(
            "status", "Other", "--ignore", "plain-text", "--at", Self.day(2 + days))
        #expect(output.exit == exit, "\(output)")
    }

    @Test(
        "a wrong or missing secret is critical",
        arguments: [
            (["--passphrase-file", "wrong"], "wrong"), (["--passphrase-file", "none"], "unusable"),
            (["--check-secret"], "unusable"),
        ])
    func secret(_ options: [String], _ state: String) throws {
        try place.write(Data("wrong horse".utf8), to: "wrong")
        try place.settle("Keys")
        let output = try place.run(["status", "--at", Workplace.now] + options)
        #expect(output.exit == 2, "\(output)")
        #expect(firstLine(output).contains("CRITICAL: Keys/fleet: the secret of the private keys can't be used: "))
        #expect(output.text.contains("Keys/fleet  critical  \(state) "), "\(output)")
    }

    @Test("a broken log, a clock before the last change, and a file that others can read are reported")
    func faults() throws {
        #expect(try status(at: Self.day(-3)).exit == 2)
        #expect(firstLine(try status(at: Self.day(-3))).contains("which is before the last change"))
        try place.edit("Keys/fleet/audit.jsonl") { $0.replacing("created", with: "added") }
        let broken = try status()
        #expect(broken.exit == 2 && broken.text.contains(" broken "), "\(broken)")
        try place.setMode(0o644, of: "Keys/fleet/keyset.json")
        #expect(try status().text.contains("chmod 600 Keys/fleet/keyset.json"))
    }

    @Test(
        "a named keyset or keystore that is missing, and a keystore without a keyset, is critical",
        arguments: [
            "none", "empty", "Keys/senders",
        ])
    func missing(_ path: String) throws {
        try place.makeFolder("empty")
        let output = try place.run("status", path, "--at", Workplace.now)
        #expect(output.exit == 2, "\(output)")
        #expect(firstLine(output).hasPrefix("PUSHCRYPT CRITICAL: \(path): "), "\(output)")
        #expect(output.stderr.isEmpty)
        let both = try status("Keys", path, "--passphrase-file", "passphrase", "--prometheus", "push.prom")
        #expect(both.exit == 2 && both.text.contains("  ok "), "\(both)")
        let metrics = String(decoding: try place.read("push.prom"), as: UTF8.self)
        #expect(metrics.contains("pushcrypt_keyset_status{keyset=\"\(path)\"} 2\n"), "\(metrics)")
        #expect(try status("Keys", path, "--no-check-secret", "--ignore", "missing").exit == 0)
    }

    @Test("an earlier copy of a keyset is critical, and its log is newer; a dry run of rotate refuses it")
    func earlierCopy() throws {
        try place.create("Keys/plain", "shared")
        _ = try place.shell("cp Keys/plain/keyset.json copy")
        try place.succeed("keys", "policy", "Keys/plain", "--keep", "3")
        _ = try place.shell("cp copy Keys/plain/keyset.json")
        let output = try status("--no-check-secret")
        #expect(output.exit == 2 && output.text.contains("  newer "), "\(output)")
        expectRefusal(try place.run("rotate", "Keys/plain", "--dry-run", "--at", Workplace.now), 75)
    }

    @Test("a keyset whose file is damaged or lost is critical, and the others are shown")
    func damaged() throws {
        try place.create("Keys/a", "sender")
        try place.write(Data("{".utf8), to: "Keys/a/keyset.json")
        let output = try status("--no-check-secret")
        #expect(output.exit == 2 && output.text.contains("Keys/fleet  ok "), "\(output)")
        let keysets = try #require(status("--no-check-secret", "--json").object()["keysets"] as? [[String: Any]])
        #expect(keysets.first { $0["keyset"] as? String == "Keys/a" }?["secret"] is NSNull)
        try FileManager.default.removeItem(at: place.folder.file("Keys/a/keyset.json"))
        #expect(try status("--no-check-secret").exit == 2)
    }

    @Test("--ignore leaves out one kind of problem, and the demo keys don't count")
    func ignored() throws {
        try place.copyDemoKeys()
        try place.create("Keys/plain", "shared")
        let output = try status("--no-check-secret")
        #expect(output.exit == 1 && firstLine(output).contains("Keys/plain: the private keys are not encrypted"))
        #expect(!output.text.contains("demo"), "\(output)")
        #expect(try status("--no-check-secret", "--ignore", "plain-text").isSuccess)
        #expect(try status("--no-check-secret", "--ignore", "unfinished").exit == 1)
        let misspelt = try status("--no-check-secret", "--ignore", "plain-txt")
        #expect(misspelt.exit == 64 && misspelt.stderr.contains("plain-txt: do you mean plain-text?"), "\(misspelt)")
    }

    @Test("the first line has one bar, also if a keyset's name has one")
    func bar() throws {
        try place.create("Keys/a|b", "shared")
        let output = try status("--no-check-secret")
        #expect(firstLine(output).count { $0 == "|" } == 1, "\(output)")
        #expect(output.text.contains("Keys/a|b    warning "), "\(output)")
    }

    @Test("a clock far after the last change: status counts the same blocked steps as rotate, and none that is due")
    func clock() throws {
        let signed = try SignedSetPlace()
        let time = "2031-01-01T00:00:00Z"
        let plan = try signed.place.rotate("Keys/senders", at: time)
        let status = try signed.place.run("status", "Keys/senders", "--json", "--at", time)
        let keyset = try keyset(status)
        func steps(_ name: String) -> [String?] {
            ((keyset[name] as? [[String: Any]]) ?? []).map { $0["step"] as? String }
        }
        #expect(plan.exit == 75 && plan.blocked == ["add", "renew"] && plan.due.isEmpty)
        #expect(steps("blocked") == plan.blocked && steps("due").isEmpty, "\(status)")
        let text = try signed.place.run("status", "Keys/senders", "--prometheus", "push.prom", "--at", time).text
        #expect(text.contains(" due=0 blocked=2 "), "\(text)")
        let metrics = String(decoding: try signed.place.read("push.prom"), as: UTF8.self)
        #expect(metrics.contains(#"blocked_steps{keyset="Keys/senders"} 2"#), "\(metrics)")
        #expect(metrics.contains(#"due_steps{keyset="Keys/senders"} 0"#), "\(metrics)")
    }

    @Test("a step that waits for reports is a warning, and with the reports it is due")
    func coverage() throws {
        try place.createAtNewYear("Gated/app", "shared", "--require-coverage", "99%")
        _ = try place.rotate("Gated/app", at: "2026-03-25T00:00:00Z")
        let kids = try place.keys("Gated/app", at: "2026-04-02T00:00:00Z").map(\.kid)
        try place.settle("Gated", at: 1_775_088_000)
        let report = #"{"device":"a","kid":"\#(kids[1])","seenAt":"2026-04-01T00:00:00Z"}"#
        try place.write(Data(report.utf8), to: "reports")
        let command = ["status", "Gated", "--ignore", "plain-text", "--json", "--at", "2026-04-02T00:00:00Z"]
        let blocked = try place.run(command)
        #expect(blocked.exit == 1, "\(blocked)")
        #expect(try keyset(blocked)["coverage"] is NSNull)
        let covered = try place.run(command + ["--reports", "reports"])
        #expect(covered.exit == 0, "\(covered)")
        let keyset = try keyset(covered)
        #expect((keyset["due"] as? [[String: Any]])?.map { $0["step"] as? String } == ["promote"])
        let rows = try #require(keyset["coverage"] as? [[String: Any]])
        #expect(rows.map { $0["holding"] as? Int } == [1, 1] && rows.map { $0["isCovered"] as? Bool } == [true, true])
        #expect(try place.run(command + ["--reports", "none"]).exit == 3)
    }

    private func keyset(_ output: Output) throws -> [String: Any] {
        try #require((try output.object()["keysets"] as? [[String: Any]])?.first)
    }

    @Test("a step that is late by more than 7 days is an error, and the first line names it before warnings")
    func lateStepFirst() throws {
        try place.create("Keys/a", "shared")
        let output = try status("--no-check-secret", "--prometheus", "push.prom", at: Self.day(91))
        let words =
            "it has been due since 2026-05-23T09:00:00Z to add the next key; `rotate` should have done it at "
            + "2026-05-23T09:00:00Z, more than 7 days ago"
        let start = "PUSHCRYPT CRITICAL: Keys/a: \(words) (and 2 more) | "
        #expect(output.exit == 2 && firstLine(output).hasPrefix(start), "\(output)")
        #expect(firstLine(output).hasSuffix(" warnings=1 errors=2"), "\(output)")
        let metrics = String(decoding: try place.read("push.prom"), as: UTF8.self)
        #expect(metrics.contains(#"problems{keyset="Keys/fleet",severity="critical"} 1"#), "\(metrics)")
        let early = try status("--no-check-secret", at: Self.day(89))
        #expect(early.exit == 1 && firstLine(early).hasSuffix(" warnings=3 errors=0"), "\(early)")
    }

    @Test("a file of reports that is missing is unknown, and everything else is still shown and written")
    func missingReports() throws {
        let output = try status(
            "--no-check-secret", "--reports", "none", "--prometheus", "push.prom", at: Self.day(91))
        #expect(output.exit == 2 && firstLine(output).hasPrefix("PUSHCRYPT CRITICAL: Keys/fleet: "), "\(output)")
        #expect(output.text.contains("\nunknown  can't read none: "), "\(output)")
        #expect(String(decoding: try place.read("push.prom"), as: UTF8.self).contains("keyset_seq"))
        #expect(try status("--no-check-secret", "--reports", "none").exit == 3)
    }

    @Test("the first line names a step that is due before one that will be due")
    func dueBeforeNext() throws {
        try place.createAtNewYear("Keys/b", "shared")
        let output = try status("--no-check-secret", "--ignore", "plain-text", at: "2026-03-25T12:00:00Z")
        #expect(output.exit == 0, "\(output)")
        let start = "PUSHCRYPT OK: 2 keysets; due in Keys/b: add a key since 2026-03-25T00:00:00Z | "
        #expect(firstLine(output).hasPrefix(start), "\(output)")
    }

    @Test("--json has the state of each keyset, the problems, and the validity of a signed set")
    func json() throws {
        let signed = try SignedSetPlace()
        try signed.place.settle("Keys")
        let output = try signed.place.run("status", "--json", "--at", SignedSetPlace.day(50))
        #expect(output.exit == 2, "\(output)")
        let object = try output.object()
        #expect(object["status"] as? String == "critical")
        #expect((object["summary"] as? String)?.isEmpty == false)
        let problems = try #require(object["problems"] as? [[String: String]])
        #expect(problems.contains { $0["code"] == "set-expiring" && $0["keyset"] == "Keys/senders" })
        let keysets = try #require(object["keysets"] as? [[String: Any]])
        #expect(keysets.map { $0["keyset"] as? String } == ["Keys/publisher", "Keys/senders"])
        #expect((keysets[1]["signedSet"] as? [String: Any])?["state"] as? String == "expiring")
        #expect(keysets[1]["lastChangeAt"] as? String == Workplace.now)
        #expect(keysets[1]["clockProblem"] is NSNull && keysets[1]["secret"] as? String == "none")
    }
}
