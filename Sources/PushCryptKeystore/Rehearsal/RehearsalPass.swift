import PushCryptCore

/// Counts the losses device by device. Pushes are at even intervals, so counting them takes a few divisions per key for any
/// number of pushes.
struct RehearsalPass {
    private let rotation: RehearsedRotation
    private let flight = RotationPolicy.longestFlightInSeconds
    private(set) var tally = RehearsalTally()

    init(_ rotation: RehearsedRotation) { self.rotation = rotation }

    mutating func add(_ device: RehearsedDevice) {
        tally.pushes.sent += device.pushes.count(in: rotation.measured)
        for absence in device.offline {
            let discarded = absence.lowerBound..<stored(in: absence).lowerBound
            tally.pushes.lostToAPNs += device.pushes.count(in: discarded.clamped(to: rotation.measured))
        }
        for key in RehearsedRotation.keys { countFirstPushes(under: key, to: device) }
    }

    /// Counts the pushes that reach the device before its first fetch since the key began to seal. The device opens them only
    /// if its last fetch was after the publication of the key.
    private mutating func countFirstPushes(under key: Int, to device: RehearsedDevice) {
        let activation = rotation.activation(key)
        let lastFetch = device.lastFetch(before: activation)
        // The shortest publishLead with which the device has the key.
        let neededLead = activation - lastFetch
        tally.deviceLeads.add(1, seconds: neededLead)
        if neededLead <= rotation.publishLeadInSeconds { tally.holders += 1 }
        // A push that arrives in the second of the fetch counts as earlier.
        var rest = activation..<min(device.firstFetch(from: activation) + 1, rotation.activation(key + 1))

        /// Counts pushes that arrive when they are sealed.
        func countDelivered(_ sealed: Range<Int64>) {
            // The first second in which the device counts as not seen.
            let unseen = min(max(lastFetch + flight + 1, sealed.lowerBound), sealed.upperBound)
            count(device.pushes.count(in: sealed.lowerBound..<unseen), isSeen: true, neededLead)
            count(device.pushes.count(in: unseen..<sealed.upperBound), isSeen: false, neededLead)
        }

        for absence in device.offline where absence.overlaps(rest) {
            countDelivered(rest.lowerBound..<max(absence.lowerBound, rest.lowerBound))
            // They arrive when the device returns, before it fetches.
            let kept = device.pushes.count(in: stored(in: absence).clamped(to: rest))
            count(kept, isSeen: absence.upperBound - lastFetch <= flight, neededLead)
            rest = min(absence.upperBound, rest.upperBound)..<rest.upperBound
        }
        countDelivered(rest)
    }

    /// - Parameter isSeen: whether the device has fetched in the 30 days before the pushes arrive.
    private mutating func count(_ pushes: Int, isSeen: Bool, _ neededLead: Int64) {
        if isSeen { tally.pushLeads.add(pushes, seconds: neededLead) }
        guard neededLead > rotation.publishLeadInSeconds else { return }
        if isSeen { tally.pushes.keyNotFetched += pushes } else { tally.pushes.deviceUnseen += pushes }
    }

    /// The sealing times of the pushes that APNs still stores when the device returns.
    private func stored(in absence: Range<Int64>) -> Range<Int64> {
        max(absence.lowerBound, absence.upperBound - flight)..<absence.upperBound
    }
}
