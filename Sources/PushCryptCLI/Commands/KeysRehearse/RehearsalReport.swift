import PushCryptCore
import PushCryptKeystore

extension RehearsalOutcome {
    /// The output of `keys rehearse --json`. Durations are ISO 8601; counts are exact.
    var json: JSONObject {
        let verdict = RehearsalVerdict(outcome: self)
        return [
            "fleet": fleetJSON, "policy": policyJSON,
            // How long a key was published before it sealed. If the policy requires coverage: until it was reached.
            "simulatedLead": DurationText.iso8601(rotation.publishLeadInSeconds),
            "rotations": RehearsedRotation.keys.count, "coverage": coverageJSON, "pushes": pushesJSON,
            "compared": comparedJSON, "smallest": smallestJSON, "losesNone": verdict.losesNone, "verdict": verdict.text,
        ]
    }

    private var fleetJSON: JSONObject {
        [
            "devices": fleet.devices, "refreshP50": DurationText.iso8601(fleet.refreshP50InSeconds),
            "refreshP99": DurationText.iso8601(fleet.refreshP99InSeconds), "offline": fleet.offline,
            "pushesPerDay": fleet.pushesPerDay, "seed": fleet.seed,
        ]
    }

    private var policyJSON: JSONObject {
        let json: JSONObject = [
            "rotateEvery": DurationText.iso8601(policy.rotateEveryInSeconds),
            "publishLead": DurationText.iso8601(policy.publishLeadInSeconds),
            "overlap": DurationText.iso8601(policy.overlapInSeconds), "keep": policy.keep,
            "opensAfterRetiring": DurationText.iso8601(policy.opensAfterRetiringInSeconds),
        ]
        return json.adding(ifKnown: ["requireCoverage": policy.requiredCoverage?.description])
    }

    /// The counts are pairs of a device and a key.
    private var coverageJSON: JSONObject {
        let after = coverageRows.map { row -> JSONObject in
            ["time": DurationText.iso8601(row.seconds), "holding": row.holding]
        }
        return [
            "pairs": tally.holders, "atActivation": tally.heldAtActivation,
            "seenAtActivation": tally.seenAtActivation, "after": after,
        ]
    }

    private var pushesJSON: JSONObject {
        let pushes = tally.pushes
        return [
            "sent": pushes.sent, "opened": pushes.opened, "keyNotFetched": pushes.keyNotFetched,
            "keyExpired": pushes.keyExpired, "deviceUnseen": pushes.deviceUnseen, "lostToAPNs": pushes.lostToAPNs,
        ]
    }

    /// The pushes that other lengths would lose to the policy; for the overlap without the protocol's minimum.
    private var comparedJSON: [JSONObject] {
        Self.comparedDays.map { days in
            [
                "length": DurationText.iso8601(Int64(days) * 86_400),
                "lostAsPublishLead": tally.lead.histogram.count(above: days * 24),
                "lostAsOverlap": tally.overlap.histogram.count(above: days * 24),
            ]
        }
    }

    private var smallestJSON: JSONObject {
        let json: JSONObject = [
            "publishLead": DurationText.iso8601(smallestLeadInSeconds),
            "overlap": DurationText.iso8601(smallestOverlapInSeconds), "lost": proof.lost,
        ]
        return json.adding(ifKnown: [
            "lostWithPublishLeadOneSecondShorter": proof.lostWithShorterLead,
            "lostWithOverlapOneSecondShorter": proof.lostWithShorterOverlap,
        ])
    }
}
