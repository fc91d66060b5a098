/// Moments at even intervals, without beginning or end. All times are seconds of the simulation.
struct EvenMoments {
    var phase: Int64
    /// At least 1.
    var interval: Int64

    func last(before time: Int64) -> Int64 {
        phase + Self.quotient(time - 1 - phase, interval) * interval
    }

    func first(from time: Int64) -> Int64 { last(before: time) + interval }

    func count(in range: Range<Int64>) -> Int {
        guard !range.isEmpty else { return 0 }
        let (end, start) = (range.upperBound - 1 - phase, range.lowerBound - 1 - phase)
        return Int(Self.quotient(end, interval) - Self.quotient(start, interval))
    }

    /// Rounded down, also below 0.
    private static func quotient(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        dividend >= 0 ? dividend / divisor : (dividend + 1) / divisor - 1
    }
}

/// One device of a fleet: when it would fetch, when it's offline, when pushes are sealed for it.
struct SimulatedDevice {
    /// When it would fetch; those that fall into a time offline don't come about.
    var fetches = EvenMoments(phase: 0, interval: 1)
    var pushes = EvenMoments(phase: 0, interval: 1)
    /// In order and apart. Offline a device neither fetches nor receives.
    var offline = [Range<Int64>]()

    /// Becomes the device of that number: one value serves for a whole fleet, so that memory stays flat.
    mutating func become(
        _ number: Int, seed: UInt64, _ distributions: FleetDistributions, over period: Range<Int64>
    ) {
        var generator = FleetGenerator(seed: seed, device: number)
        let interval = distributions.fetchInterval(&generator)
        fetches = EvenMoments(phase: generator.integer(below: interval), interval: interval)
        let pushInterval = distributions.pushIntervalInSeconds
        pushes = EvenMoments(phase: generator.integer(below: pushInterval), interval: pushInterval)
        distributions.draw(&generator, over: period, into: &offline)
    }

    /// The last fetch that came about before `time`.
    func lastFetch(before time: Int64) -> Int64 {
        var fetch = fetches.last(before: time)
        for absence in offline.reversed() where absence.contains(fetch) {
            fetch = fetches.last(before: absence.lowerBound)
        }
        return fetch
    }

    /// The first fetch that comes about at `time` or later. One that was due offline is not made up for on return.
    func firstFetch(from time: Int64) -> Int64 {
        var fetch = fetches.first(from: time)
        for absence in offline where absence.contains(fetch) {
            fetch = fetches.first(from: absence.upperBound)
        }
        return fetch
    }
}
