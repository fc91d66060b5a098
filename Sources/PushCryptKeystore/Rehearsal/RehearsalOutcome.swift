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

/// What became of the pushes of a rehearsal.
package struct PushCounts: Hashable, Sendable {
    /// Sealed while the rehearsal counted.
    package var sent = 0
    /// The placeholder was shown: the device had not fetched the key.
    package var keyNotFetched = 0
    /// The placeholder was shown: the key had expired, whether or not the device held it.
    package var keyExpired = 0
    /// The placeholder was shown: the device had not fetched the key, nor anything for more than 30 days.
    package var deviceUnseen = 0
    /// Discarded by APNs: the device was offline for more than 30 days. No policy helps.
    package var lostToAPNs = 0

    package var lostToPolicy: Int { keyNotFetched + keyExpired }
    package var opened: Int { sent - lostToPolicy - deviceUnseen - lostToAPNs }

    static func += (left: inout Self, right: Self) {
        left.sent += right.sent
        left.keyNotFetched += right.keyNotFetched
        left.keyExpired += right.keyExpired
        left.deviceUnseen += right.deviceUnseen
        left.lostToAPNs += right.lostToAPNs
    }
}

/// What pushes needed of a policy so as not to be lost to it.
package struct PushNeeds: Hashable, Sendable {
    /// The longest that any needed, in seconds; 0 where none needed anything.
    package private(set) var longestInSeconds: Int64 = 0
    package private(set) var histogram = HourHistogram()

    mutating func add(_ count: Int, seconds: Int64) {
        guard count > 0 else { return }
        longestInSeconds = max(longestInSeconds, seconds)
        histogram.add(count, seconds: seconds)
    }

    static func += (left: inout Self, right: Self) {
        left.longestInSeconds = max(left.longestInSeconds, right.longestInSeconds)
        left.histogram += right.histogram
    }
}

/// The sums of a rehearsal: sums and maxima alone, so that it doesn't matter which thread met which device.
package struct RehearsalTally: Hashable, Sendable {
    package var pushes = PushCounts()
    /// Of a publishLead. It doesn't depend on the lead that was rehearsed: activations stay where they are.
    package var lead = PushNeeds()
    /// Of an overlap: how long a key has to open after it retired.
    package var overlap = PushNeeds()

    /// Pairs of a device and a key.
    package var holders = 0
    /// From a key's publication to a device's first fetch.
    package var firstFetches = HourHistogram()
    /// Devices that held the key when it began to seal.
    package var heldAtActivation = 0
    /// Devices that had fetched in the 30 days before.
    package var seenAtActivation = 0

    package var series: RehearsalSeries

    static func += (left: inout Self, right: Self) {
        left.pushes += right.pushes
        left.lead += right.lead
        left.overlap += right.overlap
        left.holders += right.holders
        left.firstFetches += right.firstFetches
        left.heldAtActivation += right.heldAtActivation
        left.seenAtActivation += right.seenAtActivation
        left.series += right.series
    }

    /// When `keys coverage` shows that share, counted in hours from the publication on.
    ///
    /// That share is of the devices seen in the last 30 days. In a steady fleet these are as many as fetch in the first
    /// 30 days after the publication, so that after 30 days it's always reached.
    package func hoursUntilCovered(_ required: RotationPolicy.Coverage) -> Int {
        let seen = firstFetches.count(within: HourHistogram.hours)
        return (0...HourHistogram.hours).first { hours in
            required.isMet(holding: firstFetches.count(within: hours), seen: seen)
        } ?? HourHistogram.hours
    }
}

extension RotationPolicy.Coverage {
    /// In integers: `holding / seen >= share`. Where nobody was seen nothing is covered.
    package func isMet(holding: Int, seen: Int) -> Bool {
        seen > 0 && holding * 100_000 >= thousandthsOfPercent * seen
    }
}

/// Counts by length of time, in whole hours up to 30 days: exact for every question about a whole number of hours.
package struct HourHistogram: Hashable, Sendable {
    package static let hours = 720
    /// At index i what took more than i - 1 and at most i hours; at the end what took longer than all.
    private var counts = [Int](repeating: 0, count: hours + 2)

    mutating func add(_ count: Int, seconds: Int64) {
        counts[Int(min((seconds + 3_599) / 3_600, Int64(Self.hours) + 1))] += count
    }

    /// - Parameter hours: 0...720.
    package func count(within hours: Int) -> Int { counts[...hours].reduce(0, +) }

    /// - Parameter hours: 0...720.
    package func count(above hours: Int) -> Int { counts[(hours + 1)...].reduce(0, +) }

    static func += (left: inout Self, right: Self) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
    }
}
