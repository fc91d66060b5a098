/// Simulates three rotations of a fleet of devices.
///
/// **Keys.** Devices fetch them: the device keys of shared masters, or a sender's published keys. A key can be fetched
/// from the second of its publication on; devices fetch all published keys at once. Pushes are sealed under the key
/// that seals at that second (``RehearsedRotation``).
///
/// **Fetching.** A device fetches at even intervals from a random moment on. The interval is its own and log-normal
/// over the devices: half of them fetch at least every p50, 99 of 100 at least every p99. The percentiles are over
/// devices, not over fetches: most fetches in a server's log are those of eager devices, so that the gaps between
/// fetches make a fleet look quicker than it is.
///
/// **Offline.** At any moment the given share of devices is offline: log-uniform from 1 to 60 days, 17 of 100 times
/// for more than 30 days. Offline a device neither fetches nor receives. On return it first gets what APNs stored, all
/// of it up to 30 days old, and fetches when its next turn comes, not at once: the worse of what may happen.
///
/// **Pushes.** Each device gets them at even intervals from a random moment on. One is lost
/// ```
/// to APNs     offline for more than 30 days since it was sealed: discarded, whatever the policy
/// to expiry   arrival >= expiry(key)
/// to the lead no fetch from publication(key) to arrival, and one in the 30 days before arrival
/// to absence  no fetch from publication(key) to arrival, nor in the 30 days before arrival
/// ```
/// tested in this order. "Lost to the policy" is expiry and lead. Absence is counted apart: the devices are those that
/// `keys coverage` calls not seen, and waiting for them would mean to wait for ever. A device that doesn't know yet that
/// a key expired would still open; that is not counted on.
///
/// **What would lose none.** A push needs a lead of activation(key) - last fetch before it, and an overlap of arrival -
/// retirement + 1 s. Neither depends on the policy that is rehearsed, so that the greatest needs of one pass are the
/// smallest values that lose none, exactly, in this fleet; with 30 days for both no fleet loses any.
package struct Rehearsal: Sendable {
    private let fleet: Fleet
    private let rotation: RehearsedRotation

    package init(_ fleet: Fleet, _ rotation: RehearsedRotation) {
        self.fleet = fleet
        self.rotation = rotation
    }

    /// - Parameter workers: how many parts of the fleet are simulated at the same time. The result is the same for any.
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
        let (distributions, period) = (FleetDistributions(fleet), rotation.simulated)
        var pass = RehearsalPass(rotation)
        var device = SimulatedDevice()
        for number in devices {
            device.become(number, seed: fleet.seed, distributions, over: period)
            pass.meet(device)
        }
        return pass.tally
    }
}

/// What happened when, for a picture: a fixed number of intervals, however long the rehearsal is.
package struct RehearsalSeries: Hashable, Sendable {
    /// Of the rehearsal's clock.
    package let period: Range<Int64>
    package let widthInSeconds: Int64
    /// For every key of ``RehearsedRotation/keys``: devices whose first fetch of it fell in the interval.
    package private(set) var firstFetches: [[Int]]
    package private(set) var keyNotFetched: [Int]
    package private(set) var keyExpired: [Int]
    package private(set) var deviceUnseen: [Int]

    package enum Loss: Sendable {
        case keyNotFetched, keyExpired, deviceUnseen
    }

    /// Intervals that may be drawn as one: an activation is never within such a group.
    package static let group = 4
    private static let roughCount: Int64 = 480

    init(_ rotation: RehearsedRotation) {
        let (keys, rotateEvery) = (RehearsedRotation.keys, rotation.rotateEveryInSeconds)
        let (publication, activation) = (rotation.publication(keys.lowerBound), rotation.activation(keys.lowerBound))
        let end = rotation.simulated.upperBound
        let rough = (end - publication) / Self.roughCount
        let group = Int64(Self.group)
        // A whole number of groups per rotation, unless a rotation is shorter than a group.
        let groups = rough > 0 ? rotateEvery / (rough * group) : 0
        widthInSeconds = max(groups > 0 ? rotateEvery / (groups * group) : rough, 1)
        let drawn = widthInSeconds * group
        period = activation - (activation - publication + drawn - 1) / drawn * drawn..<end
        let count = Int((period.upperBound - period.lowerBound + widthInSeconds - 1) / widthInSeconds)
        let zeros = [Int](repeating: 0, count: count)
        firstFetches = keys.map { _ in zeros }
        (keyNotFetched, keyExpired, deviceUnseen) = (zeros, zeros, zeros)
    }

    package var count: Int { keyNotFetched.count }

    package func start(_ index: Int) -> Int64 { period.lowerBound + Int64(index) * widthInSeconds }

    mutating func addFirstFetch(of key: Int, at time: Int64) {
        guard period.contains(time) else { return }
        firstFetches[key - RehearsedRotation.keys.lowerBound][index(time)] += 1
    }

    mutating func add(_ loss: Loss, _ count: Int, at time: Int64) {
        guard count > 0, period.contains(time) else { return }
        add(loss, count, index(time))
    }

    /// Pushes that arrive as they're sealed.
    mutating func add(_ loss: Loss, _ pushes: EvenMoments, in range: Range<Int64>) {
        var rest = range.clamped(to: period)
        while !rest.isEmpty {
            let index = index(rest.lowerBound)
            let end = min(start(index + 1), rest.upperBound)
            add(loss, pushes.count(in: rest.lowerBound..<end), index)
            rest = end..<rest.upperBound
        }
    }

    private mutating func add(_ loss: Loss, _ count: Int, _ index: Int) {
        switch loss {
        case .keyNotFetched: keyNotFetched[index] += count
        case .keyExpired: keyExpired[index] += count
        case .deviceUnseen: deviceUnseen[index] += count
        }
    }

    private func index(_ time: Int64) -> Int { Int((time - period.lowerBound) / widthInSeconds) }

    static func += (left: inout Self, right: Self) {
        func add(_ right: [Int], to left: inout [Int]) {
            for index in left.indices { left[index] += right[index] }
        }
        for key in left.firstFetches.indices { add(right.firstFetches[key], to: &left.firstFetches[key]) }
        add(right.keyNotFetched, to: &left.keyNotFetched)
        add(right.keyExpired, to: &left.keyExpired)
        add(right.deviceUnseen, to: &left.deviceUnseen)
    }
}
