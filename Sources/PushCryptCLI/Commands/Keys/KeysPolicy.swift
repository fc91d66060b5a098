import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysPolicy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or change a keyset's rotation policy and signed set.",
        discussion: """
            Without a policy option it shows the policy. A longer overlap also applies to keys that have already \
            retired, a shorter one only to keys that retire later.

            The --publish options make the sender keys a set that `keys publish --signed-by` signs. Every change of the \
            keyset issues the set again, and `rotate` does so when half of its validity has passed. Then publish it.
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup(title: "Policy") var policyOptions: PolicyOptions
    @OptionGroup(title: "Signed set of sender keys") var publicationOptions: PublicationOptions
    @OptionGroup var agreement: AgreementOptions
    @OptionGroup var clock: ClockOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    private var showsOnly: Bool { policyOptions.isEmpty && publicationOptions.isEmpty }

    func validate() throws {
        guard !showsOnly || options.execOnChange == nil else {
            throw ValidationError(
                "--exec-on-change needs a change, and without an option of the policy it is only shown.")
        }
    }

    func run() throws {
        let change = try KeysetChange(path, options, clock, secrets)
        if showsOnly { return try show(change.metadata()) }
        let losses = try change.losses(edit)
        if !losses.isEmpty { try agreement.confirm("changing the signed set of \(path):", losses) }
        try change.make(edit)
    }

    private func edit(_ editor: inout KeysetEditor) throws {
        if !policyOptions.isEmpty { try editor.adopt(policyOptions.policy(over: editor.metadata.policy)) }
        try publicationOptions.publish(&editor)
    }

    private func show(_ metadata: KeysetMetadata) throws {
        let (policy, publication) = (metadata.policy, metadata.publication)
        guard metadata.kind != .publisher else {
            let json: JSONObject = ["exemption": RotationPlan.publishers]
            return try StandardStreams.write(json, asJSON: options.json) { _ in RotationPlan.publishers + "\n" }
        }
        if options.json {
            let member = publication.map { ", \"publication\": \($0.json)}" } ?? "}"
            return try StandardStreams.write(policy.json.dropLast() + member + "\n")
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
        try StandardStreams.write(
            (rows + (published ?? [])).map { name, value, meaning in
                name.padded(to: 14) + value.padded(to: 11) + " " + meaning + "\n"
            }
            .joined())
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

    var isEmpty: Bool {
        rotateEvery == nil && publishLead == nil && overlap == nil && keep == nil && requireCoverage == nil
    }

    func policy(over policy: RotationPolicy) throws -> RotationPolicy {
        var coverage = policy.requiredCoverage
        if let requireCoverage { coverage = requireCoverage.coverage }
        return try RotationPolicy(
            rotateEveryInSeconds: rotateEvery?.seconds ?? policy.rotateEveryInSeconds,
            publishLeadInSeconds: publishLead?.seconds ?? policy.publishLeadInSeconds,
            overlapInSeconds: overlap?.seconds ?? policy.overlapInSeconds, keep: keep ?? policy.keep,
            requiredCoverage: coverage)
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
