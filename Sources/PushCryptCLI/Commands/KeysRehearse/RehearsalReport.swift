import PushCryptCore
import PushCryptKeystore

/// The output of `keys rehearse --json`. Durations are ISO 8601; counts are exact.
struct RehearsalReport: Encodable {
    let fleet: FleetPart
    let policy: PolicyPart
    /// How long a key was published before it sealed. If the policy requires coverage: the time until it was reached.
    let simulatedLead: String
    let rotations: Int
    let coverage: CoveragePart
    let pushes: PushPart
    /// The pushes that other lengths would lose to the policy; for the overlap without the protocol's minimum.
    let compared: [Comparison]
    let smallest: SmallestPart
    let losesNone: Bool
    let verdict: String

    struct Comparison: Encodable {
        let length: String
        let lostAsPublishLead: Int
        let lostAsOverlap: Int
    }

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
        smallest = SmallestPart(outcome)
        losesNone = verdict.losesNone
        self.verdict = verdict.text
    }

    struct FleetPart: Encodable {
        let devices: Int
        let refreshP50: String
        let refreshP99: String
        let offline: Double
        let pushesPerDay: Double
        let seed: UInt64

        init(_ fleet: Fleet) {
            devices = fleet.devices
            refreshP50 = DurationText.iso8601(fleet.refreshP50InSeconds)
            refreshP99 = DurationText.iso8601(fleet.refreshP99InSeconds)
            offline = fleet.offline
            pushesPerDay = fleet.pushesPerDay
            seed = fleet.seed
        }
    }

    struct PolicyPart: Encodable {
        let rotateEvery: String
        let publishLead: String
        let overlap: String
        let keep: Int
        let requireCoverage: String?
        let opensAfterRetiring: String

        init(_ policy: RotationPolicy) {
            rotateEvery = DurationText.iso8601(policy.rotateEveryInSeconds)
            publishLead = DurationText.iso8601(policy.publishLeadInSeconds)
            overlap = DurationText.iso8601(policy.overlapInSeconds)
            keep = policy.keep
            requireCoverage = policy.requiredCoverage?.description
            opensAfterRetiring = DurationText.iso8601(policy.opensAfterRetiringInSeconds)
        }
    }

    struct CoveragePart: Encodable {
        /// The number of pairs of a device and a key. The other members count pairs too.
        let pairs: Int
        let atActivation: Int
        let seenAtActivation: Int
        let after: [Row]

        struct Row: Encodable {
            let time: String
            let holding: Int
        }

        init(_ outcome: RehearsalOutcome) {
            pairs = outcome.tally.holders
            atActivation = outcome.tally.heldAtActivation
            seenAtActivation = outcome.tally.seenAtActivation
            after = outcome.coverageRows.map { Row(time: DurationText.iso8601($0.seconds), holding: $0.holding) }
        }
    }

    struct PushPart: Encodable {
        let sent: Int
        let opened: Int
        let keyNotFetched: Int
        let keyExpired: Int
        let deviceUnseen: Int
        let lostToAPNs: Int

        init(_ pushes: PushCounts) {
            sent = pushes.sent
            opened = pushes.opened
            keyNotFetched = pushes.keyNotFetched
            keyExpired = pushes.keyExpired
            deviceUnseen = pushes.deviceUnseen
            lostToAPNs = pushes.lostToAPNs
        }
    }

    struct SmallestPart: Encodable {
        let publishLead: String
        let overlap: String
        let lost: Int
        let lostWithPublishLeadOneSecondShorter: Int?
        let lostWithOverlapOneSecondShorter: Int?

        init(_ outcome: RehearsalOutcome) {
            publishLead = DurationText.iso8601(outcome.smallestLeadInSeconds)
            overlap = DurationText.iso8601(outcome.smallestOverlapInSeconds)
            lost = outcome.proof.lost
            lostWithPublishLeadOneSecondShorter = outcome.proof.lostWithShorterLead
            lostWithOverlapOneSecondShorter = outcome.proof.lostWithShorterOverlap
        }
    }
}
