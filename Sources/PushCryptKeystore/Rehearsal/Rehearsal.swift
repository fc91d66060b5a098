import PushCryptCore

/// Simulates three rotations of a fleet of devices.
///
/// **Keys.** Devices fetch the device keys of shared masters, or a sender's published keys. A key can be fetched from the
/// second of its publication on. Devices fetch all published keys at once. ``RehearsedRotation`` defines the key that seals
/// each push.
///
/// **Fetching.** A device fetches at even intervals from a random moment on. The interval is log-normal over the devices:
/// half of them fetch at least every p50, 99 of 100 at least every p99. The percentiles are over devices, not over
/// fetches: devices that fetch often cause most entries of a server's log, which makes a fleet look faster than it is.
///
/// **Offline.** At any moment the given share of devices is offline. Absences are log-uniform from 1 to 60 days; 17 of 100
/// last longer than 30 days. An offline device neither fetches nor receives. On return it first receives all stored pushes
/// up to 30 days old, and then fetches at its next regular time: the worst case.
///
/// **Pushes.** Each device receives them at even intervals from a random moment on. A push is lost
/// ```
/// to APNs     offline for more than 30 days since it was sealed: discarded under every policy
/// to expiry   arrival >= expiry(key)
/// to the lead no fetch from publication(key) to arrival, and one in the 30 days before arrival
/// to absence  no fetch from publication(key) to arrival, nor in the 30 days before arrival
/// ```
/// tested in this order. "Lost to the policy" means expiry and lead. Absence is counted separately: `keys coverage` reports
/// these devices as not seen, and they may never return. A device that hasn't learnt of a key's expiry would still open the
/// push; the simulation counts it as lost.
///
/// **Smallest values without loss.** A push needs a lead of activation(key) - last fetch before it, and an overlap of
/// arrival - retirement + 1 s. Neither depends on the rehearsed policy, so the largest needs of one pass are exactly the
/// smallest values without loss in this fleet. With 30 days for both, no fleet loses any.
package struct Rehearsal: Sendable {
    private let fleet: Fleet
    private let rotation: RehearsedRotation

    package init(_ fleet: Fleet, _ rotation: RehearsedRotation) {
        self.fleet = fleet
        self.rotation = rotation
    }

    /// - Parameter workers: the number of parallel tasks. It doesn't affect the result.
    package func run(workers: Int) async -> RehearsalTally {
        let workers = min(max(workers, 1), fleet.devices)
        return await withTaskGroup(of: RehearsalTally.self) { group in
            for worker in 0..<workers {
                let devices = fleet.devices * worker / workers..<fleet.devices * (worker + 1) / workers
                group.addTask { run(devices) }
            }
            var sum = RehearsalTally(series: RehearsalSeries(rotation))
            for await part in group { sum += part }
            return sum
        }
    }

    private func run(_ devices: Range<Int>) -> RehearsalTally {
        let distributions = FleetDistributions(fleet)
        let period = rotation.simulated
        var pass = RehearsalPass(rotation)
        var device = SimulatedDevice()
        for number in devices {
            device.become(number, seed: fleet.seed, distributions, over: period)
            pass.add(device)
        }
        return pass.tally
    }
}

/// The numbers of events in equal intervals, for a picture. The number of intervals doesn't depend on the length of the
/// rehearsal.
package struct RehearsalSeries: Hashable, Sendable {
    /// The time that the intervals cover. ``RehearsedRotation`` defines time 0.
    package let period: Range<Int64>
    package let widthInSeconds: Int64
    /// For every key of ``RehearsedRotation/keys``, the number of devices that first fetched it in each interval.
    package private(set) var firstFetches: [[Int]]
    /// For every ``Loss``, the number of lost pushes in each interval.
    private var losses: [[Int]]
    package let count: Int

    package enum Loss: Int, Sendable, CaseIterable {
        case keyNotFetched, keyExpired, deviceUnseen
    }

    /// The number of intervals that may be drawn as one. No activation is within such a group.
    package static let group = 4
    private static let roughCount: Int64 = 480

    init(_ rotation: RehearsedRotation) {
        let (keys, rotateEvery) = (RehearsedRotation.keys, rotation.rotateEveryInSeconds)
        let (publication, activation) = (rotation.publication(keys.lowerBound), rotation.activation(keys.lowerBound))
        let end = rotation.simulated.upperBound
        let rough = (end - publication) / Self.roughCount
        let group = Int64(Self.group)
        // A rotation has a whole number of groups, unless it is shorter than a group.
        let groups = rough > 0 ? rotateEvery / (rough * group) : 0
        widthInSeconds = max(groups > 0 ? rotateEvery / (groups * group) : rough, 1)
        let drawn = widthInSeconds * group
        period = activation - (activation - publication + drawn - 1) / drawn * drawn..<end
        count = Int((period.upperBound - period.lowerBound + widthInSeconds - 1) / widthInSeconds)
        let zeros = [Int](repeating: 0, count: count)
        firstFetches = keys.map { _ in zeros }
        losses = Loss.allCases.map { _ in zeros }
    }

    package func losses(_ loss: Loss) -> [Int] { losses[loss.rawValue] }

    package func start(_ index: Int) -> Int64 { period.lowerBound + Int64(index) * widthInSeconds }

    mutating func addFirstFetch(of key: Int, at time: Int64) {
        guard period.contains(time) else { return }
        firstFetches[key - RehearsedRotation.keys.lowerBound][index(time)] += 1
    }

    mutating func add(_ loss: Loss, _ count: Int, at time: Int64) {
        guard count > 0, period.contains(time) else { return }
        losses[loss.rawValue][index(time)] += count
    }

    mutating func add(_ loss: Loss, _ pushes: EvenMoments, in range: Range<Int64>) {
        var rest = range.clamped(to: period)
        while !rest.isEmpty {
            let index = index(rest.lowerBound)
            let end = min(start(index + 1), rest.upperBound)
            losses[loss.rawValue][index] += pushes.count(in: rest.lowerBound..<end)
            rest = end..<rest.upperBound
        }
    }

    private func index(_ time: Int64) -> Int { Int((time - period.lowerBound) / widthInSeconds) }

    static func += (left: inout Self, right: Self) {
        left.firstFetches = zip(left.firstFetches, right.firstFetches).map { zip($0, $1).map(+) }
        left.losses = zip(left.losses, right.losses).map { zip($0, $1).map(+) }
    }
}

/// The times of the keys in a rehearsal. Time 0 is when key 0 begins to seal.
///
/// ```
/// publication(k) = activation(k) - publishLead
/// activation(k)  = k * rotateEvery
/// expiry(k)      = activation(k + 1) + opensAfterRetiring
/// ```
/// Unlike a ``RotationPolicy``, the keys may open for less time than PROTOCOL section 9 allows, to count the loss.
package struct RehearsedRotation: Hashable, Sendable {
    package var rotateEveryInSeconds: Int64
    package var publishLeadInSeconds: Int64
    package var opensAfterRetiringInSeconds: Int64

    /// The keys whose pushes are counted; key 0 precedes them.
    package static let keys = 1...3

    package func activation(_ key: Int) -> Int64 { Int64(key) * rotateEveryInSeconds }

    package func publication(_ key: Int) -> Int64 { activation(key) - publishLeadInSeconds }

    package func expiry(_ key: Int) -> Int64 { activation(key + 1) + opensAfterRetiringInSeconds }

    /// The time in which the key seals.
    func sealing(_ key: Int) -> Range<Int64> { activation(key)..<activation(key + 1) }

    /// The time in which counted pushes are sealed.
    var measured: Range<Int64> { sealing(Self.keys.lowerBound).lowerBound..<sealing(Self.keys.upperBound).upperBound }

    /// The simulated time. Fetches earlier than both 30 days and the lead before the first push, and events after the
    /// last push, don't affect the result. The time depends only on `rotateEvery`, so that all leads and overlaps are tried with the same devices.
    var simulated: Range<Int64> {
        let flight = RotationPolicy.longestFlightInSeconds
        return measured.lowerBound - max(rotateEveryInSeconds, flight)..<measured.upperBound + flight
    }
}

extension RehearsedRotation {
    init(_ policy: RotationPolicy) {
        self.init(
            rotateEveryInSeconds: policy.rotateEveryInSeconds, publishLeadInSeconds: policy.publishLeadInSeconds,
            opensAfterRetiringInSeconds: policy.opensAfterRetiringInSeconds)
    }
}
