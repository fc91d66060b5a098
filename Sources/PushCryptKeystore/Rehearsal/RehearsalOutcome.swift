package import PushCryptCore

/// The result of rehearsing a policy.
package struct RehearsalOutcome: Sendable {
    package let fleet: Fleet
    package let policy: RotationPolicy
    /// How long a key is published before it seals. If the policy requires coverage, that includes the time until the coverage.
    package let leadInSeconds: Int64
    package let tally: RehearsalTally

    package init(_ fleet: Fleet, _ policy: RotationPolicy, workers: Int) async {
        var rotation = RehearsedRotation(
            rotateEveryInSeconds: policy.rotateEveryInSeconds, publishLeadInSeconds: policy.publishLeadInSeconds)
        var tally = await Rehearsal(fleet, rotation).run(workers: workers)
        if let coverage = policy.requiredCoverage {
            let wait = Int64(tally.hoursUntilCovered(coverage)) * 3_600
            if wait > rotation.publishLeadInSeconds {
                rotation.publishLeadInSeconds = wait
                tally = await Rehearsal(fleet, rotation).run(workers: workers)
            }
        }
        (self.fleet, self.policy, self.tally) = (fleet, policy, tally)
        leadInSeconds = rotation.publishLeadInSeconds
    }
}

/// The outcomes of the pushes in a rehearsal.
package struct PushCounts: Hashable, Sendable {
    package var sent = 0
    /// The device had not fetched the key and showed the placeholder: lost to the policy.
    package var keyNotFetched = 0
    /// The device had fetched nothing for more than 30 days and showed the placeholder.
    package var deviceUnseen = 0
    /// APNs discarded the push, because the device was offline for more than 30 days. No policy prevents this.
    package var lostToAPNs = 0

    package var opened: Int { sent - keyNotFetched - deviceUnseen - lostToAPNs }

    static func += (left: inout Self, right: Self) {
        left.sent += right.sent
        left.keyNotFetched += right.keyNotFetched
        left.deviceUnseen += right.deviceUnseen
        left.lostToAPNs += right.lostToAPNs
    }
}

/// The sums and maxima of a rehearsal. They don't depend on the assignment of devices to tasks.
package struct RehearsalTally: Hashable, Sendable {
    package var pushes = PushCounts()
    /// The publishLead that each push needs to be opened. It doesn't depend on the rehearsed lead, which doesn't move activations.
    package var pushLeads = HourHistogram()
    /// The publishLead that each device needs to hold a key when it begins to seal, for every key.
    package var deviceLeads = HourHistogram()
    /// The number of times that a device held a key when it began to seal.
    package var holders = 0

    static func += (left: inout Self, right: Self) {
        left.pushes += right.pushes
        left.pushLeads += right.pushLeads
        left.deviceLeads += right.deviceLeads
        left.holders += right.holders
    }

    /// The hours from the publication until `keys coverage` shows this share of the devices seen in the last 30 days.
    package func hoursUntilCovered(_ required: RotationPolicy.Coverage) -> Int {
        let seen = deviceLeads.count(within: HourHistogram.hours)
        return (0...HourHistogram.hours).first { hours in
            required.isMet(holding: deviceLeads.count(within: hours), seen: seen)
        } ?? HourHistogram.hours
    }
}

extension RotationPolicy.Coverage {
    /// `holding / seen >= share` in integer arithmetic; false if no device was seen.
    package func isMet(holding: Int, seen: Int) -> Bool { seen > 0 && holding * 100_000 >= thousandthsOfPercent * seen }
}

/// A histogram of times in whole hours up to 30 days, and the longest time. Counts for a whole number of hours are exact.
package struct HourHistogram: Hashable, Sendable {
    package static let hours = 720
    /// Index i counts times of more than i - 1 and at most i hours; the last index counts all longer times.
    private var counts = [Int](repeating: 0, count: hours + 2)
    /// 0 without a time.
    package private(set) var longestInSeconds: Int64 = 0

    mutating func add(_ count: Int, seconds: Int64) {
        guard count > 0 else { return }
        longestInSeconds = max(longestInSeconds, seconds)
        counts[Int(min((seconds + 3_599) / 3_600, Int64(Self.hours) + 1))] += count
    }

    package var count: Int { counts.reduce(0, +) }

    /// - Parameter hours: 0...720.
    package func count(within hours: Int) -> Int { counts[...hours].reduce(0, +) }

    /// - Parameter hours: 0...720.
    package func count(above hours: Int) -> Int { counts[(hours + 1)...].reduce(0, +) }

    static func += (left: inout Self, right: Self) {
        for index in left.counts.indices { left.counts[index] += right.counts[index] }
        left.longestInSeconds = max(left.longestInSeconds, right.longestInSeconds)
    }
}
