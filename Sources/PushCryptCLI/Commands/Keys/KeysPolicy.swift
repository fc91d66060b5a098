import ArgumentParser
import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

struct KeysPolicy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or change a keyset's rotation policy.",
        discussion: """
            Without a policy option it shows the policy. A longer overlap also applies to keys that have already \
            retired, a shorter one only to keys that retire later.
            """)

    @Argument(help: .init("The keyset.", "Keys/NAME")) var path: String
    @OptionGroup(title: "Policy") var policyOptions: PolicyOptions
    @OptionGroup var options: ChangeOptions
    @OptionGroup(title: "Encrypted keysets") var secrets: SecretOptions

    func run() throws {
        let change = try KeysetChange(path, options, secrets)
        if policyOptions.isEmpty { return try show(change.metadata().policy) }
        try change.make { editor in editor.adopt(try policyOptions.policy(over: editor.metadata.policy)) }
    }

    private func show(_ policy: RotationPolicy) throws {
        if options.json { return try StandardStreams.write(policy.json + "\n") }
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
        try StandardStreams.write(
            rows.map { name, value, meaning in name.padded(to: 14) + value.padded(to: 11) + " " + meaning + "\n" }
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
