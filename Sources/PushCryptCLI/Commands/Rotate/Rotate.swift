import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct Rotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Do what is due: add the next key in time, erase those that are over.",
        discussion: """
            Prints the plan with reasons and does exactly the steps that are due; run again, it does nothing. Fit for \
            cron. With several keysets --json prints one object per line.

            Exit status: 0 nothing was due or all is done, 75 something is due and blocked, 10 with --dry-run \
            something is due; anything else: see pushcrypt --help. Of several keysets the gravest counts.
            """)

    @Argument(help: ArgumentHelp("Keysets; with --all keystores.", valueName: "Keys/NAME"))
    var paths: [String] = []

    @Flag(name: .customLong("all"), help: "Every keyset in the keystores named, or in Keys.")
    var isForAll = false

    @Flag(name: .customLong("dry-run"), help: "Say what is due and do nothing; needs no secret.")
    var isDryRun = false

    @Flag(name: .customLong("now"), help: "Begin the next rotation early: its key is published now.")
    var beginsNow = false

    @Flag(name: .customLong("emergency"), help: "Replace a compromised key at once; with --revoke.")
    var isEmergency = false

    @Option(help: ArgumentHelp("The compromised key, which is the one that seals.", valueName: "KID"))
    var revoke: KeyID?

    @Option(help: ArgumentHelp("With --emergency: promote this pending key and make no new one.", valueName: "KID"))
    var promote: KeyID?

    @Option(
        help: ArgumentHelp(
            "Reports of the devices, as in keys coverage, for policies that require coverage.", valueName: "FILE|-"))
    var reports: String?

    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func validate() throws {
        guard isEmergency == (revoke != nil) else { throw ValidationError("--emergency and --revoke KID go together.") }
        guard promote == nil || isEmergency else { throw ValidationError("--promote belongs to --emergency.") }
        guard !isEmergency || (paths.count == 1 && !isForAll && !beginsNow) else {
            throw ValidationError("--emergency is about one keyset.")
        }
        guard isForAll || !paths.isEmpty else { throw ValidationError("Name a keyset, or say --all.") }
    }

    func run() throws {
        if let revoke { return try replace(revoke) }
        let answer = Remembered<KeysetSecret>()
        let gate = try CoverageGate(reports: reports)
        var outcomes = [Outcome]()
        for path in try keysets() {
            do {
                outcomes.append(try rotate(KeysetChange(path, options, secrets, answer), gate))
            } catch {
                let failure = Failure(error)
                StandardStreams.complain(failure.message)
                outcomes.append(.failed(failure.status.rawValue))
            }
        }
        if let status = outcomes.map(\.status).max(by: Outcome.isLess), status != 0 { throw ExitCode(status) }
    }

    private func rotate(_ change: KeysetChange, _ gate: CoverageGate) throws -> Outcome {
        let rotation = try change.rotate(isDryRun: isDryRun) { plan($0, change, gate) }
        let remaining = rotation.done.isEmpty ? rotation.plan : plan(rotation.metadata, change, gate, isAfter: true)
        let report = RotationReport(change.path, remaining, done: rotation.done)
        try report.print(asJSON: options.json, TerminalText(isColourful: StandardStreams.isColourful))
        if !report.blocked.isEmpty { return .blocked }
        return isDryRun && !report.due.isEmpty ? .due : .done
    }

    private func plan(
        _ keyset: KeysetMetadata, _ change: KeysetChange, _ gate: CoverageGate, isAfter: Bool = false
    ) -> RotationPlan {
        RotationPlan(
            keyset.timeline, keyset.policy, at: change.time, beginsNow: beginsNow && !isAfter,
            confirmsClock: clock.isConfirmed
        ) { kid in
            keyset.policy.requiredCoverage.flatMap { required in
                gate.verdict(on: kid, required, keyset.timeline, at: change.time)
            }
        }
    }

    private func replace(_ kid: KeyID) throws {
        let change = try KeysetChange(paths[0], options, secrets)
        let state = try change.metadata().timeline.state(of: kid, at: change.time)
        guard state == nil || state == .primary else {
            throw Failure(.dataError, "\(paths[0]): key \(kid) is \(state!), not primary: `keys revoke` withdraws it")
        }
        if isDryRun {
            let losses = try change.losses { try $0.revoke(kid, successor: promote) }
            try StandardStreams.write("would revoke key \(kid)\n" + losses.map { "  - \($0)\n" }.joined())
            throw ExitCode(Outcome.due.status)
        }
        try Revocation(kid: kid, successor: promote, confirm: agreement.confirm).run(change)
    }

    private func keysets() throws -> [String] {
        guard isForAll else { return paths }
        let keystores = paths.isEmpty ? ["Keys"] : paths
        // With a secret the demo keys are refused like all plain keys: they may lie in the place of encrypted ones.
        let found = try keystores.flatMap { try Keystore($0).keysets(includingDemoKeys: secrets.isGiven) }
        guard !found.isEmpty else {
            throw Failure(.noInput, "no keyset in \(keystores.joined(separator: ", "))")
        }
        return found
    }

    enum Outcome {
        case done, due, blocked
        case failed(Int32)

        var status: Int32 {
            switch self {
            case .done: 0
            case .due: 10
            case .blocked: 75
            case .failed(let status): status
            }
        }

        /// Errors are graver than what is blocked, that than what is due.
        static func isLess(_ left: Int32, _ right: Int32) -> Bool { gravity(left) < gravity(right) }

        private static func gravity(_ status: Int32) -> Int32 {
            switch status {
            case 0: 0
            case 10: 1
            case 75: 2
            default: 3
            }
        }
    }
}
