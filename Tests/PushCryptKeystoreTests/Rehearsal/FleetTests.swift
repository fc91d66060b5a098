import PushCryptKeysets
import Testing

@testable import PushCryptKeystore

@Suite("Fleet") struct FleetTests {
    @Test(
        "an impossible fleet is refused with its flaw",
        arguments: [
            (0, hour, day, 0.02, "1 to 100,000,000"), (100_000_001, hour, day, 0.02, "1 to 100,000,000"),
            (5, 0, day, 0.02, "at least one second"), (5, day, day, 0.02, "longer than the p50"),
            (5, hour, 36_526 * day, 0.02, "100 years"), (5, hour, day, 0.91, "0 to 90%"),
            (5, hour, day, -0.1, "0 to 90%"), (5, hour, day, .nan, "0 to 90%"),
        ] as [(Int, Int64, Int64, Double, String)])
    func refusals(_ devices: Int, _ p50: Int64, _ p99: Int64, _ offline: Double, _ reason: String) throws {
        let error = #expect(throws: KeystoreError.self) {
            try Fleet.small(devices: devices, p50: p50, p99: p99, offline: offline)
        }
        #expect(error?.code == .invalidFleet)
        #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
    }
}

@Suite("FleetDistributions") struct FleetDistributionsTests {
    private static let period = -30 * day..<360 * day

    private func devices(_ fleet: Fleet) -> [RehearsedDevice] {
        let distributions = FleetDistributions(fleet)
        return (0..<fleet.devices).map { number in
            var device = RehearsedDevice()
            device.become(number, seed: fleet.seed, distributions, over: Self.period)
            return device
        }
    }

    @Test(
        "devices fetch at log-normal intervals with the given p50 and p99",
        arguments: [(6 * hour, 20 * day), (day, 2 * day), (hour / 60, 100 * day)])
    func intervals(_ p50: Int64, _ p99: Int64) throws {
        let fleet = try Fleet.small(devices: 20_000, p50: p50, p99: p99, offline: 0)
        let intervals = devices(fleet).map(\.fetches.interval)
        let shares = [p50, p99].map { limit in Double(intervals.count { $0 <= limit }) / 20_000 }
        #expect((0.49...0.51).contains(shares[0]))
        #expect((0.988...0.992).contains(shares[1]))
        // 84.13 % of a normal distribution lie below one sigma above the median; sigma = ln(p99 / p50) / 2.3263.
        let ratio = Double(p99) / Double(p50)
        let sigma = Double(p50) * power(ratio, 1 / 2.326_347_874)
        #expect((0.831...0.851).contains(Double(intervals.count { Double($0) <= sigma }) / 20_000))
        #expect(intervals.allSatisfy { $0 >= 1 })
    }

    @Test("the given share of the devices is offline at any time", arguments: [0, 0.02, 0.3, 0.9])
    func offline(_ share: Double) throws {
        let devices = devices(try Fleet.small(devices: 20_000, offline: share))
        for time in [Self.period.lowerBound, 0, 100 * day, 359 * day] {
            let count = devices.count { device in device.offline.contains { $0.contains(time) } }
            #expect(abs(Double(count) / 20_000 - share) < 0.012, "\(time)")
        }
    }

    @Test func `absences last 1 to 60 days, don't overlap, and 17 of 100 last longer than 30 days`() throws {
        let absences = devices(try Fleet.small(devices: 5_000, offline: 0.5)).map(\.offline)
        for device in absences {
            #expect(zip(device, device.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
        // Only absences that begin within the period: those across its beginning are longer on average.
        let lengths = absences.joined().filter { $0.lowerBound >= Self.period.lowerBound }.map(\.count)
        #expect(lengths.allSatisfy { (day - 1...60 * day + 1).contains(Int64($0)) })
        let long = Double(lengths.count { $0 > 30 * Int(day) }) / Double(lengths.count)
        #expect((0.16...0.18).contains(long))
    }

    @Test func `devices receive 3 pushes a day, each at its own time`() throws {
        let devices = devices(try Fleet.small(devices: 2_000))
        #expect(devices.allSatisfy { $0.pushes.count(in: 0..<100 * day) == 300 })
        #expect(Set(devices.map(\.pushes.phase)).count > 1_500)
    }

    /// Computes the power with square roots, so that the test needs no mathematics library.
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

@Suite("FleetGenerator") struct FleetGeneratorTests {
    @Test func `the generator yields the published numbers of SplitMix64 for state 0`() {
        var generator = FleetGenerator(state: 0)
        #expect(generator.next() == 0xe220_a839_7b1d_cdaf)
        #expect(generator.next() == 0x6e78_9e6a_a1b9_65f4)
        #expect(generator.next() == 0x06c4_5d18_8009_454f)
    }

    @Test func `every device and seed has a different stream`() {
        var drawn = Set<UInt64>()
        for seed in 0..<10 as Range<UInt64> {
            for device in 0..<100 {
                var generator = FleetGenerator(seed: seed, device: device)
                for _ in 0..<10 { drawn.insert(generator.next()) }
            }
        }
        #expect(drawn.count == 10_000)
    }

    @Test func `random numbers are within their bounds`() {
        var generator = FleetGenerator(seed: 7, device: 0)
        for _ in 0..<10_000 {
            #expect((0..<1).contains(generator.uniform()))
            #expect((0..<3).contains(generator.integer(below: 3)))
            #expect(generator.exponential(mean: 2) >= 0)
            #expect(generator.normal().isFinite)
        }
    }
}

@Suite("EvenMoments") struct EvenMomentsTests {
    @Test("last, first and count agree with a list", arguments: [(0, 1), (0, 7), (6, 7), (3, 10)] as [(Int64, Int64)])
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
