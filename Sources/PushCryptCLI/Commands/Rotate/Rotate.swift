import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct Rotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Carry out the rotation steps that are due: add the next key, erase expired keys.",
        discussion: """
            A signed set of sender keys is issued again when half of its validity has passed: after each change, sign it \
            and publish it with `keys publish --signed-by`. Publisher keys are never rotated. \
            With settings, or for keysets that are files, it also publishes, writes the keys of devices, runs the program \
            `after` of the settings, and prints one line per change; exit status 78: a person must act.

            Prints each step with its reason. A second run changes nothing, so cron can run it. With several \
            keysets, --json prints one object per line; that of a keyset that failed has only "keyset" and "error".

            Every run checks the secret of encrypted keysets, even if nothing is due, so that you learn of a missing or wrong \
            secret before a step needs it. The check takes a third of a second for each keyset with a passphrase, and one call \
            of a wrap command. --no-check-secret skips the check; then the plan isn't authenticated. On a terminal, the command \
            asks for a passphrase only if a step is due.

            Exit status: 0 nothing is left to do; 10 with --dry-run: a step is due, or the program of --exec-on-change \
            is still to run, with --exit-code: a step was carried out, or the program ran; 75 a step is due but blocked, the clock seems wrong, so the due steps are unknown, or \
            another keyset of the keystore has the same keys; 64, 66 or 77 the \
            secret is missing, can't be read, or is wrong; 65 also if a wrap command failed or the audit log is broken; 69 the steps were carried out, but \
            the program of --exec-on-change failed; anything else: see pushcrypt --help. With several keysets, the exit status \
            is the most severe one; a keyset that fails, and a keystore without keysets (66), doesn't stop the others.

            Example: pushcrypt rotate --all --passphrase-file /etc/pushcrypt/passphrase
            """)

    @Argument(help: .init("The keysets, or with --all the keystores.", "Keys/NAME")) var paths: [String] = []
    @Flag(
        name: .customLong("all"),
        help: "Rotate every keyset of the keystores. The default keystore is PUSHCRYPT_KEYS, else Keys.")
    var isForAll = false
    @Flag(name: .customLong("dry-run"), help: "Print what is due and change nothing; needs no secret.")
    var isDryRun = false
    @Flag(
        name: .customLong("exit-code"),
        help: "Exit 10 if a step was carried out or the program ran, and 0 if there was nothing to do.")
    var hasExitCode = false
    @Flag(
        name: .customLong("run-again"),
        help: "Run the program of --exec-on-change also if it has succeeded since the last change.")
    var runsAgain = false
    @OptionGroup var secretCheck: SecretCheckOptions
    @Flag(name: .customLong("now"), help: "Start the next rotation early: publish its key now.") var beginsNow = false
    @Flag(name: .customLong("emergency"), help: "Replace a compromised key at once; needs --revoke.")
    var isEmergency = false
    @Option(
        parsing: .unconditional,
        help: .init(
            "The compromised key, which must be the primary one: its id, or its first 4 or more characters; with --yes the "
                + "whole id.", "KID"))
    var revoke: KeyIDPrefix?
    @Option(
        parsing: .unconditional,
        help: .init("With --emergency: promote this pending key instead of generating a new one.", "KID"))
    var promote: KeyIDPrefix?
    @Option(help: .init("The devices' reports, as for keys coverage, for policies that require coverage.", "FILE|-"))
    var reports: String?
    @Option(help: .init("With --now, the suite of a recipient's new key.", "p256|x25519|xwing"))
    var suite: KeyPairType?
    @OptionGroup var keystores: KeystoreOptions
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard isEmergency == (revoke != nil) else {
            throw ValidationError(
                "--emergency is for a leaked key and needs its id, --revoke KID, and --revoke needs --emergency; `pushcrypt keys list` "
                    + "shows the ids.")
        }
        guard suite == nil || beginsNow else { throw ValidationError("--suite needs --now.") }
        guard promote == nil || isEmergency else { throw ValidationError("--promote needs --emergency.") }
        guard !isEmergency || (paths.count == 1 && !isForAll && !beginsNow) else {
            throw ValidationError("--emergency replaces the key of one keyset; --all and --now don't apply.")
        }
        guard !runsAgain || options.execOnChange != nil else {
            throw ValidationError("--run-again needs --exec-on-change.")
        }
        guard !isEmergency || !runsAgain else {
            throw ValidationError("--emergency makes a change, after which the program runs: omit --run-again.")
        }
        guard !isEmergency || isDryRun || secretCheck.isChecked == nil else {
            throw ValidationError(
                "--emergency needs the secret, so --check-secret and --no-check-secret have no effect.")
        }
        guard !(hasExitCode && isDryRun) else {
            throw ValidationError("--dry-run exits 10 if a step is due; --exit-code doesn't apply.")
        }
    }

    /// The one switch between the keystore format 1 and keysets that are logs.
    private func rotatesLogs() throws -> Bool {
        guard try keystores.settingsFile == nil && Settings.find(nil) == nil else { return true }
        return !paths.isEmpty && !isForAll && paths.allSatisfy { FileStatus(KeysetLocation($0).path)?.kind == .file }
    }

    func run() throws {
        guard try !rotatesLogs() else {
            guard !isEmergency else { throw Failure(.usage, "for a key that leaked: `pushcrypt revoke KEYSET KID`") }
            guard options.execOnChange == nil, reports == nil else {
                throw Failure(.usage, "--exec-on-change is `after` in the settings, and --reports isn't possible yet")
            }
            guard !beginsNow || !paths.isEmpty else { throw ValidationError("--now needs a KEYSET.") }
            let keysets = try HostKeysets(
                keystores, confirmsClock: clock.isConfirmed, at: options.time, secrets)
            return try KeysetRotation(
                keysets: keysets, isDryRun: isDryRun, beginsNow: beginsNow, suite: suite, asJSON: options.json
            ).run(isForAll ? [] : paths)
        }
        guard isForAll || !paths.isEmpty else { throw ValidationError("Name a keyset, or add --all.") }
        if let revoke { return try replace(revoke) }
        if agreement.isAgreed { StandardStreams.writeNote("--yes has no effect: rotate asks only with --emergency") }
        // An error about the program is said once, and not for each keyset.
        _ = try options.hook()
        let answer = Remembered<KeysetSecret>()
        let deviceReports = try reports.map { try DeviceReports(file: $0) }
        var statuses = [Int32]()
        var requiresCoverage = false
        var copies = KeysetCopies()
        for (path, problem) in keysets() {
            do {
                if let problem { throw problem }
                try KeySource.requireKeyset(path, secrets.repeatedArguments, hasAll: true)
                // Also if no step is due: the program would publish the copy beside the keyset, or in place of it.
                try copies.requireNoCopy(of: path)
                let change = try KeysetChange(path, options, clock, secrets, expected.state, answer)
                let (rotation, status) = try rotate(change, deviceReports)
                statuses.append(status)
                requiresCoverage = requiresCoverage || rotation.metadata.policy.requiredCoverage != nil
            } catch {
                let failure = Failure(error)
                let message = Self.naming(path, failure.message) + undone(path, deviceReports, after: error)
                StandardStreams.writeError(message)
                if options.json { try StandardStreams.writeJSON(["keyset": path, "error": message], []) }
                statuses.append(failure.status.rawValue)
            }
        }
        if reports != nil, !requiresCoverage {
            StandardStreams.writeNote("--reports has no effect: no policy requires coverage")
        }
        if let status = statuses.max(by: Outcome.isLessSevere), status != Outcome.done { throw ExitCode(status) }
    }

    /// An error about the file of a secret has only the name of that file.
    private static func naming(_ path: String, _ message: String) -> String {
        message.hasPrefix(path) ? message : "\(path): \(message)"
    }

    private func rotate(
        _ change: KeysetChange, _ reports: DeviceReports?
    ) throws -> (rotation: KeysetStore.Rotation, status: Int32) {
        let check = secretCheck.check(secrets, isDryRun: isDryRun)
        let rotation = try change.rotate(isDryRun: isDryRun, checking: check) { plan($0, change.time, reports) }
        noteIdleStart(change.path, rotation)
        noteOtherWriter(change, rotation)
        noteUnconfirmedRestoration(change)
        if !rotation.isUnlocked, !isDryRun, secretCheck.isChecked == nil {
            StandardStreams.writeNote(
                "\(change.path): the secret was not checked, because nothing is due; --check-secret asks for it")
        }
        let remaining =
            rotation.done.isEmpty ? rotation.plan : plan(rotation.metadata, change.time, reports, isAfter: true)
        let signedSet = PublicationStatus(rotation.metadata, at: remaining.at)
        let program = isDryRun ? try change.pendingHook(after: rotation.metadata, again: runsAgain) : nil
        try RotationReport(
            keyset: change.path, plan: remaining, done: rotation.done, signedSet: signedSet,
            publishing: change.publishing, program: program, clock: change.time
        )
        .print(asJSON: options.json, TerminalText(isColourful: StandardStreams.isColourful))
        if let objection = remaining.clockObjection { StandardStreams.writeError("\(change.path): \(objection)") }
        let usesHook =
            try isDryRun ? program != nil : change.runHook(after: rotation.metadata, again: runsAgain)
        if !remaining.blocked.isEmpty || remaining.clockObjection != nil { return (rotation, Outcome.blocked) }
        let isDue =
            isDryRun && (usesHook || !remaining.due.isEmpty) || hasExitCode && (usesHook || !rotation.done.isEmpty)
        return (rotation, isDue ? Outcome.due : Outcome.done)
    }

    /// Says that --now changed nothing.
    private func noteIdleStart(_ path: String, _ rotation: KeysetStore.Rotation) {
        let (metadata, plan) = (rotation.metadata, rotation.plan)
        let adds = (plan.due + plan.blocked).contains { if case .add = $0.action { true } else { false } }
        let pending = metadata.timeline.keys(in: .pending, at: plan.at).first
        guard beginsNow, !adds, plan.clockObjection == nil, let pending else { return }
        let time = pending.lifecycle.activatesAt.map { " and seals from \($0)" } ?? ""
        StandardStreams.writeNote(
            "\(path): --now has no effect: key \(pending.kid) is already pending\(time); to make it seal earlier: "
                + "`pushcrypt keys promote \(ShellArgument.quoted(path))\(secrets.repeatedArguments) "
                + "\(ShellArgument.last(pending.kid))`")
    }

    /// Says that another host changes the keyset, if nothing is due yet that this host is refused.
    private func noteOtherWriter(_ change: KeysetChange, _ rotation: KeysetStore.Rotation) {
        guard rotation.plan.due.isEmpty, rotation.plan.blocked.isEmpty,
            let refusal = Writer.refusal(rotation.metadata.writer, own: try? Writer.ofThisHost())
        else { return }
        StandardStreams.writeNote("\(change.path): \(refusal): when a step is due, this host is refused")
    }

    /// With a program, this is the error about it.
    private func noteUnconfirmedRestoration(_ change: KeysetChange) {
        guard options.execOnChange == nil else { return }
        do { try KeysetStore(change.path).requirePublishable(secrets.repeatedArguments) } catch {
            StandardStreams.writeNote("\(error)")
        }
    }

    private func plan(
        _ keyset: KeysetMetadata, _ time: UnixTime, _ reports: DeviceReports?, isAfter: Bool = false
    ) -> RotationPlan {
        keyset.plan(at: time, beginsNow: beginsNow && !isAfter, confirmsClock: clock.isConfirmed) { kid in
            reports?.verdict(on: kid, keyset, at: time)
        }
    }

    /// The steps that wait for a secret that is missing or wrong, by a file that isn't authenticated. Empty after any other
    /// failure.
    private func undone(_ path: String, _ reports: DeviceReports?, after error: any Error) -> String {
        let codes: [KeystoreError.Code] = [
            .secretNeeded, .wrongSecret, .wrapCommandFailed, .notFound, .noPermission, .looseMode, .foreignOwner,
            .notAKeyset,
        ]
        let isMissing = (error as? Failure)?.status == .usage
        guard isMissing || codes.contains(where: { $0 == (error as? KeystoreError)?.code }),
            let metadata = try? KeysetFolder(path).file().metadata
        else { return "" }
        let plan = plan(metadata, options.time, reports)
        if let first = plan.due.first {
            return "; due since \(first.dueAt): \(plan.due.map(\.action.text).joined(separator: ", "))"
        }
        return plan.next.map { "; due at \($0.dueAt): \($0.action.text)" } ?? ""
    }

    private func replace(_ revoked: KeyIDPrefix) throws {
        let change = try KeysetChange(paths[0], options, clock, secrets, expected.state)
        let asksNothing = agreement.isAgreed && !isDryRun
        let kid = try revoked.kid(in: change, mustBeWhole: asksNothing)
        let promote = try promote?.kid(in: change, mustBeWhole: asksNothing)
        if secretCheck.isChecked == true { try change.checkSecret() }
        let state = try change.metadata().timeline.state(of: kid, at: change.time)
        if let state, state != .primary { throw Failure(.dataError, notPrimary(kid, state)) }
        if isDryRun {
            try change.previewRevocation(of: kid, successor: promote)
            throw ExitCode(Outcome.due)
        }
        try change.revoke(kid, successor: promote, agreement.confirm)
        if hasExitCode { throw ExitCode(Outcome.due) }
    }

    private func notPrimary(_ kid: KeyID, _ state: KeyState) -> String {
        let path = paths[0]
        if [.revoked, .destroyed].contains(state) {
            return "\(path): key \(kid) is already \(state), and another key seals: nothing is left to revoke"
        }
        return "\(path): key \(kid) is \(state) and doesn't seal, so it needs no successor; to revoke it: "
            + "`\(KeysRevoke.command(path, kid, secrets))`"
    }

    /// With --all also each argument without a keyset, and why there is none.
    private func keysets() -> [(path: String, problem: (any Error)?)] {
        guard isForAll else { return Keystore.distinct(paths).map { ($0, nil) } }
        let keystores = paths.isEmpty ? [Defaults.keystore] : paths
        // With a secret, demo keys are refused like all plain keys: an attacker could have put them in place of encrypted
        // ones.
        let found = Keystore.keysets(in: keystores, includingDemoKeys: secrets.isGiven)
        let names = found.filter { $0.problem == nil }.map(\.path).joined(separator: ", ")
        StandardStreams.writeDetail("rotating \(names) of \(keystores.joined(separator: ", "))")
        return found
    }

    /// The exit statuses of a keyset, from the least to the most severe. Every other one is an error and more severe.
    private enum Outcome {
        static let done: Int32 = 0
        /// Something was to do: it is due, or with --exit-code it was done.
        static let due: Int32 = 10
        static let blocked: Int32 = 75

        static func isLessSevere(_ left: Int32, _ right: Int32) -> Bool { severity(left) < severity(right) }

        private static func severity(_ status: Int32) -> Int { [done, due, blocked].firstIndex(of: status) ?? 3 }
    }
}

/// ```
/// {"keyset", "at", "done": [STEP], "due": [STEP], "blocked": [STEP with "because"], "next": STEP | null,
///  ["signedSet": SET], ["program": TEXT], ["exemption": TEXT], ["clock": TEXT]}
/// STEP = {"step": "add" | "promote" | "destroy" | "renew", "kid": KID | null, "at": TIME, "why", ["activatesAt"]}
/// ```
/// `PublicationStatus` defines SET. "program" says that a dry run left the program of --exec-on-change
/// to run. With an exemption the keyset is never rotated. "clock" says why the clock seems wrong.
struct RotationReport {
    let keyset: String
    let plan: RotationPlan
    let done: [(step: RotationPlan.Step, kid: KeyID?)]
    let signedSet: PublicationStatus?
    /// How to publish the set after a change; nil if a program does.
    let publishing: String?
    let program: String?
    let clock: UnixTime

    func print(asJSON: Bool, _ terminal: TerminalText) throws {
        if asJSON { return try StandardStreams.writeJSON(json, []) }
        let origin = plan.at > clock ? ", the time of its last change" : ""
        var lines = [terminal.styled("\(TerminalText.harmless(keyset.utf8)) at \(plan.at)\(origin)", .heading)]
        lines += done.flatMap { Self.lines($0.step, "done", .good, terminal, kid: $0.kid) }
        lines += plan.due.flatMap { Self.lines($0, "due", .placeholder, terminal) }
        lines += plan.blocked.flatMap { Self.lines($0, "blocked", .bad, terminal) }
        if done.isEmpty, plan.due.isEmpty, plan.blocked.isEmpty, plan.clockObjection == nil {
            lines += terminal.wrapped(
                "  ", "nothing is due" + (plan.exemption.map { ": \($0)" } ?? ""), indent: 2,
                width: StandardStreams.wrappingColumns)
        }
        func row(_ label: String, _ text: String, _ style: TerminalText.Style = .plain) -> [String] {
            Self.row(terminal.label(label, style, width: 9), text, terminal)
        }
        if let signedSet {
            lines += row("set", signedSet.text, signedSet.style)
            if !done.isEmpty, let publishing { lines += row("publish", publishing) }
        }
        if let program { lines += row("program", program, .placeholder) }
        if let next = plan.next { lines += row("next", "\(next.dueAt): \(next.text())") }
        try StandardStreams.write(lines.joined(separator: "\n") + "\n")
    }

    private var json: JSONObject {
        let json: JSONObject = [
            "keyset": keyset, "at": "\(plan.at)", "done": done.map { $0.step.json(kid: $0.kid) },
            "due": plan.due.map { $0.json() }, "blocked": plan.blocked.map { $0.json() }, "next": plan.next?.json(),
        ]
        return json.adding(ifKnown: [
            "signedSet": signedSet?.json, "program": program, "exemption": plan.exemption, "clock": plan.clockObjection,
        ])
    }

    private static func lines(
        _ step: RotationPlan.Step, _ heading: String, _ style: TerminalText.Style, _ terminal: TerminalText,
        kid: KeyID? = nil
    ) -> [String] {
        let reason = step.blockedBy.map { "because \($0)" } ?? "safe: \(step.why)"
        return row(terminal.label(heading, style, width: 9), step.text(kid: kid), terminal)
            + row(String(repeating: " ", count: 9), reason, terminal)
    }

    private static func row(_ label: String, _ text: String, _ terminal: TerminalText) -> [String] {
        terminal.wrapped("  " + label, text, indent: 11, width: StandardStreams.wrappingColumns)
    }
}

extension RotationPlan.Step {
    /// - Parameter kid: the id of the key that the step added.
    func json(kid: KeyID? = nil) -> JSONObject {
        let json: JSONObject = [
            "step": action.name, "kid": (kid ?? action.kid)?.description, "at": "\(dueAt)", "why": why,
        ]
        return json.adding(ifKnown: ["because": blockedBy, "activatesAt": action.activatesAt?.description])
    }

    fileprivate func text(kid: KeyID? = nil) -> String {
        guard case .add(let activatesAt) = action else { return action.text }
        let key = kid.map { "key \($0)" } ?? "a key"
        return "add \(key)" + (activatesAt.map { ", which seals from \($0)" } ?? ", which waits to be promoted")
    }
}
