import ArgumentParser
import PushCryptCore

/// The options that make or change a rotation policy.
struct PolicyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("How long a key seals. (default: 90d)", valueName: "DURATION"))
    var rotateEvery: DurationArgument?

    @Option(help: ArgumentHelp("How long a key is published before it seals. (default: 7d)", valueName: "DURATION"))
    var publishLead: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "How long a retired key still opens, at least; never less than 30 days. (default: 30d)",
            valueName: "DURATION"))
    var overlap: DurationArgument?

    @Option(help: ArgumentHelp("How many keys can open at any time, at least. (default: 2)", valueName: "N"))
    var keep: Int?

    @Option(
        help: ArgumentHelp(
            "A key seals only after `keys promote` with reports that show this share of devices; none: by time.",
            valueName: "PERCENT|none"))
    var requireCoverage: CoverageArgument?

    var isEmpty: Bool {
        rotateEvery == nil && publishLead == nil && overlap == nil && keep == nil && requireCoverage == nil
    }

    /// The policy with what was given in place of its own.
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
        if argument == "none" {
            coverage = nil
        } else if let read = RotationPolicy.Coverage(argument) {
            coverage = read
        } else {
            return nil
        }
    }
}
