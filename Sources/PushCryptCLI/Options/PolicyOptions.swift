import ArgumentParser
import PushCryptCore

struct PolicyOptions: ParsableArguments {
    @Option(help: .init("How long a key seals.", "DURATION")) var rotateEvery: DurationArgument?
    @Option(help: .init("How long a key is published before it seals.", "DURATION"))
    var publishLead: DurationArgument?
    @Option(help: .init("How long a retired key opens, in effect at least 30 days.", "DURATION"))
    var overlap: DurationArgument?
    @Option(help: .init("The minimum number of keys that can open.", "N")) var keep: Int?

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

    /// - Parameter policy: that of the keyset, for the options that aren't given.
    func policy(over policy: RotationPolicy) throws -> RotationPolicy {
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
            throw KeyError(error.code, reason)
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
