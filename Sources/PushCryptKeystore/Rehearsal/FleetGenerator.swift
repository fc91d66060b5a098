import PushCryptPrimitives

/// The dice of a simulation, a stream of its own for every device; never for keys.
///
/// ```
/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014)
/// state += 0x9e3779b97f4a7c15;  output = mix(state)
/// ```
/// The streams begin at `mix(mix(seed) + device * gamma)`. Without the outer mix one device's stream would be the next
/// one's, shifted by a number.
struct FleetGenerator {
    private var state: UInt64
    private static let gamma: UInt64 = 0x9e37_79b9_7f4a_7c15

    init(state: UInt64) {
        self.state = state
    }

    init(seed: UInt64, device: Int) {
        self.init(state: Self.mix(Self.mix(seed) &+ UInt64(truncatingIfNeeded: device) &* Self.gamma))
    }

    mutating func next() -> UInt64 {
        state &+= Self.gamma
        return Self.mix(state)
    }

    /// 0..<1, in steps of 2^-53.
    mutating func uniform() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// 0..<bound. Its bias is below bound / 2^64.
    mutating func integer(below bound: Int64) -> Int64 {
        Int64(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// Of mean 0 and variance 1: the first of the two that Box and Muller's transform makes.
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - uniform())).squareRoot()
        return radius * cos(2 * .pi * uniform())
    }

    mutating func exponential(mean: Double) -> Double {
        -mean * log(1 - uniform())
    }

    private static func mix(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// What the devices of a fleet are drawn from.
struct FleetDistributions: Sendable {
    private let logarithmOfMedian: Double
    private let sigma: Double
    private let offline: Double
    private let meanOnlineInSeconds: Double
    /// Of every device: pushes come at even intervals.
    let pushIntervalInSeconds: Int64

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
        pushIntervalInSeconds = Int64((86_400 / fleet.pushesPerDay).rounded())
    }

    /// Between two fetches of one device, in seconds: log-normal over the devices.
    func fetchInterval(_ generator: inout FleetGenerator) -> Int64 {
        let drawn = exp(logarithmOfMedian + sigma * generator.normal())
        return Int64(min(max(drawn, 1), Double(Fleet.longestInSeconds)).rounded())
    }

    /// The times in `period` and across its beginning at which a device is offline.
    ///
    /// Times offline are log-uniform from 1 to 60 days, those between them exponential, with the mean that makes the
    /// share right. The device is met in the middle of it: of the time offline that covers a given moment the length is
    /// drawn with weight = length, which makes a log-uniform one uniform; of an exponential time any rest is
    /// exponential again.
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
            // A second at least, so that two times offline are two.
            start += length + 1 + generator.exponential(mean: meanOnlineInSeconds)
            length = offlineLength(&generator)
        }
    }

    private func offlineLength(_ generator: inout FleetGenerator) -> Double {
        Self.shortestOffline * pow(Self.longestOffline / Self.shortestOffline, generator.uniform())
    }
}
