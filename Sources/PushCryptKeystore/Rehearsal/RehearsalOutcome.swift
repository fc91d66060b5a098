package import PushCryptCore

/// The result of rehearsing a policy: the losses, the smallest lead and overlap without loss, and the proof.
package struct RehearsalOutcome: Sendable {
    package let fleet: Fleet
    package let policy: RotationPolicy
    /// The simulated rotation. If the policy requires coverage, its lead includes the time until the coverage.
    package let rotation: RehearsedRotation
    package let tally: RehearsalTally
    /// The losses with the smallest lead and overlap, and with one second less.
    package let proof: Proof

    package struct Proof: Hashable, Sendable {
        /// The pushes lost to the policy with the smallest values: 0.
        package let lost: Int
        /// The pushes lost with a publishLead one second shorter; nil if the smallest is 0.
        package let lostWithShorterLead: Int?
        /// The pushes lost with an overlap one second shorter; nil if the smallest is 0.
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
        self.fleet = fleet
        self.policy = policy
        self.rotation = rotation
        self.tally = tally
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

/// The outcomes of the pushes in a rehearsal.
package struct PushCounts: Hashable, Sendable {
    package var sent = 0
    /// The device had not fetched the key and showed the placeholder.
    package var keyNotFetched = 0
    /// The key had expired, and the device showed the placeholder.
    package var keyExpired = 0
    /// The device had fetched nothing for more than 30 days and showed the placeholder.
    package var deviceUnseen = 0
    /// APNs discarded the push, because the device was offline for more than 30 days. No policy prevents this.
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

/// The leads or overlaps without which devices couldn't open their pushes.
package struct PushNeeds: Hashable, Sendable {
    /// The longest need, in seconds; 0 if there was none.
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

/// The sums and maxima of a rehearsal. They don't depend on the assignment of devices to tasks.
package struct RehearsalTally: Hashable, Sendable {
    package var pushes = PushCounts()
    /// The needed publishLeads. They don't depend on the rehearsed lead, which doesn't move activations.
    package var lead = PushNeeds()
    /// The needed overlaps: how long a key must open after it retires.
    package var overlap = PushNeeds()

    package var holders = 0
    /// The times from a key's publication to a device's first fetch.
    package var firstFetches = HourHistogram()
    /// The number of devices that had the key when it began to seal.
    package var heldAtActivation = 0
    /// The number of devices that had fetched in the 30 days before a key began to seal.
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

    /// The hours from the publication until `keys coverage` shows this share.
    ///
    /// The share is of the devices seen in the last 30 days. In a steady fleet as many devices fetch in the first 30 days
    /// after the publication, so it is always reached after 30 days.
    package func hoursUntilCovered(_ required: RotationPolicy.Coverage) -> Int {
        let seen = firstFetches.count(within: HourHistogram.hours)
        return (0...HourHistogram.hours).first { hours in
            required.isMet(holding: firstFetches.count(within: hours), seen: seen)
        } ?? HourHistogram.hours
    }
}

extension RotationPolicy.Coverage {
    /// `holding / seen >= share` in integer arithmetic; false if no device was seen.
    package func isMet(holding: Int, seen: Int) -> Bool { seen > 0 && holding * 100_000 >= thousandthsOfPercent * seen }
}

/// A histogram of times in whole hours up to 30 days. Counts for a whole number of hours are exact.
package struct HourHistogram: Hashable, Sendable {
    package static let hours = 720
    /// Index i counts times of more than i - 1 and at most i hours; the last index counts all longer times.
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
