import PushCryptCore

/// Counts the losses device by device. Pushes are at even intervals, so counting them takes a few divisions per key for any
/// number of pushes.
struct RehearsalPass {
    private let rotation: RehearsedRotation
    private let flight = RotationPolicy.longestFlightInSeconds
    private(set) var tally: RehearsalTally

    init(_ rotation: RehearsedRotation) {
        self.rotation = rotation
        tally = RehearsalTally(series: RehearsalSeries(rotation))
    }

    mutating func add(_ device: SimulatedDevice) {
        tally.pushes.sent += device.pushes.count(in: rotation.measured)
        for absence in device.offline { countReturn(from: absence, of: device) }
        for key in RehearsedRotation.keys {
            countHolding(key, device)
            countFirstPushes(under: key, to: device)
        }
    }

    /// Counts the pushes that APNs discarded or delivers after their key expired.
    private mutating func countReturn(from absence: Range<Int64>, of device: SimulatedDevice) {
        let (kept, arrival) = (stored(in: absence), absence.upperBound)
        let discarded = absence.lowerBound..<kept.lowerBound
        tally.pushes.lostToAPNs += device.pushes.count(in: discarded.clamped(to: rotation.measured))
        for key in RehearsedRotation.keys where arrival >= rotation.activation(key + 1) {
            let count = device.pushes.count(in: kept.clamped(to: rotation.sealing(key)))
            tally.overlap.add(count, seconds: arrival - rotation.activation(key + 1) + 1)
            guard arrival >= rotation.expiry(key) else { continue }
            tally.pushes.keyExpired += count
            tally.series.add(.keyExpired, count, at: arrival)
        }
    }

    private mutating func countHolding(_ key: Int, _ device: SimulatedDevice) {
        let publication = rotation.publication(key)
        let fetch = device.firstFetch(from: publication)
        tally.holders += 1
        tally.firstFetches.add(1, seconds: fetch - publication)
        tally.series.addFirstFetch(of: key, at: fetch)
    }

    /// Counts the pushes that reach the device before its first fetch since the key began to seal. The device opens them only
    /// if its last fetch was after the publication of the key.
    private mutating func countFirstPushes(under key: Int, to device: SimulatedDevice) {
        let activation = rotation.activation(key)
        let wait = Wait(key: key, lastFetch: device.lastFetch(before: activation), activation: activation)
        if wait.lastFetch >= rotation.publication(key) { tally.heldAtActivation += 1 }
        if wait.lastFetch >= activation - flight { tally.seenAtActivation += 1 }
        // A push that arrives in the second of the fetch counts as earlier.
        let end = min(device.firstFetch(from: activation) + 1, rotation.activation(key + 1))
        var rest = activation..<end
        for absence in device.offline where absence.overlaps(rest) {
            countDelivered(rest.lowerBound..<max(absence.lowerBound, rest.lowerBound), wait, device)
            let count = device.pushes.count(in: stored(in: absence).clamped(to: rest))
            countStored(count, arrival: absence.upperBound, wait)
            rest = min(absence.upperBound, rest.upperBound)..<rest.upperBound
        }
        countDelivered(rest, wait, device)
    }

    /// A device that hasn't fetched since a key began to seal.
    private struct Wait {
        let key: Int
        let lastFetch: Int64
        let activation: Int64
        /// The shortest publishLead with which the device has the key.
        var neededLead: Int64 { activation - lastFetch }
    }

    /// Counts the pushes that arrive when they are sealed.
    private mutating func countDelivered(_ sealed: Range<Int64>, _ wait: Wait, _ device: SimulatedDevice) {
        guard !sealed.isEmpty else { return }
        // The first second in which the device counts as not seen.
        let unseen = min(max(wait.lastFetch + flight + 1, sealed.lowerBound), sealed.upperBound)
        let seenCount = device.pushes.count(in: sealed.lowerBound..<unseen)
        tally.lead.add(seenCount, seconds: wait.neededLead)
        guard wait.neededLead > rotation.publishLeadInSeconds else { return }
        tally.pushes.keyNotFetched += seenCount
        tally.pushes.deviceUnseen += device.pushes.count(in: unseen..<sealed.upperBound)
        tally.series.add(.keyNotFetched, device.pushes, in: sealed.lowerBound..<unseen)
        tally.series.add(.deviceUnseen, device.pushes, in: unseen..<sealed.upperBound)
    }

    /// Counts the pushes that APNs delivers when the device returns, before it fetches.
    private mutating func countStored(_ count: Int, arrival: Int64, _ wait: Wait) {
        let isSeen = arrival - wait.lastFetch <= flight
        if isSeen { tally.lead.add(count, seconds: wait.neededLead) }
        // countReturn counts the pushes under expired keys.
        guard wait.neededLead > rotation.publishLeadInSeconds, arrival < rotation.expiry(wait.key) else { return }
        if isSeen { tally.pushes.keyNotFetched += count } else { tally.pushes.deviceUnseen += count }
        tally.series.add(isSeen ? .keyNotFetched : .deviceUnseen, count, at: arrival)
    }

    /// The sealing times of the pushes that APNs still stores when the device returns.
    private func stored(in absence: Range<Int64>) -> Range<Int64> {
        max(absence.lowerBound, absence.upperBound - flight)..<absence.upperBound
    }
}
