import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives

struct Rotate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Carry out what is due: new keys, sets for apps, keys of devices. One command for cron.",
        discussion: """
            Safe every hour: what is missing or old is written again, and a second run changes nothing. Prints one line per change; \
            with --now only the id of the new key. At its end it runs the program `after` of the settings, and records the run, \
            which `status` reads. The secret is used if something changes, and once a day.

            Exit status: 0; 10 with --dry-run: something is due; 69 publishing or the program `after` failed, and the next run tries \
            again; 75 waiting helps: a key waits for the devices' reports, or another process has the keystore; 78 a person must \
            act: the clock, the host that changes it, a read-only disk, an old copy, two histories; anything else: see \
            pushcrypt --help. With several keysets it is the most severe one, and a keyset that fails doesn't stop the others.

            Example: pushcrypt rotate
            """)

    @Argument(help: .init("The keysets. (default: those of the settings)", "KEYSET")) var paths: [String] = []
    @Flag(name: .customLong("dry-run"), help: "Print what is due and change nothing.") var isDryRun = false
    @Flag(name: .customLong("now"), help: "Begin the next rotation of a KEYSET now; a publisher gets one more key.")
    var beginsNow = false
    @Flag(
        name: .customLong("at-once"),
        help: "With --now: the next key seals at once. For a key that leaked: `pushcrypt revoke`.")
    var sealsAtOnce = false
    @Option(help: .init("With --now: the suite of a recipient's new key.", "p256|x25519|xwing")) var suite: KeyPairType?
    @Option(help: .init("The devices' reports, for policies that require coverage.", "FILE|-")) var reports: String?
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var options: HostOptions

    func validate() throws {
        guard !beginsNow || !paths.isEmpty else { throw ValidationError("--now needs a KEYSET.") }
        guard beginsNow || !sealsAtOnce && suite == nil else {
            throw ValidationError("--at-once and --suite need --now.")
        }
    }

    func run() throws {
        let keysets = try options.keysets()
        guard keysets.settings != nil || !paths.isEmpty else {
            throw Failure(
                .usage, "there are no settings: name a KEYSET, or make keysets and settings: `pushcrypt init`")
        }
        let reports = try reports.map { try DeviceReports(file: $0) }
        let all = keysets.chosen(paths)
        var statuses = all.problems.map { say(Failure($0.error, of: $0.path)) }
        let outcomes = all.found.map { rotate($0, keysets, reports) }
        for outcome in outcomes { try outcome.print(asJSON: json, asNotes: beginsNow && !isDryRun) }
        statuses += outcomes.map(\.status)
        if !isDryRun {
            let after = keysets.runAfter().map(say) ?? 0
            statuses.append(after)
            for outcome in outcomes where !outcome.isRecorded {
                let status = [outcome.status, after].max(by: KeysetOutcome.isLessSevere) ?? 0
                do { try record(outcome, status, keysets) } catch  where outcome.failures.isEmpty {
                    statuses.append(say(Failure(error, of: outcome.location.path)))
                } catch {}
            }
        }
        try HostKeysets.exit(statuses)
    }

    private func say(_ failure: Failure) -> Int32 {
        StandardStreams.writeError(failure.message)
        return failure.status.rawValue
    }

    private func record(_ outcome: KeysetOutcome, _ status: Int32, _ keysets: HostKeysets) throws {
        let host = try keysets.host(of: outcome.location)
        guard let id = try outcome.id ?? host.storage.keyset(outcome.location.path)?.log.state.id else { return }
        try host.recordRun(of: id, status: Int(status))
    }

    /// Reads the keyset and its history once, and holds the lock to the end.
    private func rotate(
        _ location: KeysetLocation, _ keysets: HostKeysets, _ reports: DeviceReports?
    ) -> KeysetOutcome {
        var outcome = KeysetOutcome(location)
        do {
            let host = try keysets.host(of: location)
            var keyset = try host.lock(location.path)
            defer { withExtendedLifetime(keyset.files) {} }
            guard !keyset.state.isDemo else { return outcome }
            outcome.id = keyset.state.id
            if isDryRun {
                try plan(keyset, host, keysets, reports, &outcome)
                return outcome
            }
            do { try rotate(&keyset, host, keysets, reports, &outcome) } catch { outcome.fail(error) }
            guard keysets.settings?.after == nil else { return outcome }
            try host.recordRun(of: keyset, status: Int(outcome.status))
            outcome.isRecorded = true
        } catch { outcome.fail(error) }
        return outcome
    }

    private func rotate(
        _ keyset: inout LockedKeyset<LockedFiles>, _ host: KeystoreHost<FileStorage>, _ keysets: HostKeysets,
        _ reports: DeviceReports?, _ outcome: inout KeysetOutcome
    ) throws {
        let (location, old) = (outcome.location, keyset.state)
        guard suite == nil || keyset.state.kind == .recipient else {
            throw Failure(
                .usage, "\(outcome.location) has \(keyset.state.kind.rawValue) keys: --suite is for recipients")
        }
        if reports != nil, !paths.isEmpty, keyset.state.policy.requiredCoverage == nil {
            StandardStreams.writeNote(
                "\(outcome.location): its policy requires no coverage, so --reports has no effect")
        }
        keyset = try host.rotate(
            keyset, beginsNow: beginsNow, sealsAtOnce: sealsAtOnce, suite: suite,
            coverage: coverage(keyset.state, reports))
        outcome.changes = keyset.log.deeds(after: old.head.number)
        if beginsNow { outcome.kid = keyset.state.keys.map(\.kid).last { old.key($0) == nil } }
        if beginsNow, outcome.changes.isEmpty {
            StandardStreams.writeNote("\(location): a next key is there already; --now --at-once makes it seal")
        } else if beginsNow, keyset.state.kind == .publisher {
            StandardStreams.writeNote(
                "\(location): apps need an update with new pins: `pushcrypt keys export KEYSET --pins`")
        } else if sealsAtOnce, let kid = keyset.state.timeline.primary(at: options.times.time)?.kid {
            StandardStreams.writeNote("\(location): who hasn't fetched key \(kid) shows a placeholder until then")
        }
        keysets.publish(&keyset, host, &outcome)
        keysets.publishDevices(keyset, host, &outcome)
        for step in host.plan(keyset.state, coverage: coverage(keyset.state, reports)).blocked {
            outcome.failures.append(
                Failure(.temporary, "\(location): \(step.action.text) waits: \(step.blockedBy ?? step.why)"))
        }
    }

    private func coverage(
        _ state: KeysetState, _ reports: DeviceReports?
    ) -> (KeyID) -> RotationPlan.CoverageVerdict? {
        { reports?.verdict(on: $0, state, at: max(options.times.time, state.at)) }
    }

    private func plan(
        _ keyset: LockedKeyset<LockedFiles>, _ host: KeystoreHost<FileStorage>, _ keysets: HostKeysets,
        _ reports: DeviceReports?, _ outcome: inout KeysetOutcome
    ) throws {
        _ = try host.time(for: keyset)
        let plan = host.plan(keyset.state, beginsNow: beginsNow, coverage: coverage(keyset.state, reports))
        outcome.due = plan.due.map { "would \($0.action.text)" }
        if sealsAtOnce { outcome.due.append("would make the next key seal at once") }
        let changesSet = !outcome.due.isEmpty && [.sender, .recipient].contains(keyset.state.kind)
        let publishers = try keysets.signers(of: keyset.state, at: outcome.location).map(\.log)
        if keysets.servedFolder != nil, try changesSet || !host.isPublished(keyset, by: publishers) {
            outcome.due.append("would publish")
        }
    }
}
