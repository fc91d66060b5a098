package import PushCryptCore

/// A policy rehearsed, the smallest lead and overlap that lose nothing, and the proof.
package struct RehearsalOutcome: Sendable {
    package let fleet: Fleet
    package let policy: RotationPolicy
    /// What was simulated: of a policy that demands coverage, with the time that a key waits for it.
    package let rotation: RehearsedRotation
    package let tally: RehearsalTally
    /// The fleet again, with the smallest lead and overlap and with one second less.
    package let proof: Proof

    package struct Proof: Hashable, Sendable {
        /// Lost to the policy with the smallest values: none.
        package let lost: Int
        /// Lost with a publishLead one second shorter; nil where the smallest is 0.
        package let lostWithShorterLead: Int?
        /// Lost with an overlap one second shorter; nil where the smallest is 0.
        package let lostWithShorterOverlap: Int?
    }

    package var smallestLeadInSeconds: Int64 { tally.lead.longestInSeconds }
    package var smallestOverlapInSeconds: Int64 { tally.overlap.longestInSeconds }

    package init(_ fleet: Fleet, _ policy: RotationPolicy, workers: Int) async {
        var rotation = RehearsedRotation(policy)
        var tally = await Rehearsal(fleet, rotation).run(workers: workers)
        if let coverage = policy.requiredCoverage {
            let wait = Int64(tally.hoursUntilCovered(coverage)) * 3_600
            if wait > rotation.publishLeadInSeconds {
                rotation.publishLeadInSeconds = wait
                tally = await Rehearsal(fleet, rotation).run(workers: workers)
            }
        }
        (self.fleet, self.policy, self.rotation, self.tally) = (fleet, policy, rotation, tally)
        proof = await Self.proof(of: tally, fleet, rotation, workers: workers)
    }

    private static func proof(
        of tally: RehearsalTally, _ fleet: Fleet, _ rotation: RehearsedRotation, workers: Int
    ) async -> Proof {
        var smallest = rotation
        smallest.publishLeadInSeconds = tally.lead.longestInSeconds
        smallest.opensAfterRetiringInSeconds = tally.overlap.longestInSeconds
        func lost(_ change: (inout RehearsedRotation) -> Void) async -> Int {
            var rotation = smallest
            change(&rotation)
            return await Rehearsal(fleet, rotation).run(workers: workers).pushes.lostToPolicy
        }
        var (lead, overlap): (Int?, Int?)
        if smallest.publishLeadInSeconds > 0 { lead = await lost { $0.publishLeadInSeconds -= 1 } }
        if smallest.opensAfterRetiringInSeconds > 0 {
            overlap = await lost { $0.opensAfterRetiringInSeconds -= 1 }
        }
        return Proof(lost: await lost { _ in }, lostWithShorterLead: lead, lostWithShorterOverlap: overlap)
    }
}
