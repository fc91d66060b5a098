import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

/// The program of `--exec-on-change`.
@Suite("--exec-on-change", .ownThreads)
struct ChangeHookTests {
    private let place: Workplace
    private let kid: String
    private static let due = "2026-03-25T00:00:00Z"

    /// Writes its environment to `ran`, and exits with the status in `status`.
    private static let program = """
        #!/bin/sh
        echo "the hook prints"
        echo "$PUSHCRYPT_KEYSET $PUSHCRYPT_KIND $PUSHCRYPT_PREVIOUS_SEQ->$PUSHCRYPT_SEQ [$PUSHCRYPT_CHANGES] $#:$*" >>ran
        exit "$(cat status)"

        """

    init() throws {
        place = try Workplace()
        kid = try place.createAtNewYear("Keys/app")
        try place.write(Data(Self.program.utf8), to: "hook", mode: 0o700)
        try place.write(Data("0".utf8), to: "status")
    }

    @discardableResult
    private func rotate(_ options: String..., at time: String = due) throws -> Output {
        try place.run(["rotate", "Keys/app", "--exec-on-change", "./hook", "--at", time] + options)
    }

    /// The lines that the program wrote.
    private var runs: [String] {
        get throws {
            guard place.has("ran") else { return [] }
            return String(decoding: try place.read("ran"), as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// Records that the program has run for the first state.
    private func begin() throws {
        #expect(try rotate(at: Workplace.newYear).exit == 0)
        try FileManager.default.removeItem(at: place.folder.file("ran"))
    }

    @Test("the first run with a program runs it once, because the last change may not have been published")
    func first() throws {
        let output = try rotate(at: Workplace.newYear)
        #expect(output.exit == 0 && output.text.contains("nothing is due"), "\(output)")
        #expect(try runs == ["Keys/app shared ->1 [] 0:"])
        #expect(try place.mode(of: "Keys/app/hook.json") == 0o600)
        #expect(try rotate(at: Workplace.newYear).isSuccess)
        #expect(try runs.count == 1)
    }

    @Test("a change runs the program once, with the changes and the arguments as they are, and its output on stderr")
    func change() throws {
        try begin()
        let arguments = ["--exec-argument", "a b", "--exec-argument", "$(touch bad); *", "--exec-argument", "--json"]
        let output = try place.run(
            ["rotate", "Keys/app", "--json", "--exec-on-change", "./hook", "--at", Self.due] + arguments)
        #expect(output.exit == 0 && output.stderr == "the hook prints\n", "\(output)")
        let new = try #require((try output.object()["done"] as? [[String: Any]])?.first?["kid"] as? String)
        #expect(try runs == ["Keys/app shared 1->2 [added:\(new)] 3:a b $(touch bad); * --json"])
        #expect(!place.has("bad"))
        #expect(try rotate().isSuccess)
        #expect(try runs.count == 1)
    }

    @Test("a program that fails exits 69 after the change, and every further run tries again until it succeeds")
    func failure() throws {
        try begin()
        try place.write(Data("3".utf8), to: "status")
        let failed = try rotate()
        #expect(failed.exit == 69 && failed.text.contains("done     add key"), "\(failed)")
        #expect(failed.stderr.contains("pushcrypt: Keys/app: ./hook, which runs after changes, failed: exit status 3;"))
        #expect(failed.stderr.hasSuffix("the next run with --exec-on-change runs the program again\n"), "\(failed)")
        let again = try rotate()
        #expect(again.exit == 69 && again.text.contains("nothing is due"), "\(again)")
        try place.write(Data("0".utf8), to: "status")
        #expect(try rotate().exit == 0)
        #expect(try rotate().exit == 0)
        let runs = try runs
        #expect(runs.count == 3 && Set(runs).count == 1, "\(runs)")
    }

    @Test(
        "a program whose interpreter is missing is refused before the change, and the error names the interpreter",
        arguments: [
            (
                "#!/no/such/sh -e",
                "can't run ./hook: its first line names the interpreter /no/such/sh, and there is no such file"
            ),
            ("#! nowhere", "names the interpreter nowhere, and there is no such file"),
            ("#!/bin/sh\r", "names the interpreter /bin/sh with a carriage return, as files from Windows have it"),
        ])
    func interpreter(_ line: String, _ words: String) throws {
        try place.write(Data("\(line)\nexit 0\n".utf8), to: "hook", mode: 0o700)
        let before = try place.contents(of: "Keys")
        let output = try rotate()
        expectRefusal(output, 66, saying: words)
        #expect(try place.contents(of: "Keys") == before)
        guard let correction = output.stderr.firstMatch(of: /correct it with: (.*)\n/)?.1 else { return }
        #expect(try place.shell(String(correction)).isSuccess)
        #expect(try rotate().exit == 0)
    }

    @Test("a program that a signal ends has failed")
    func signal() throws {
        try place.write(Data("#!/bin/sh\nkill -9 $$\n".utf8), to: "hook", mode: 0o700)
        let output = try rotate(at: Workplace.newYear)
        #expect(output.exit == 69 && output.stderr.contains("exit status 137"), "\(output)")
    }

    @Test(
        "killed after the change and before the program, or before it is noted, the next run runs the program",
        .enabled(if: FaultPoints.exist, FaultPoints.missing),
        arguments: ["keyset-renamed", "published", "logged", "hook-succeeded"])
    func killed(_ point: String) throws {
        try begin()
        let command = "rotate Keys/app --exec-on-change ./hook --at \(Self.due)"
        let killed = try place.shell("PUSHCRYPT_FAULT_POINT=\(point) exec \"$PUSHCRYPT\" \(command)")
        #expect(killed.signal == SIGKILL, "\(killed)")
        #expect(try runs.count == (point == "hook-succeeded" ? 1 : 0))
        let next = try rotate()
        #expect(next.exit == 0 && next.text.contains("nothing is due"), "\(next)")
        let new = try place.keys("Keys/app", at: Self.due)[1].kid
        // The log lacks its last line until the next change writes it, but not for the program.
        #expect(try runs.last == "Keys/app shared 1->2 [added:\(new)] 0:")
        #expect(try rotate().isSuccess)
        #expect(try runs.count == (point == "hook-succeeded" ? 2 : 1))
    }

    @Test("killed before the change, the next run makes the change and runs the program once")
    func killedBefore() throws {
        try begin()
        guard FaultPoints.exist else { return }
        let command = "rotate Keys/app --exec-on-change ./hook --at \(Self.due)"
        _ = try place.shell("PUSHCRYPT_FAULT_POINT=keyset-synced exec \"$PUSHCRYPT\" \(command)")
        #expect(try rotate().exit == 0)
        #expect(try runs.count == 1)
    }

    @Test("a change by a command without the option is noticed at the next run")
    func elsewhere() throws {
        try begin()
        try place.succeed("keys", "revoke", "Keys/app", kid, "--yes", at: Workplace.newYear)
        #expect(try rotate(at: Workplace.newYear).exit == 0)
        let new = try place.keys("Keys/app", at: Workplace.newYear)[1].kid
        #expect(try runs == ["Keys/app shared 1->2 [revoked:\(kid) added:\(new)] 0:"])
    }

    @Test("keys commands that change a keyset run the program")
    func commands() throws {
        try begin()
        let hook = "--exec-on-change ./hook --at \(Workplace.newYear)"
        for (command, change) in [
            ("keys add Keys/app --force", "added:"), ("keys policy Keys/app --keep 3", "policyChanged"),
            ("rotate Keys/app --emergency --revoke \(kid) --yes", "revoked:\(kid)"),
            ("keys prune Keys/app --yes", ""), ("keys passwd Keys/app --new-passphrase-file pass", "protectionChanged"),
        ] {
            let count = try runs.count
            try place.write(Data("secret horse".utf8), to: "pass")
            let output = try place.shell("\"$PUSHCRYPT\" \(command) \(hook)")
            #expect(output.exit == 0, "\(output)")
            #expect(try runs.count == count + (change.isEmpty ? 0 : 1), "\(command)")
            if !change.isEmpty { #expect(try runs.last?.contains("[\(change)") == true, "\(command)") }
        }
        let created = try place.shell(
            "\"$PUSHCRYPT\" keys create Keys/new --kind sender --insecure-plaintext \(hook)")
        #expect(created.exit == 0, "\(created)")
        #expect(try runs.last == "Keys/new sender ->1 [] 0:")
    }

    @Test("a restored copy runs the program, and a dry run of the restoration doesn't")
    func restored() throws {
        try begin()
        let backup = try place.shell("cp Keys/app/keyset.json copy")
        #expect(backup.isSuccess)
        try place.succeed("keys", "policy", "Keys/app", "--keep", "3", at: Workplace.newYear)
        #expect(try rotate(at: Workplace.newYear).exit == 0)
        let count = try runs.count
        _ = try place.shell("cp copy Keys/app/keyset.json")
        let command = ["keys", "restore", "Keys/app", "--back-in-time", "--exec-on-change", "./hook", "--at", Self.due]
        #expect(try place.run(command + ["--dry-run"]).exit == 0)
        #expect(try runs.count == count)
        let restored = try place.run(command)
        #expect(restored.exit == 0, "\(restored)")
        #expect(try runs.count == count + 1)
        #expect(try runs.last?.contains("[restored") == true)
    }

    @Test("the program doesn't get the passphrase, neither in its environment nor as a descriptor")
    func secrets() throws {
        try place.createEncrypted("Keys/secret", .sender)
        let script = "#!/bin/sh\nenv >environment\nls /proc/$$/fd >descriptors 2>/dev/null || ls /dev/fd >descriptors\n"
        try place.write(Data(script.utf8), to: "hook", mode: 0o700)
        for secret in ["PUSHCRYPT_PASSPHRASE='correct horse' %", "% --passphrase-fd 7 7<passphrase"] {
            let command = "\"$PUSHCRYPT\" rotate Keys/secret --exec-on-change ./hook --at \(Workplace.now)"
            let output = try place.shell("rm -f Keys/secret/hook.json; " + secret.replacing("%", with: command))
            #expect(output.isSuccess, "\(output)")
            let environment = String(decoding: try place.read("environment"), as: UTF8.self)
            #expect(environment.contains("PUSHCRYPT_KEYSET=Keys/secret\n"))
            #expect(!environment.contains("horse") && !environment.contains("PUSHCRYPT_PASSPHRASE"))
            #expect(!String(decoding: try place.read("descriptors"), as: UTF8.self).contains("7"))
        }
    }

    @Test("the program can use the keyset: the lock isn't held")
    func lock() throws {
        let script = "#!/bin/sh\nexec \"$PUSHCRYPT\" keys verify \"$PUSHCRYPT_KEYSET\"\n"
        try place.write(Data(script.utf8), to: "hook", mode: 0o700)
        let output = try rotate()
        #expect(output.exit == 0 && output.stderr.contains("matches its digest"), "\(output)")
    }

    @Test("a program that isn't there or isn't executable is refused before the change")
    func missing() throws {
        let before = try place.contents(of: "Keys")
        let command = ["rotate", "Keys/app", "--at", Self.due, "--exec-on-change"]
        expectRefusal(try place.run(command + ["./none"]), 66, saying: "./none is not a program: there is no such file")
        expectRefusal(try place.run(command + ["./Keys"]), 66, saying: "./Keys is not a program: it is a folder")
        expectRefusal(
            try place.run(command + ["/dev/null"]), 66, saying: "/dev/null is not a program: it is a pipe or a device")
        expectRefusal(
            try place.run(command + ["./hook -v 'a", "--exec-argument", "c d"]), 66,
            saying: "an argument of the program has an option of its own: --exec-on-change ./hook --exec-argument -v "
                + "--exec-argument ''\\''a' --exec-argument 'c d'")
        expectRefusal(
            try place.run(command + ["./none -v"]), 66, saying: "./none -v is not a program: there is no such file")
        try place.setMode(0o600, of: "hook")
        if geteuid() != 0 || Unprivileged.isAvailable {
            expectRefusal(try place.run(command + ["./hook"]), 77, saying: "chmod +x ./hook")
            _ = try place.shell("mkdir 'my folder' && cp -p hook 'my folder/'")
            let output = try place.run(command + ["./my folder/hook"])
            expectRefusal(output, 77, saying: "correct it with: chmod +x './my folder/hook'")
        }
        expectUsageError(try place.run(command + ["hook"]))
        expectUsageError(try place.run("rotate", "Keys/app", "--exec-argument", "a"))
        expectUsageError(try place.run("keys", "policy", "Keys/app", "--exec-on-change", "./status"))
        expectUsageError(try place.run("keys", "log", "Keys/app", "--exec-on-change", "./hook"))
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test("rotate of several keysets refuses a program that isn't there once, before it changes any of them")
    func missingForSeveral() throws {
        try place.createAtNewYear("Keys/other")
        let before = try place.contents(of: "Keys")
        let output = try place.run("rotate", "--all", "Keys", "--at", Self.due, "--exec-on-change", "./none")
        #expect(output.exit == 66 && output.text.isEmpty, "\(output)")
        #expect(output.stderr == "pushcrypt: ./none is not a program: there is no such file\n", "\(output)")
        #expect(try place.contents(of: "Keys") == before)
    }

    @Test("a script without an interpreter's line fails")
    func format() throws {
        try place.write(Data("echo hello\n".utf8), to: "hook", mode: 0o700)
        let output = try rotate(at: Workplace.newYear)
        #expect(output.exit == 69 && output.stderr.contains("Exec format error"), "\(output)")
    }

    @Test("--dry-run runs no program, and says on stdout and in JSON that it is still to run")
    func dryRun() throws {
        let dry = try rotate("--dry-run", at: Workplace.newYear)
        #expect(dry.exit == 10 && dry.text.contains("  program  ./hook has not succeeded for seq 1"), "\(dry)")
        let json = try rotate("--dry-run", "--json", at: Workplace.newYear)
        #expect(try json.exit == 10 && json.object()["program"] is String, "\(json)")
        #expect(try runs.isEmpty)
        try begin()
        #expect(try rotate("--dry-run", at: Workplace.newYear).isSuccess)
    }

    @Test("--run-again runs a program that has succeeded, also in a dry run's words, and a failure is tried again")
    func again() throws {
        try begin()
        let dry = try rotate("--run-again", "--dry-run", at: Workplace.newYear)
        #expect(dry.exit == 10, "\(dry)")
        #expect(
            dry.text.contains("  program  ./hook has succeeded for seq 1: it runs again without --dry-run"), "\(dry)")
        #expect(try runs.isEmpty)
        #expect(try rotate("--run-again", "--exit-code", at: Workplace.newYear).exit == 10)
        #expect(try runs == ["Keys/app shared ->1 [] 0:"])
        #expect(try rotate(at: Workplace.newYear).exit == 0)
        #expect(try runs.count == 1)
        try place.write(Data("3".utf8), to: "status")
        #expect(try rotate("--run-again", at: Workplace.newYear).exit == 69)
        // The earlier success no longer counts.
        #expect(try rotate(at: Workplace.newYear).exit == 69)
        try place.write(Data("0".utf8), to: "status")
        #expect(try rotate(at: Workplace.newYear).exit == 0)
        #expect(try runs.count == 4)
        #expect(try rotate(at: Workplace.newYear).exit == 0)
        #expect(try runs.count == 4)
    }

    @Test("--run-again runs the program once for a keyset that the same command changes")
    func againAfterChange() throws {
        try begin()
        #expect(try rotate("--run-again").text.contains("done     add key"))
        #expect(try runs.count == 1)
    }

    @Test("--exit-code exits 10 if the program ran for an earlier change, and 0 if nothing was left to do")
    func exitCode() throws {
        try begin()
        try place.succeed("keys", "policy", "Keys/app", "--keep", "3", at: Workplace.newYear)
        #expect(try rotate("--dry-run", at: Workplace.newYear).exit == 10)
        let ran = try rotate("--exit-code", at: Workplace.newYear)
        #expect(ran.exit == 10 && ran.text.contains("nothing is due"), "\(ran)")
        #expect(try runs.count == 1)
        #expect(try rotate("--exit-code", at: Workplace.newYear).exit == 0)
    }

    @Test("with --all the program runs for each keyset, and a failure for one doesn't stop the others")
    func all() throws {
        try place.createAtNewYear("Keys/b", "sender")
        try place.write(
            Data("#!/bin/sh\n[ \"$PUSHCRYPT_KEYSET\" = Keys/b ] && echo >done\n".utf8), to: "hook", mode: 0o700)
        let output = try place.run("rotate", "--all", "--exec-on-change", "./hook", "--at", Workplace.newYear)
        #expect(output.exit == 69 && place.has("done"), "\(output)")
        let program = #""program": "./hook", "arguments": []"#
        #expect(try place.read("Keys/b/hook.json") == Data("{\"seq\": 1, \"lines\": 1, \(program)}\n".utf8))
        #expect(try place.read("Keys/app/hook.json") == Data("{\"seq\": null, \"lines\": 0, \(program)}\n".utf8))
    }

    @Test("keys doctor reports a program that hasn't succeeded: a note for a day, then a warning")
    func doctor() throws {
        try begin()
        try place.succeed("keys", "policy", "Keys/app", "--keep", "3", at: Workplace.newYear)
        for (time, severity) in [("2026-01-01T12:00:00Z", "note"), ("2026-01-03T00:00:00Z", "warning")] {
            let output = try place.run("keys", "doctor", "Keys/app", "--json", "--at", time)
            let findings = try #require(try JSONSerialization.jsonObject(with: output.stdout) as? [[String: String]])
            let finding = findings.first { $0["code"] == "hook-unfinished" }
            #expect(finding?["severity"] == severity, "\(output)")
            #expect(finding?["message"]?.hasSuffix("succeeded for seq 1, and the keyset has seq 2") == true)
        }
        #expect(try rotate(at: "2026-01-03T00:00:00Z").exit == 0)
        #expect(!(try place.run("keys", "doctor", "Keys/app", "--json").text.contains("hook")))
    }

    @Test("status and keys doctor say that a program has never succeeded, a day after the change; a success ends this")
    func neverSucceeded() throws {
        try place.write(Data("3".utf8), to: "status")
        for time in [Workplace.newYear, "2026-01-02T00:00:00Z"] { #expect(try rotate(at: time).exit == 69) }
        #expect(try runs == ["Keys/app shared ->1 [] 0:", "Keys/app shared ->1 [] 0:"])
        try place.settle("Keys", at: 1_767_225_600)
        let options = ["--at", "2026-01-03T00:00:00Z"]
        let words = "the program that runs after changes has not succeeded, and the keyset has seq 1"
        let doctor = try place.run(["keys", "doctor", "Keys/app"] + options)
        #expect(doctor.text.contains("warning  Keys/app: \(words)"), "\(doctor)")
        let status = try place.run(["status", "Keys", "--ignore", "plain-text"] + options)
        #expect(status.exit == 1 && status.text.hasPrefix("PUSHCRYPT WARNING: Keys/app: \(words)"), "\(status)")
        try place.write(Data("0".utf8), to: "status")
        #expect(try rotate(at: "2026-01-03T00:00:00Z").exit == 0)
        #expect(try runs.last == "Keys/app shared ->1 [] 0:")
        try place.settle("Keys", at: 1_767_225_600)
        #expect(try place.run(["status", "Keys", "--ignore", "plain-text"] + options).isSuccess)
    }

    @Test("a revocation for which the program hasn't succeeded is an error at once, with the command that runs it")
    func revoked() throws {
        let arguments = [
            "--exec-on-change", "./hook", "--exec-argument", "-v", "--exec-argument", "a b", "--at", Workplace.newYear,
        ]
        #expect(try place.run(["rotate", "Keys/app"] + arguments).exit == 0)
        try place.write(Data("3".utf8), to: "status")
        let revoked = try place.run(["keys", "revoke", "Keys/app", "--yes"] + arguments + ["--", kid])
        #expect(revoked.exit == 69, "\(revoked)")
        try place.settle("Keys", at: 1_767_225_600)
        let command = ["status", "Keys", "--ignore", "plain-text", "--at", Workplace.newYear]
        let failed = try place.run(command)
        #expect(failed.exit == 2, "\(failed)")
        let words = "the program that runs after changes succeeded for seq 1"
        #expect(failed.text.hasPrefix("PUSHCRYPT CRITICAL: Keys/app: \(words)"))
        #expect(failed.text.contains("may still use key \(kid) (revoked at \(Workplace.newYear))"), "\(failed)")
        let advice = "pushcrypt rotate Keys/app --exec-on-change ./hook --exec-argument -v --exec-argument 'a b'"
        #expect(failed.text.contains("\n         \(advice)  # its last output names the fault\n"), "\(failed)")
        try place.write(Data("0".utf8), to: "status")
        let again = try place.shell("pushcrypt() { \"$PUSHCRYPT\" \"$@\" --at \(Workplace.newYear); }; \(advice)")
        #expect(try again.exit == 0 && runs.last?.hasSuffix(" 2:-v a b") == true, "\(again)")
        try place.settle("Keys", at: 1_767_225_600)
        #expect(try place.run(command).exit == 0)
    }

    @Test("a damaged file of the program's state runs the program again")
    func damaged() throws {
        try begin()
        try place.write(Data("{".utf8), to: "Keys/app/hook.json")
        #expect(try rotate(at: Workplace.newYear).exit == 0)
        #expect(try runs == ["Keys/app shared ->1 [] 0:"])
        try place.setMode(0o644, of: "Keys/app/hook.json")
        #expect(try rotate(at: Workplace.newYear).exit == 77)
    }
}
