import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysPolicy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or change a keyset's rotation policy, signed set and writer.",
        discussion: """
            Without a policy option it shows the policy, the signed set and the writer. A longer overlap also applies to keys that have already \
            retired, a shorter one only to keys that retire later.

            The --publish options make the sender keys a set that `keys publish --signed-by` signs. Every change of the \
            keyset issues the set again, and `rotate` does so when half of its validity has passed. Then publish it.

            Only one host changes a keyset, so that copies can't get different keys. The keyset records its name: \
            PUSHCRYPT_WRITER, or a hash of the machine id. --writer this makes this host the one that changes it. First stop \
            the other host, and copy the folder from it.

            Example: pushcrypt keys policy Keys/backend --rotate-every 180d --publish-lead 14d
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @Option(help: .init("The host that changes the keyset from now on: this one, or its name.", "this|NAME"))
    var writer: String?
    @OptionGroup(title: "Policy") var policyOptions: PolicyOptions
    @OptionGroup(title: "Published set") var publicationOptions: PublicationOptions
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Restored copies") var expected: ExpectationOptions
    @OptionGroup var messages: MessageOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var showsOnly: Bool { policyOptions.isEmpty && publicationOptions.isEmpty && writer == nil }

    func validate() throws {
        guard !showsOnly || options.execOnChange == nil else {
            throw ValidationError(
                "--exec-on-change needs a change, and without an option of the policy it is only shown.")
        }
    }

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets, expected.state)
        if showsOnly { return try show(change.metadata()) }
        if !policyOptions.isEmpty {
            policyOptions.noteIdleOverlap(try policyOptions.policy(over: change.metadata().policy, of: path))
        }
        let losses = try change.losses(edit)
        if !losses.isEmpty { try agreement.confirm("changing the signed set of \(path):", losses) }
        try confirmWriter()
        let before = try change.metadata()
        try change.make(edit)
        if let writer { try noteTakeover(Writer.named(writer), before) }
    }

    /// Nothing in a whole copy shows that the former host has made changes after it.
    private func noteTakeover(_ writer: String, _ before: KeysetMetadata) throws {
        guard let former = before.writer, former != writer else { return }
        let time = before.timeline.updatedAt.map { " of \($0)" } ?? ""
        StandardStreams.writeNote(
            "\(path): it continues from seq \(before.sequence)\(time). If \(former) has changed it since, these changes are lost: "
                + "revoke again what was revoked there. `pushcrypt status --served` compares with the published set")
    }

    /// A name that isn't this host's may be misspelt, and then no host could change the keyset.
    private func confirmWriter() throws {
        guard let writer else { return }
        let (name, own) = (try Writer.named(writer), try Writer.ofThisHost())
        guard name != own else { return }
        try agreement.confirm(
            "changing the writer of \(path):",
            [
                "from now on only a host named \(name) changes this keyset; "
                    + (own.map { "this is \($0)" } ?? "this host has no name")
            ])
    }

    private func edit(_ editor: inout KeysetEditor) throws {
        if !policyOptions.isEmpty { try editor.adopt(policyOptions.policy(over: editor.metadata.policy, of: path)) }
        try publicationOptions.publish(&editor)
        if let writer { try editor.handOver(to: Writer.named(writer)) }
    }

    private func show(_ metadata: KeysetMetadata) throws {
        let (policy, publication) = (metadata.policy, metadata.publication)
        let writer = metadata.writer.map { ("writer", $0, Self.meaningOfWriter) }
        guard metadata.kind != .publisher else {
            let json: JSONObject = ["exemption": RotationPlan.publishers]
            return try StandardStreams.write(json.adding(ifKnown: ["writer": metadata.writer]), asJSON: options.json) {
                RotationPlan.publishers + "\n" + Self.text([writer].compactMap(\.self), $0)
            }
        }
        if options.json {
            var text = Array(policy.json.dropLast().utf8)
            if let publication { text += ", \"publication\": \(publication.json)".utf8 }
            if let writer = metadata.writer {
                text += ", \"writer\": ".utf8
                JSONWriter.appendString(writer, to: &text)
            }
            return try StandardStreams.write(JSONWriter.escapingInvisible(text + Array("}\n".utf8)))
        }
        let opens = DurationText.human(policy.opensAfterRetiringInSeconds)
        let rows = [
            ("rotate every", DurationText.human(policy.rotateEveryInSeconds), "how long a key seals"),
            ("publish lead", DurationText.human(policy.publishLeadInSeconds), "published before it seals"),
            ("overlap", DurationText.human(policy.overlapInSeconds), "a retired key opens for \(opens)"),
            ("keep", String(policy.keep), "the minimum number of keys that can open"),
            (
                "coverage", policy.requiredCoverage?.description ?? "-",
                "the share of devices that must hold a key before it seals"
            ),
        ]
        let published = publication.map { publication in
            let topics = publication.topics.map(\.description).joined(separator: ", ")
            let validFor = DurationText.human(publication.validForInSeconds)
            return [
                ("signed set", validFor, "how long it is valid, for \(topics)"),
                ("epoch", String(publication.epoch), "apps that pin it accept the signed set"),
            ]
        }
        let terminal = TerminalText(isColourful: StandardStreams.isColourful)
        try StandardStreams.write(Self.text(rows + (published ?? []) + [writer].compactMap(\.self), terminal))
    }

    private static let meaningOfWriter = "the host that changes the keyset"

    private static func text(_ rows: [(String, String, String)], _ terminal: TerminalText) -> String {
        rows.flatMap { name, value, meaning in
            terminal.wrapped(
                name.padded(to: 14) + value.padded(to: 11) + " ", meaning, indent: 26,
                width: StandardStreams.wrappingColumns)
        }.map { $0 + "\n" }.joined()
    }
}

struct PolicyOptions: ParsableArguments {
    @Option(help: .init("How long a key seals. (default: 90d)", "DURATION")) var rotateEvery: DurationArgument?
    @Option(help: .init("How long a key is published before it seals. (default: 7d)", "DURATION"))
    var publishLead: DurationArgument?
    @Option(help: .init("How long a retired key opens, in effect at least 30 days. (default: 30d)", "DURATION"))
    var overlap: DurationArgument?
    @Option(help: .init("The minimum number of keys that can open. (default: 2)", "N")) var keep: Int?

    @Option(
        help: .init(
            "The share of devices that must hold a key, by their reports, before it seals; none: no condition.",
            "PERCENT|none"))
    var requireCoverage: CoverageArgument?

    /// The options, each with the name of the policy's member that it sets.
    enum Member: String, CaseIterable {
        case rotateEvery, publishLead, overlap, keep, requireCoverage

        var option: String { "--" + rawValue.replacing(/[A-Z]/) { "-" + $0.0.lowercased() } }
    }

    private func isGiven(_ member: Member) -> Bool {
        switch member {
        case .rotateEvery: rotateEvery != nil
        case .publishLead: publishLead != nil
        case .overlap: overlap != nil
        case .keep: keep != nil
        case .requireCoverage: requireCoverage != nil
        }
    }

    var isEmpty: Bool { !Member.allCases.contains(where: isGiven) }

    /// Says that an overlap has no effect that is shorter than what the longest lifetime of a push or `keep` demands.
    func noteIdleOverlap(_ policy: RotationPolicy) {
        let opens = policy.opensAfterRetiringInSeconds
        guard let overlap, overlap.seconds + Freshness.toleranceInSeconds < opens else { return }
        let isForKeep = Int64(policy.keep - 1) * policy.rotateEveryInSeconds + Freshness.toleranceInSeconds == opens
        let reason =
            isForKeep ? "so that \(policy.keep) keys can open (keep)" : "because a push is valid for up to 30d"
        StandardStreams.writeNote(
            "--overlap \(DurationText.human(overlap.seconds)) has no effect: a retired key opens for "
                + "\(DurationText.human(opens)), \(reason)")
    }

    /// - Parameters:
    ///   - policy: that of the keyset, for the options that aren't given.
    ///   - path: of the keyset, for errors.
    func policy(over policy: RotationPolicy, of path: String) throws -> RotationPolicy {
        var coverage = policy.requiredCoverage
        if let requireCoverage { coverage = requireCoverage.coverage }
        do {
            return try RotationPolicy(
                rotateEveryInSeconds: rotateEvery?.seconds ?? policy.rotateEveryInSeconds,
                publishLeadInSeconds: publishLead?.seconds ?? policy.publishLeadInSeconds,
                overlapInSeconds: overlap?.seconds ?? policy.overlapInSeconds, keep: keep ?? policy.keep,
                requiredCoverage: coverage)
        } catch {
            let reason = Member.allCases.reduce(error.reason) { $0.replacing($1.rawValue, with: $1.option) }
            throw KeyError(error.code, "\(path): \(reason)")
        }
    }
}

/// `99.9%`, or `none`.
struct CoverageArgument: ExpressibleByArgument {
    let coverage: RotationPolicy.Coverage?

    init?(argument: String) {
        coverage = RotationPolicy.Coverage(argument)
        guard coverage != nil || argument == "none" else { return nil }
    }
}
