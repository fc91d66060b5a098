import PushCryptPrimitives

/// An infinite sequence of moments at even intervals, in seconds of the simulation.
struct EvenMoments {
    var phase: Int64
    /// At least 1.
    var interval: Int64

    func last(before time: Int64) -> Int64 { phase + Self.quotient(time - 1 - phase, interval) * interval }

    func first(from time: Int64) -> Int64 { last(before: time) + interval }

    func count(in range: Range<Int64>) -> Int {
        guard !range.isEmpty else { return 0 }
        let (end, start) = (range.upperBound - 1 - phase, range.lowerBound - 1 - phase)
        return Int(Self.quotient(end, interval) - Self.quotient(start, interval))
    }

    /// The quotient rounded down, also for negative dividends.
    private static func quotient(_ dividend: Int64, _ divisor: Int64) -> Int64 {
        dividend >= 0 ? dividend / divisor : (dividend + 1) / divisor - 1
    }
}

/// One device of a fleet, with the times of its fetches, absences and pushes.
struct RehearsedDevice {
    /// The due times of fetches. The device skips those that fall in an absence.
    var fetches = EvenMoments(phase: 0, interval: 1)
    var pushes = EvenMoments(phase: 0, interval: 1)
    /// The absences, sorted and disjoint. An offline device neither fetches nor receives.
    var offline = [Range<Int64>]()

    /// Replaces this device with another one and reuses its memory.
    mutating func become(_ number: Int, seed: UInt64, _ distributions: FleetDistributions, over period: Range<Int64>) {
        var generator = FleetGenerator(seed: seed, device: number)
        let interval = distributions.fetchInterval(&generator)
        fetches = EvenMoments(phase: generator.integer(below: interval), interval: interval)
        let pushInterval = Fleet.pushIntervalInSeconds
        pushes = EvenMoments(phase: generator.integer(below: pushInterval), interval: pushInterval)
        distributions.draw(&generator, over: period, into: &offline)
    }

    func lastFetch(before time: Int64) -> Int64 {
        var fetch = fetches.last(before: time)
        for absence in offline.reversed() where absence.contains(fetch) {
            fetch = fetches.last(before: absence.lowerBound)
        }
        return fetch
    }

    /// The first fetch at `time` or later. A device doesn't fetch when it returns from an absence.
    func firstFetch(from time: Int64) -> Int64 {
        var fetch = fetches.first(from: time)
        for absence in offline where absence.contains(fetch) { fetch = fetches.first(from: absence.upperBound) }
        return fetch
    }
}

/// A random generator with a separate stream for every device. It is not suitable for keys.
///
/// ```
/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014)
/// state += 0x9e3779b97f4a7c15;  output = mix(state)
/// ```
/// The streams begin at `mix(mix(seed) + device * gamma)`. Without the outer mix, two streams would be the same, shifted by
/// one number.
struct FleetGenerator {
    private var state: UInt64
    private static let gamma: UInt64 = 0x9e37_79b9_7f4a_7c15

    init(state: UInt64) { self.state = state }

    init(seed: UInt64, device: Int) {
        self.init(state: Self.mix(Self.mix(seed) &+ UInt64(truncatingIfNeeded: device) &* Self.gamma))
    }

    mutating func next() -> UInt64 {
        state &+= Self.gamma
        return Self.mix(state)
    }

    /// A number in 0..<1, uniform in steps of 2^-53.
    mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A number in 0..<bound, uniform with a bias below bound / 2^64.
    mutating func integer(below bound: Int64) -> Int64 { Int64(next().multipliedFullWidth(by: UInt64(bound)).high) }

    /// A number from the normal distribution with mean 0 and variance 1: the first number of the Box-Muller transform.
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - uniform())).squareRoot()
        return radius * cos(2 * .pi * uniform())
    }

    mutating func exponential(mean: Double) -> Double { -mean * log(1 - uniform()) }

    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

struct FleetDistributions: Sendable {
    private let logarithmOfMedian: Double
    private let sigma: Double
    private let offline: Double
    private let meanOnlineInSeconds: Double

    /// The 99th percentile of the normal distribution.
    private static let z99 = 2.326_347_874_040_841
    private static let shortestOffline = 86_400.0
    private static let longestOffline = 60 * 86_400.0

    init(_ fleet: Fleet) {
        let (p50, p99) = (Double(fleet.refreshP50InSeconds), Double(fleet.refreshP99InSeconds))
        logarithmOfMedian = log(p50)
        sigma = log(p99 / p50) / Self.z99
        offline = fleet.offline
        let meanOffline = (Self.longestOffline - Self.shortestOffline) / log(Self.longestOffline / Self.shortestOffline)
        meanOnlineInSeconds = fleet.offline > 0 ? meanOffline * (1 - fleet.offline) / fleet.offline : .infinity
    }

    /// The time between two fetches of one device, in seconds, log-normal over the devices.
    func fetchInterval(_ generator: inout FleetGenerator) -> Int64 {
        let drawn = exp(logarithmOfMedian + sigma * generator.normal())
        return Int64(min(max(drawn, 1), Double(Fleet.longestInSeconds)).rounded())
    }

    /// Draws the absences that overlap `period`.
    ///
    /// Absences are log-uniform from 1 to 60 days, the times between them exponential with a mean that yields the given
    /// share. `period` begins at a random moment of this process: the length of an absence that covers a given moment is
    /// weighted by the length, which makes the log-uniform distribution uniform; the rest of an exponential time is
    /// exponential.
    func draw(_ generator: inout FleetGenerator, over period: Range<Int64>, into times: inout [Range<Int64>]) {
        times.removeAll(keepingCapacity: true)
        guard offline > 0 else { return }
        var start = Double(period.lowerBound)
        var length: Double
        if generator.uniform() < offline {
            length = Self.shortestOffline + generator.uniform() * (Self.longestOffline - Self.shortestOffline)
            start -= generator.uniform() * length
        } else {
            start += generator.exponential(mean: meanOnlineInSeconds)
            length = offlineLength(&generator)
        }
        while start < Double(period.upperBound) {
            times.append(Int64(start)..<Int64(start + length))
            // At least one second apart, so that the absences stay disjoint.
            start += length + 1 + generator.exponential(mean: meanOnlineInSeconds)
            length = offlineLength(&generator)
        }
    }

    private func offlineLength(_ generator: inout FleetGenerator) -> Double {
        Self.shortestOffline * pow(Self.longestOffline / Self.shortestOffline, generator.uniform())
    }
}
