import PushCryptCore
import PushCryptKeystore

/// `keys rehearse --json`. Durations are ISO 8601; counts are exact, shares are for the others to make.
struct RehearsalReport: Encodable {
    let fleet: FleetPart
    let policy: PolicyPart
    /// How long a key was published before it sealed, coverage awaited where the policy demands it.
    let simulatedLead: String
    let rotations: Int
    let coverage: CoveragePart
    let pushes: PushPart
    /// What other lengths would lose to the policy, in pushes; of the overlap without PROTOCOL's least.
    let compared: [Comparison]
    let smallest: SmallestPart
    let losesNone: Bool
    let verdict: String

    struct FleetPart: Encodable {
        let devices: Int
        let refreshP50: String
        let refreshP99: String
        let offline: Double
        let pushesPerDay: Double
        let seed: UInt64
    }

    struct PolicyPart: Encodable {
        let rotateEvery: String
        let publishLead: String
        let overlap: String
        let keep: Int
        let requireCoverage: String?
        let opensAfterRetiring: String
    }

    struct CoveragePart: Encodable {
        /// Pairs of a device and a key, which all the others are of.
        let pairs: Int
        let atActivation: Int
        let seenAtActivation: Int
        let after: [Row]

        struct Row: Encodable {
            let time: String
            let holding: Int
        }
    }

    struct PushPart: Encodable {
        let sent: Int
        let opened: Int
        let keyNotFetched: Int
        let keyExpired: Int
        let deviceUnseen: Int
        let lostToAPNs: Int
    }

    struct Comparison: Encodable {
        let length: String
        let lostAsPublishLead: Int
        let lostAsOverlap: Int
    }

    struct SmallestPart: Encodable {
        let publishLead: String
        let overlap: String
        let lost: Int
        let lostWithPublishLeadOneSecondShorter: Int?
        let lostWithOverlapOneSecondShorter: Int?
    }
}

extension RehearsalReport {
    init(_ outcome: RehearsalOutcome) {
        let verdict = RehearsalVerdict(outcome: outcome)
        fleet = FleetPart(outcome.fleet)
        policy = PolicyPart(outcome.policy)
        simulatedLead = DurationText.iso8601(outcome.rotation.publishLeadInSeconds)
        rotations = RehearsedRotation.keys.count
        coverage = CoveragePart(outcome)
        pushes = PushPart(outcome.tally.pushes)
        compared = RehearsalOutcome.comparedDays.map { days in
            Comparison(
                length: DurationText.iso8601(Int64(days) * 86_400),
                lostAsPublishLead: outcome.tally.lead.histogram.count(above: days * 24),
                lostAsOverlap: outcome.tally.overlap.histogram.count(above: days * 24))
        }
        smallest = SmallestPart(
            publishLead: DurationText.iso8601(outcome.smallestLeadInSeconds),
            overlap: DurationText.iso8601(outcome.smallestOverlapInSeconds), lost: outcome.proof.lost,
            lostWithPublishLeadOneSecondShorter: outcome.proof.lostWithShorterLead,
            lostWithOverlapOneSecondShorter: outcome.proof.lostWithShorterOverlap)
        losesNone = verdict.losesNone
        self.verdict = verdict.words
    }
}

extension RehearsalReport.FleetPart {
    fileprivate init(_ fleet: Fleet) {
        self.init(
            devices: fleet.devices, refreshP50: DurationText.iso8601(fleet.refreshP50InSeconds),
            refreshP99: DurationText.iso8601(fleet.refreshP99InSeconds), offline: fleet.offline,
            pushesPerDay: fleet.pushesPerDay, seed: fleet.seed)
    }
}

extension RehearsalReport.PolicyPart {
    fileprivate init(_ policy: RotationPolicy) {
        self.init(
            rotateEvery: DurationText.iso8601(policy.rotateEveryInSeconds),
            publishLead: DurationText.iso8601(policy.publishLeadInSeconds),
            overlap: DurationText.iso8601(policy.overlapInSeconds), keep: policy.keep,
            requireCoverage: policy.requiredCoverage?.description,
            opensAfterRetiring: DurationText.iso8601(policy.opensAfterRetiringInSeconds))
    }
}

extension RehearsalReport.CoveragePart {
    fileprivate init(_ outcome: RehearsalOutcome) {
        self.init(
            pairs: outcome.tally.holders, atActivation: outcome.tally.heldAtActivation,
            seenAtActivation: outcome.tally.seenAtActivation,
            after: outcome.coverageRows.map { row in
                Row(time: DurationText.iso8601(row.seconds), holding: row.holding)
            })
    }
}

extension RehearsalReport.PushPart {
    fileprivate init(_ pushes: PushCounts) {
        self.init(
            sent: pushes.sent, opened: pushes.opened, keyNotFetched: pushes.keyNotFetched,
            keyExpired: pushes.keyExpired, deviceUnseen: pushes.deviceUnseen, lostToAPNs: pushes.lostToAPNs)
    }
}
