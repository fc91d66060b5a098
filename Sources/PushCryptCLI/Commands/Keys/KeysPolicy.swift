import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore

struct KeysPolicy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or change a keyset's rotation policy, signed set and epochs.",
        discussion: """
            Without an option it shows them; what an option doesn't name stays. A longer overlap also applies to keys that have \
            already retired, a shorter one only to keys that retire later.

            --topic and --valid-for say for which apps and how long sets of sender keys are signed. Apps pin an epoch, and the \
            publisher keyset of the epoch signs its set. A new publisher needs a new epoch and an app update with new pins; when no \
            app has the old ones, --end-epoch removes that epoch's file. A change publishes, and runs the program `after` of the \
            settings.

            Exit status: as publish.

            Example: pushcrypt keys policy Keys/backend --rotate-every 180d --publish-lead 14d
            """)

    @Argument(help: .init("The keyset.", "KEYSET")) var path: String
    @OptionGroup(title: "Policy") var policyOptions: PolicyOptions
    @Option(help: .init("An app that the set is signed for; may be repeated. Replaces the former apps.", "TOPIC"))
    var topic: [String] = []
    @Option(help: .init("How long a signed set is valid: 14d to 90d.", "DURATION")) var validFor: DurationArgument?
    @Option(help: .init("A new epoch, which the publisher of --publisher signs.", "N")) var epoch: Int64?
    @Option(help: .init("The publisher keyset of --epoch, or its id if it is on another host.", "KEYSET|ID"))
    var publisher: String?
    @Option(help: .init("An epoch that no app needs any more.", "N")) var endEpoch: Int64?
    @Flag(help: "Print JSON, as docs/cli.md describes it.") var json = false
    @OptionGroup var options: HostOptions

    func validate() throws {
        guard (epoch == nil) == (publisher == nil) else { throw ValidationError("Give both --epoch and --publisher.") }
        guard epoch == nil || epoch != endEpoch else { throw ValidationError("An epoch can't begin and end at once.") }
        guard epoch.map(UnixTime.protocolRange.contains) ?? true else {
            throw ValidationError("An epoch is 0 to 2^53 - 1.")
        }
    }

    func run() throws {
        let keysets = try options.keysets()
        let location = keysets.location(path)
        guard !policyOptions.isEmpty || !topic.isEmpty || validFor != nil || epoch != nil || endEpoch != nil else {
            do { return try show(keysets.state(of: location)) } catch { throw Failure(error, of: location.path) }
        }
        let topics = try topic.map { try Topic(option: $0, "--topic") }
        let named = try publisher.map { try id(of: $0, keysets) }
        try keysets.change(location, asJSON: json) { host, state in
            for lost in (state.publication?.topics ?? []).filter({ !topics.isEmpty && !topics.contains($0) }) {
                StandardStreams.writeNote("\(location): the app \(lost) accepts no further set")
            }
            if let endEpoch, state.epochs[endEpoch] != nil {
                StandardStreams.writeNote("\(location): apps that pin epoch \(endEpoch) get no further set")
            }
            let policy = try policyOptions.policy(over: state.policy)
            policyOptions.noteIdleOverlap(policy)
            return try host.change(location.path, .policy) { draft in
                // Another process may have changed it since.
                if !policyOptions.isEmpty {
                    try draft.adopt(policyOptions.policy(over: draft.state.policy))
                }
                try draft.publish(topics: topics.isEmpty ? nil : topics, validForInSeconds: validFor?.seconds)
                if let epoch, let named { try draft.setEpoch(epoch, named) }
                if let endEpoch { try draft.setEpoch(endEpoch, nil) }
            }
        }
    }

    private func id(of publisher: String, _ keysets: HostKeysets) throws -> KeysetID {
        let location = keysets.location(publisher)
        if !FileSystem.exists(location.path), let id = KeysetID(publisher.utf8) { return id }
        let state = try keysets.load(location).state
        guard state.kind == .publisher else {
            throw Failure(.usage, "\(location) has \(state.kind.rawValue) keys: --publisher needs a publisher keyset")
        }
        return state.id
    }

    private func show(_ state: KeysetState) throws {
        let policy = state.policy
        guard !json else { return try StandardStreams.write(Self.json(of: state)) }
        let opens = DurationText.human(policy.opensAfterRetiringInSeconds)
        let ofKeys = [
            ("rotate every", DurationText.human(policy.rotateEveryInSeconds), "how long a key seals"),
            ("publish lead", DurationText.human(policy.publishLeadInSeconds), "published before it seals"),
            ("overlap", DurationText.human(policy.overlapInSeconds), "a retired key opens for \(opens)"),
            ("keep", String(policy.keep), "the minimum number of keys that can open"),
            (
                "coverage", policy.requiredCoverage?.description ?? "-",
                "the share of devices that must hold a key before it seals"
            ),
        ]
        let signed = state.publication.map { publication in
            let topics = publication.topics.map(\.description).joined(separator: ", ")
            let validFor = DurationText.human(publication.validForInSeconds)
            return ("signed set", validFor, "how long it is valid, for \(topics)")
        }
        let epochs = state.epochs.sorted { $0.key < $1.key }.map { epoch, publisher in
            ("epoch", String(epoch), "signed by the publisher \(publisher)")
        }
        let writer = state.writer.map { ("writer", $0, "the host that changes the keyset") }
        let rows = (state.kind == .publisher ? [] : ofKeys) + [signed].compactMap(\.self) + epochs
        let terminal = TerminalText(isColourful: StandardStreams.isColourful)
        let lines = (rows + [writer].compactMap(\.self)).flatMap { name, value, meaning in
            terminal.wrapped(
                name.padded(to: 14) + value.padded(to: 11) + " ", meaning, indent: 26,
                width: StandardStreams.wrappingColumns)
        }
        let note = state.kind == .publisher ? RotationPlan.publishers + "\n" : ""
        try StandardStreams.write(note + lines.map { $0 + "\n" }.joined())
    }

    /// The members of a line of the log, see docs/keyset-log.md.
    private static func json(of state: KeysetState) -> [UInt8] {
        var shown = KeysetChanges()
        shown.policy = state.kind == .publisher ? nil : state.policy
        (shown.publication, shown.epochs) = (state.publication, state.epochs.mapValues { .some($0) })
        shown.writer = state.writer ?? ""
        var members = [UInt8]()
        shown.append(to: &members)
        return JSONWriter.escapingInvisible(Array("{".utf8) + members.dropFirst() + Array("}\n".utf8))
    }
}
