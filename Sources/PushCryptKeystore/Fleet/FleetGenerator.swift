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
