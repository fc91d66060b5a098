import PushCryptCore

@testable import PushCryptKeystore

/// A simulation of every fetch and every push, as ``Rehearsal`` defines them.
struct NaiveRehearsal {
    private(set) var pushes = PushCounts()
    /// The needed lead of each push that needs one.
    private(set) var neededLeads = [Int64]()

    init(_ fleet: Fleet, _ rotation: RehearsedRotation) {
        let distributions = FleetDistributions(fleet)
        var device = RehearsedDevice()
        for number in 0..<fleet.devices {
            device.become(number, seed: fleet.seed, distributions, over: rotation.simulated)
            add(device, rotation)
        }
    }

    private mutating func add(_ device: RehearsedDevice, _ rotation: RehearsedRotation) {
        let period = rotation.simulated.lowerBound - 400 * day..<rotation.simulated.upperBound
        let fetches = Self.list(device.fetches, period).filter { fetch in
            !device.offline.contains { $0.contains(fetch) }
        }
        var next = 0
        // `next` never decreases: a later push doesn't arrive before an earlier one.
        for sealed in Self.list(device.pushes, rotation.measured) {
            pushes.sent += 1
            let arrival = device.offline.first { $0.contains(sealed) }?.upperBound ?? sealed
            while next < fetches.count, fetches[next] < arrival { next += 1 }
            classify(sealed, arrival, lastFetch: next > 0 ? fetches[next - 1] : .min / 2, rotation)
        }
    }

    private mutating func classify(
        _ sealed: Int64, _ arrival: Int64, lastFetch: Int64, _ rotation: RehearsedRotation
    ) {
        let key = Int(sealed / rotation.rotateEveryInSeconds)
        guard arrival - sealed <= 30 * day else {
            pushes.lostToAPNs += 1
            return
        }
        let isSeen = arrival - lastFetch <= 30 * day
        let needed = rotation.activation(key) - lastFetch
        if needed > 0, isSeen { neededLeads.append(needed) }
        if needed > rotation.publishLeadInSeconds {
            if isSeen { pushes.keyNotFetched += 1 } else { pushes.deviceUnseen += 1 }
        }
    }

    private static func list(_ moments: EvenMoments, _ period: Range<Int64>) -> [Int64] {
        let skipped = (period.lowerBound - moments.phase) / moments.interval - 1
        let start = moments.phase + skipped * moments.interval
        return stride(from: start, to: period.upperBound, by: Int(moments.interval)).filter(period.contains)
    }
}
