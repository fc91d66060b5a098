package import PushCryptCore

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
