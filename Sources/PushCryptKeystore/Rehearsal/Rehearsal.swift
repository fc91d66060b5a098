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
/// to the lead no fetch from activation(key) - publishLead to arrival, and one in the 30 days before arrival
/// to absence  no fetch from activation(key) - publishLead to arrival, nor in the 30 days before arrival
/// ```
/// tested in this order. Only the second is lost to the policy. Absence is counted separately: `keys coverage` reports these
/// devices as not seen, and they may never return. No push is lost to expiry: a key opens for more than 30 days after it
/// retires (PROTOCOL section 9), and APNs stores a push for 30.
///
/// **Smallest lead without loss.** A push needs a lead of activation(key) - last fetch before it. That doesn't depend on the
/// rehearsed lead, so the longest need of one pass is exactly the smallest lead without loss in this fleet. With 30 days, no
/// fleet loses any.
package struct Rehearsal: Sendable {
    private let fleet: Fleet
    private let rotation: RehearsedRotation

    package init(_ fleet: Fleet, _ rotation: RehearsedRotation) {
        self.fleet = fleet
        self.rotation = rotation
    }

    /// - Parameter workers: the number of parallel tasks. It doesn't affect the result.
    package func run(workers: Int) async -> RehearsalTally {
        await fleet.sum(RehearsalTally(), workers: workers, of: run) { $0 += $1 }
    }

    private func run(_ devices: Range<Int>) -> RehearsalTally {
        let distributions = FleetDistributions(fleet)
        var pass = RehearsalPass(rotation)
        var device = RehearsedDevice()
        for number in devices {
            device.become(number, seed: fleet.seed, distributions, over: rotation.simulated)
            pass.add(device)
        }
        return pass.tally
    }
}

/// The times of the keys in a rehearsal. Time 0 is when key 0 begins to seal.
package struct RehearsedRotation: Hashable, Sendable {
    let rotateEveryInSeconds: Int64
    package var publishLeadInSeconds: Int64

    /// The keys whose pushes are counted; key 0 precedes them.
    static let keys = 1...3

    func activation(_ key: Int) -> Int64 { Int64(key) * rotateEveryInSeconds }

    /// The time in which counted pushes are sealed.
    var measured: Range<Int64> { activation(Self.keys.lowerBound)..<activation(Self.keys.upperBound + 1) }

    /// The simulated time. Fetches earlier than both 30 days and the lead before the first push, and events after the
    /// last push, don't affect the result. The time depends only on `rotateEvery`, so that all leads are tried with the
    /// same devices.
    var simulated: Range<Int64> {
        let flight = RotationPolicy.longestFlightInSeconds
        return measured.lowerBound - max(rotateEveryInSeconds, flight)..<measured.upperBound + flight
    }
}
