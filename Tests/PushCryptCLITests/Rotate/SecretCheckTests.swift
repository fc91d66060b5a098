import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@Suite("rotate and keys doctor check the secret", .ownThreads)
struct SecretCheckTests {
    private let encrypted: EncryptedPlace
    private var place: Workplace { encrypted.place }
    private static let at = "--at \(Workplace.now)"
    /// `Workplace.now` plus 83 days.
    private static let next = "; due at 2026-05-23T09:00:00Z: add a key"

    init() throws {
        encrypted = try EncryptedPlace()
        try encrypted.create("Keys/ios", .shared)
    }

    @Test("a cron job without a secret exits 64 on a day on which nothing is due, and says what will be due")
    func missing() throws {
        let output = try encrypted.runWithoutSecret("rotate --all \(Self.at)")
        expectRefusal(output, 64, saying: "Keys/ios is encrypted: use --passphrase-file")
        #expect(output.stderr.hasSuffix(Self.next + "\n"), "\(output)")
    }

    @Test("a wrong passphrase exits 77 on a day on which nothing is due, and says what will be due")
    func wrong() throws {
        let output = try encrypted.runWithoutSecret("rotate Keys/ios --passphrase-file other \(Self.at)")
        expectRefusal(output, 77, saying: "Keys/ios/keyset.json: the passphrase is wrong" + Self.next)
    }

    @Test("a passphrase file that others can read, or that is missing, exits 77 or 66")
    func file() throws {
        try place.setMode(0o644, of: "pass")
        expectRefusal(try encrypted.run("rotate Keys/ios \(Self.at)"), 77, saying: "chmod 600 pass")
        try FileManager.default.removeItem(at: place.folder.file("pass"))
        expectRefusal(try encrypted.run("rotate Keys/ios \(Self.at)"), 66, saying: Self.next)
        let all = try encrypted.run("rotate --all Keys \(Self.at)")
        expectRefusal(all, 66, saying: "Keys/ios: can't read pass: No such file or directory" + Self.next)
    }

    @Test("a wrap command that fails exits 65 on a day on which nothing is due")
    func command() throws {
        try encrypted.create("Keys/hsm", .shared, isCommand: true)
        let output = try encrypted.runWithoutSecret("rotate Keys/hsm --wrap-command 'exit 3;' \(Self.at)")
        expectRefusal(output, 65, saying: "failed to unwrap: exit status 3" + Self.next)
    }

    @Test("if a step is already due, a failure says since when")
    func overdue() throws {
        let output = try encrypted.runWithoutSecret("rotate Keys/ios --passphrase-file other --at 2026-06-01T00:00:00Z")
        expectRefusal(output, 77, saying: "; due since 2026-05-23T09:00:00Z: add a key")
    }

    @Test("one wrong secret of two keysets doesn't stop the other keyset")
    func several() throws {
        try place.createEncrypted("Keys/other", .sender)
        try place.write(Data("other horse".utf8), to: "other")
        let output = try encrypted.run("rotate --all \(Self.at)")
        #expect(output.exit == 0 && output.text.contains("Keys/other at"), "\(output)")
        _ = try encrypted.run("keys passwd Keys/ios --new-passphrase-file other \(Self.at)")
        let mixed = try encrypted.run("rotate --all \(Self.at)")
        #expect(mixed.exit == 77 && mixed.text.contains("Keys/other at"), "\(mixed)")
    }

    @Test("the right secret exits 0 and prints nothing on stderr", arguments: EncryptedPlace.Source.allCases)
    func right(_ source: EncryptedPlace.Source) throws {
        if source.isCommand {
            try FileManager.default.removeItem(at: place.folder.file("Keys/ios"))
            try encrypted.create("Keys/ios", .shared, isCommand: true)
        }
        #expect(try encrypted.run("rotate Keys/ios \(Self.at)", source).isSuccess)
    }

    @Test("--no-check-secret needs no secret while nothing is due, and still refuses a plain keyset beside a secret")
    func skipped() throws {
        #expect(try encrypted.runWithoutSecret("rotate Keys/ios --no-check-secret \(Self.at)").isSuccess)
        let wrong = "--passphrase-file other"
        #expect(try encrypted.runWithoutSecret("rotate Keys/ios --no-check-secret \(wrong) \(Self.at)").isSuccess)
        let due = try encrypted.runWithoutSecret(
            "rotate Keys/ios --no-check-secret \(wrong) --at 2026-06-01T00:00:00Z")
        expectRefusal(due, 77, saying: "the passphrase is wrong")
        try place.create("Keys/plain", "shared")
        let plain = try encrypted.run("rotate Keys/plain --no-check-secret \(Self.at)")
        expectRefusal(plain, 65, saying: "is not encrypted")
    }

    @Test("--dry-run needs no secret, and with --check-secret a wrong or missing one is a failure")
    func dryRun() throws {
        #expect(try encrypted.runWithoutSecret("rotate Keys/ios --dry-run \(Self.at)").isSuccess)
        let checked = "rotate Keys/ios --dry-run --check-secret"
        expectRefusal(try encrypted.runWithoutSecret("\(checked) \(Self.at)"), 64, saying: Self.next)
        expectRefusal(
            try encrypted.runWithoutSecret("\(checked) --passphrase-file other \(Self.at)"), 77, saying: Self.next)
        #expect(try encrypted.run("\(checked) --at 2026-06-01T00:00:00Z").exit == 10)
        let emergency = "rotate Keys/ios --emergency --revoke \(try place.keys("Keys/ios", at: Workplace.now)[0].kid)"
        #expect(try encrypted.runWithoutSecret("\(emergency) --dry-run \(Self.at)").exit == 10)
        expectRefusal(
            try encrypted.runWithoutSecret("\(emergency) --dry-run --check-secret --passphrase-file other \(Self.at)"),
            77,
            saying: "the passphrase is wrong")
        expectUsageError(try encrypted.run("\(emergency) --yes --no-check-secret \(Self.at)"))
    }

    #if os(Linux)
    @Test(
        "on a terminal the command asks for no secret while nothing is due, and says that it didn't check it",
        .enabled(if: TerminalSession.isAvailable))
    func terminal() throws {
        let session = try TerminalSession(
            "\"$PUSHCRYPT\" rotate Keys/ios \(Self.at)", in: place.folder.url, pushcrypt: CLI.binary().path)
        try session.wait(
            for: "Keys/ios: the secret was not checked, because nothing is due; --check-secret asks for it")
        #expect(try session.exitStatus() == 0, "\(session.screen)")
        let asked = try TerminalSession(
            "\"$PUSHCRYPT\" rotate Keys/ios --check-secret \(Self.at)", in: place.folder.url,
            pushcrypt: CLI.binary().path)
        try asked.wait(for: "Passphrase of Keys/ios: ")
        try asked.type("wrong\n")
        #expect(try asked.exitStatus() == 77, "\(asked.screen)")
    }
    #endif

    private func doctor(_ arguments: String) throws -> (output: Output, codes: [String?]) {
        try place.settle("Keys")
        let output = try place.shell("\"$PUSHCRYPT\" keys doctor --json \(Self.at) \(arguments)")
        let findings = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]])
        return (output, findings.map { $0["code"] }.filter { $0 != "weak-scrypt" })
    }

    @Test("keys doctor reports a wrong, missing or unreadable secret as an error, and a plain keyset beside a secret")
    func doctor() throws {
        #expect(try doctor("--passphrase-file pass").codes == [])
        for options in ["--passphrase-file other", "--passphrase-file none", "--check-secret"] {
            let found = try doctor(options)
            #expect(found.codes == ["secret"] && found.output.exit == 65, "\(found)")
        }
        let skipped = try doctor("--passphrase-file other --no-check-secret")
        #expect(skipped.codes == [] && skipped.output.isSuccess, "\(skipped)")
        let without = try doctor("")
        #expect(without.codes == [] && without.output.exit == 0)
        #expect(without.output.stderr.hasPrefix("pushcrypt: 1 secret of encrypted keysets not checked"), "\(without)")
        try place.create("Keys/plain", "shared")
        #expect(try doctor("--passphrase-file pass").codes == ["not-encrypted", "plain-text"])
    }
}
