/// Simulates a year of a fleet whose devices have keys of days (PROTOCOL section 14), with the devices of ``Rehearsal``: 3 pushes a day
/// for each, and absences of 1 to 60 days. A fetch stands for a run of the app that uploads the keys of the days ahead.
///
/// ```
/// last-resort   the keys of the last upload don't reach the day of the push
/// expired       the device was offline for longer than the flight, so that the push ended on its way
/// ```
/// Clocks are right, so no key is erased before its pushes have expired.
package struct DayKeyRehearsal: Sendable {
    /// What a device publishes; all in seconds.
    package struct Period: Hashable, Sendable {
        /// How long a key seals, and for how long keys are published; nil for one key pair.
        package let key: Int64?
        package let ahead: Int64
        package let flight: Int64

        package init(key: Int64?, ahead: Int64, flight: Int64) {
            (self.key, self.ahead, self.flight) = (key, ahead, flight)
        }
    }

    package struct Counts: Hashable, Sendable {
        package var sent = 0
        package var lastResort = 0
        package var expired = 0

        static func += (left: inout Self, right: Self) {
            left.sent += right.sent
            left.lastResort += right.lastResort
            left.expired += right.expired
        }
    }

    private let fleet: Fleet
    private let period: Period
    private static let day: Int64 = 86_400
    private static let year = 0..<365 * day

    package init(_ fleet: Fleet, _ period: Period) { (self.fleet, self.period) = (fleet, period) }

    /// - Parameter workers: the number of parallel tasks. It doesn't affect the result.
    package func run(workers: Int) async -> Counts {
        await fleet.sum(Counts(), workers: workers, of: run) { $0 += $1 }
    }

    private func run(_ devices: Range<Int>) -> Counts {
        let distributions = FleetDistributions(fleet)
        var (counts, device) = (Counts(), RehearsedDevice())
        for number in devices {
            device.become(
                number, seed: fleet.seed, distributions, over: -60 * Self.day..<Self.year.upperBound + 60 * Self.day)
            add(device, to: &counts)
        }
        return counts
    }

    private func add(_ device: RehearsedDevice, to counts: inout Counts) {
        counts.sent += device.pushes.count(in: Self.year)
        for absence in device.offline {
            let arriving = max(absence.lowerBound, absence.upperBound - period.flight)
            counts.expired += device.pushes.count(in: (absence.lowerBound..<arriving).clamped(to: Self.year))
        }
        guard period.key != nil else { return }
        // Runs that are less than the days ahead apart leave no gap, except over an absence.
        var last = device.lastFetch(before: Self.year.lowerBound)
        while last < Self.year.upperBound {
            let next: Int64
            if device.fetches.interval >= period.ahead - Self.day {
                next = device.firstFetch(from: last + 1)
            } else if let absence = device.offline.first(where: { $0.lowerBound > last }) {
                last = device.lastFetch(before: absence.lowerBound)
                next = device.firstFetch(from: absence.upperBound)
            } else {
                return
            }
            let end = EvenMoments(phase: 0, interval: Self.day).last(before: last + 1) + period.ahead
            if end < next {
                counts.lastResort += device.pushes.count(in: (max(end, last)..<next).clamped(to: Self.year))
            }
            last = next
        }
    }
}
