import Testing

@testable import PushCryptKeystore

@Suite("the devices of a fleet")
struct FleetDistributionsTests {
    private static let period = -30 * day..<360 * day

    private func devices(_ fleet: Fleet) -> [SimulatedDevice] {
        let distributions = FleetDistributions(fleet)
        return (0..<fleet.devices).map { number in
            var device = SimulatedDevice()
            device.become(number, seed: fleet.seed, distributions, over: Self.period)
            return device
        }
    }

    @Test("fetch at log-normal intervals", arguments: [(6 * hour, 20 * day), (day, 2 * day), (hour / 60, 100 * day)])
    func intervals(_ p50: Int64, _ p99: Int64) throws {
        let fleet = try Fleet.small(devices: 20_000, p50: p50, p99: p99, offline: 0)
        let intervals = devices(fleet).map(\.fetches.interval)
        let shares = [p50, p99].map { limit in Double(intervals.count { $0 <= limit }) / 20_000 }
        #expect((0.49...0.51).contains(shares[0]))
        #expect((0.988...0.992).contains(shares[1]))
        // One sigma above the median lies 84.13 % of a normal distribution; sigma = ln(p99 / p50) / 2.3263.
        let ratio = Double(p99) / Double(p50)
        let sigma = Double(p50) * power(ratio, 1 / 2.326_347_874)
        #expect((0.831...0.851).contains(Double(intervals.count { Double($0) <= sigma }) / 20_000))
        #expect(intervals.allSatisfy { $0 >= 1 })
    }

    @Test("are offline in the given share at any time", arguments: [0, 0.02, 0.3, 0.9])
    func offline(_ share: Double) throws {
        let devices = devices(try Fleet.small(devices: 20_000, offline: share))
        for time in [Self.period.lowerBound, 0, 100 * day, 359 * day] {
            let count = devices.count { device in device.offline.contains { $0.contains(time) } }
            #expect(abs(Double(count) / 20_000 - share) < 0.012, "\(time)")
        }
    }

    @Test("are offline for 1 to 60 days, one time after the other")
    func lengths() throws {
        let spells = devices(try Fleet.small(devices: 5_000, offline: 0.5)).map(\.offline)
        for device in spells {
            #expect(zip(device, device.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
        // Those that began within the period: the ones across its beginning are longer than most.
        let lengths = spells.joined().filter { $0.lowerBound >= Self.period.lowerBound }.map(\.count)
        #expect(lengths.allSatisfy { (day - 1...60 * day + 1).contains(Int64($0)) })
        let long = Double(lengths.count { $0 > 30 * Int(day) }) / Double(lengths.count)
        #expect((0.16...0.18).contains(long))
    }

    @Test("get their pushes")
    func pushes() throws {
        for pushesPerDay in [0.001, 0.5, 3, 1_440] {
            let devices = devices(try Fleet.small(devices: 2_000, pushesPerDay: pushesPerDay))
            let count = devices.reduce(0) { $0 + $1.pushes.count(in: 0..<100 * day) }
            let expected = 2_000 * 100 * pushesPerDay
            #expect(abs(Double(count) - expected) <= 0.1 * expected + 1)
        }
    }

    /// By halving, because a test needs no library for it.
    private func power(_ base: Double, _ exponent: Double) -> Double {
        var (result, root, rest) = (1.0, base, exponent)
        for _ in 0..<60 {
            root = root.squareRoot()
            rest *= 2
            if rest >= 1 {
                result *= root
                rest -= 1
            }
        }
        return result
    }
}

@Suite("FleetGenerator")
struct FleetGeneratorTests {
    @Test("is SplitMix64: the published numbers of state 0")
    func vector() {
        var generator = FleetGenerator(state: 0)
        #expect(generator.next() == 0xe220_a839_7b1d_cdaf)
        #expect(generator.next() == 0x6e78_9e6a_a1b9_65f4)
        #expect(generator.next() == 0x06c4_5d18_8009_454f)
    }

    @Test("gives every device and seed a stream of its own")
    func streams() {
        var drawn = Set<UInt64>()
        for seed in 0..<10 as Range<UInt64> {
            for device in 0..<100 {
                var generator = FleetGenerator(seed: seed, device: device)
                for _ in 0..<10 { drawn.insert(generator.next()) }
            }
        }
        #expect(drawn.count == 10_000)
    }

    @Test("stays within its bounds")
    func bounds() {
        var generator = FleetGenerator(seed: 7, device: 0)
        for _ in 0..<10_000 {
            #expect((0..<1).contains(generator.uniform()))
            #expect((0..<3).contains(generator.integer(below: 3)))
            #expect(generator.exponential(mean: 2) >= 0)
            #expect(generator.normal().isFinite)
        }
    }
}

@Suite("EvenMoments")
struct EvenMomentsTests {
    @Test(
        "counts of even moments agree with their list",
        arguments: [(0, 1), (0, 7), (6, 7), (3, 10)] as [(Int64, Int64)])
    func list(_ phase: Int64, _ interval: Int64) {
        let moments = EvenMoments(phase: phase, interval: interval)
        let list = stride(from: phase - 100 * interval, through: 1_000, by: Int(interval)).map(\.self)
        for start in -50...50 as ClosedRange<Int64> {
            #expect(moments.last(before: start) == list.last { $0 < start })
            #expect(moments.first(from: start) == list.first { $0 >= start })
            for length in 0...25 as ClosedRange<Int64> {
                let range = start..<start + length
                #expect(moments.count(in: range) == list.count(where: range.contains))
            }
        }
    }
}
