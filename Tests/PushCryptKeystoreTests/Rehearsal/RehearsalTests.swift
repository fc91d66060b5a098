import PushCryptCore
import Testing

@testable import PushCryptKeystore

@Suite("Rehearsal") struct RehearsalTests {
    @Test(
        "a rehearsal has the same counts as a simulation of every push",
        arguments: [(40, 5), (40, 0), (40, 30), (40, 39), (7, 2), (1, 0)], [0.0, 0.3, 0.9])
    func naive(_ days: (rotateEvery: Int64, lead: Int64), _ offline: Double) async throws {
        let rotation = RehearsedRotation.days(days.rotateEvery, lead: days.lead)
        let fleet = try Fleet.small(devices: 120, offline: offline)
        let tally = await Rehearsal(fleet, rotation).run(workers: 2)
        let naive = NaiveRehearsal(fleet, rotation)
        #expect(tally.pushes == naive.pushes)
        #expect(tally.pushLeads.longestInSeconds == naive.neededLeads.max() ?? 0)
        for hours in [0, 1, 100, 500, 720] {
            #expect(
                tally.pushLeads.count(above: hours) == naive.neededLeads.count { $0 > Int64(hours) * hour }, "\(hours)")
        }
    }

    @Test("the result doesn't depend on the number of workers, but on the seed", arguments: [2, 3, 7, 300, 1_000])
    func workers(_ workers: Int) async throws {
        let rotation = RehearsedRotation.days(40, lead: 5)
        let one = await Rehearsal(try .small(), rotation).run(workers: 1)
        #expect(await Rehearsal(try .small(), rotation).run(workers: workers) == one)
        #expect(await Rehearsal(try .small(seed: 2), rotation).run(workers: workers) != one)
        #expect(one.pushes.keyNotFetched > 0 && one.pushes.deviceUnseen > 0 && one.pushes.lostToAPNs > 0)
    }

    @Test("the histograms of one pass give the losses and the holders of other leads", arguments: [0, 1, 7, 14, 30])
    func comparison(_ days: Int64) async throws {
        let tally = await Rehearsal(try .small(), .days(60, lead: 7)).run(workers: 2)
        let other = await Rehearsal(try .small(), .days(60, lead: days)).run(workers: 2)
        #expect(other.pushes.keyNotFetched == tally.pushLeads.count(above: Int(days) * 24))
        #expect(other.holders == tally.deviceLeads.count(within: Int(days) * 24))
        #expect(tally.deviceLeads.count == 900)
    }

    @Test("the longest needed lead loses no push, and a second less does", arguments: 1...4 as ClosedRange<UInt64>)
    func smallest(_ seed: UInt64) async throws {
        let fleet = try Fleet.small(seed: seed)
        var rotation = RehearsedRotation.days(60, lead: 7)
        let tally = await Rehearsal(fleet, rotation).run(workers: 2)
        #expect(tally.pushes.keyNotFetched > 0)
        rotation.publishLeadInSeconds = tally.pushLeads.longestInSeconds
        let none = await Rehearsal(fleet, rotation).run(workers: 2)
        #expect(none.pushes.keyNotFetched == 0 && none.pushLeads == tally.pushLeads)
        rotation.publishLeadInSeconds -= 1
        #expect(await Rehearsal(fleet, rotation).run(workers: 2).pushes.keyNotFetched > 0)
    }

    @Test("a lead of 30 days loses no push to the policy", arguments: 1...3 as ClosedRange<UInt64>)
    func safe(_ seed: UInt64) async throws {
        let fleet = try Fleet.small(devices: 1_000, p99: 200 * day, offline: 0.5, seed: seed)
        let pushes = await Rehearsal(fleet, .days(60, lead: 30)).run(workers: 2).pushes
        #expect(pushes.keyNotFetched == 0 && pushes.deviceUnseen > 0 && pushes.lostToAPNs > 0)
    }
}

@Suite("RehearsalOutcome") struct RehearsalOutcomeTests {
    @Test func `devices that fetch every few hours and are never offline need a lead of hours`() async throws {
        let fleet = try Fleet.small(devices: 2_000, p50: hour, p99: 2 * hour, offline: 0)
        let outcome = await RehearsalOutcome(fleet, .standard, workers: 2)
        #expect(outcome.tally.pushes.opened == outcome.tally.pushes.sent)
        #expect((hour...4 * hour).contains(outcome.tally.pushLeads.longestInSeconds))
        #expect(outcome.tally.holders == 6_000)
        let slow = try Fleet.small(devices: 2_000, p50: 6 * hour, p99: 20 * day, offline: 0)
        #expect(await RehearsalOutcome(slow, .standard, workers: 2).tally.pushes.keyNotFetched > 0)
    }

    @Test("a required coverage makes the lead the whole hours until it", arguments: ["50", "90", "99", "100"])
    func coverage(_ required: String) async throws {
        let fleet = try Fleet.small()
        let outcome = await RehearsalOutcome(fleet, try .rehearsed(60, lead: 0, coverage: required), workers: 2)
        let waited = outcome.leadInSeconds
        let coverage = try #require(RotationPolicy.Coverage(required))
        let plain = await RehearsalOutcome(fleet, try .rehearsed(60, lead: 0), workers: 2).tally
        #expect(waited > 0 && waited <= 30 * day && waited % hour == 0)
        let seen = plain.deviceLeads.count(within: 720)
        #expect(coverage.isMet(holding: outcome.tally.holders, seen: seen))
        #expect(!coverage.isMet(holding: plain.deviceLeads.count(within: Int(waited / hour) - 1), seen: seen))
        #expect(outcome.tally.pushes.keyNotFetched < plain.pushes.keyNotFetched)
    }

    @Test func `a lead that is longer than the time until the coverage is kept`() async throws {
        let outcome = await RehearsalOutcome(try .small(), try .rehearsed(60, lead: 29, coverage: "50"), workers: 2)
        #expect(outcome.leadInSeconds == 29 * day)
    }
}

/// Tests with one device. Keys begin to seal on days 40, 80 and 120, the last one until day 160. A push arrives every day
/// at midnight.
@Suite("RehearsalPass") struct RehearsalPassTests {
    private func tally(_ device: RehearsedDevice, lead: Int64) -> RehearsalTally {
        var pass = RehearsalPass(RehearsedRotation(rotateEveryInSeconds: 40 * day, publishLeadInSeconds: lead))
        pass.add(device)
        return pass.tally
    }

    /// Fetches at midnight of days 36, 72, 108 and 144. The push of the same second arrives before the fetch.
    private static let slow = RehearsedDevice(
        fetches: EvenMoments(phase: 0, interval: 36 * day), pushes: EvenMoments(phase: 0, interval: day))

    @Test func `pushes are lost until the fetch after the activation, and counted apart after 30 days`() {
        let pushes = tally(Self.slow, lead: 3 * day).pushes
        #expect(pushes.sent == 120)
        // Days 40 to 66, 80 to 102, 120 to 138.
        #expect(pushes.keyNotFetched == 27 + 23 + 19)
        // Days 67 to 72, 103 to 108, 139 to 144.
        #expect(pushes.deviceUnseen == 18)
        #expect(pushes.opened == 120 - 69 - 18)
    }

    @Test(
        "a key is fetched if its lead reaches back to the second of the fetch",
        arguments: [(4, 4 * day, 42), (8, 8 * day, 19), (12, 12 * day, 0)])
    func lead(_ days: Int64, _ lead: Int64, _ lost: Int) {
        let enough = tally(Self.slow, lead: lead)
        #expect(enough.pushes.keyNotFetched == lost)
        #expect(enough.pushLeads.longestInSeconds == 12 * day)
        #expect(tally(Self.slow, lead: lead - 1).pushes.keyNotFetched > lost)
    }

    /// A device that fetches daily at 1 o'clock and is offline from `start` to day 100.
    private func absent(from start: Int64) -> RehearsedDevice {
        RehearsedDevice(
            fetches: EvenMoments(phase: hour, interval: day), pushes: EvenMoments(phase: 0, interval: day),
            offline: [start..<100 * day])
    }

    @Test func `APNs stores a push for exactly 30 days`() {
        #expect(tally(absent(from: 70 * day), lead: 30 * day).pushes.lostToAPNs == 0)
        let longer = tally(absent(from: 70 * day - 1), lead: 30 * day)
        #expect(longer.pushes.lostToAPNs == 0 && longer.pushes.keyNotFetched == 0)
        #expect(tally(absent(from: 69 * day), lead: 30 * day).pushes.lostToAPNs == 1)
    }

    @Test func `when a device returns, it receives the stored pushes before its first fetch`() {
        // The last fetch is on day 69 at 1 o'clock, and the key of day 80 is published later. The pushes of days 80 to 99
        // are stored, and that of day 100 arrives when the device returns.
        let tally = tally(absent(from: 70 * day), lead: 7 * day)
        // 30 days and 23 hours without a fetch.
        #expect(tally.pushes.keyNotFetched == 0 && tally.pushes.deviceUnseen == 21)
        let nearer = self.tally(absent(from: 75 * day), lead: day)
        #expect(nearer.pushes.keyNotFetched == 21 && nearer.pushes.deviceUnseen == 0)
        #expect(nearer.pushLeads.longestInSeconds == 6 * day - hour)
    }

    @Test func `a fetch that was due during an absence is skipped`() {
        var device = Self.slow
        device.offline = [71 * day..<73 * day]
        #expect(device.lastFetch(before: 80 * day) == 36 * day)
        #expect(device.firstFetch(from: 40 * day) == 108 * day)
        device.offline = [71 * day..<72 * day]
        #expect(device.firstFetch(from: 40 * day) == 72 * day)
    }
}

/// A simulation of every fetch and every push, as ``Rehearsal`` defines them.
struct NaiveRehearsal {
    private(set) var pushes = PushCounts()
    /// The needed lead of each push that needs one.
    private(set) var neededLeads = [Int64]()

    init(_ fleet: Fleet, _ rotation: RehearsedRotation) {
        let distributions = FleetDistributions(fleet)
        var device = RehearsedDevice()
        for number in 0..<fleet.devices {
            device.become(number, seed: fleet.seed, distributions, over: rotation.simulated)
            add(device, rotation)
        }
    }

    private mutating func add(_ device: RehearsedDevice, _ rotation: RehearsedRotation) {
        let period = rotation.simulated.lowerBound - 400 * day..<rotation.simulated.upperBound
        let fetches = Self.list(device.fetches, period).filter { fetch in
            !device.offline.contains { $0.contains(fetch) }
        }
        var next = 0
        // `next` never decreases: a later push doesn't arrive before an earlier one.
        for sealed in Self.list(device.pushes, rotation.measured) {
            pushes.sent += 1
            let arrival = device.offline.first { $0.contains(sealed) }?.upperBound ?? sealed
            while next < fetches.count, fetches[next] < arrival { next += 1 }
            classify(sealed, arrival, lastFetch: next > 0 ? fetches[next - 1] : .min / 2, rotation)
        }
    }

    private mutating func classify(_ sealed: Int64, _ arrival: Int64, lastFetch: Int64, _ rotation: RehearsedRotation) {
        let key = Int(sealed / rotation.rotateEveryInSeconds)
        guard arrival - sealed <= 30 * day else {
            pushes.lostToAPNs += 1
            return
        }
        let isSeen = arrival - lastFetch <= 30 * day
        let needed = rotation.activation(key) - lastFetch
        if needed > 0, isSeen { neededLeads.append(needed) }
        if needed > rotation.publishLeadInSeconds {
            if isSeen { pushes.keyNotFetched += 1 } else { pushes.deviceUnseen += 1 }
        }
    }

    private static func list(_ moments: EvenMoments, _ period: Range<Int64>) -> [Int64] {
        let skipped = (period.lowerBound - moments.phase) / moments.interval - 1
        let start = moments.phase + skipped * moments.interval
        return stride(from: start, to: period.upperBound, by: Int(moments.interval)).filter(period.contains)
    }
}

let hour: Int64 = 3_600
let day: Int64 = 86_400

extension Fleet {
    /// A small fleet. Half of the devices fetch at least daily, 99 of 100 at least every 20 days; 30 % are offline.
    static func small(
        devices: Int = 300, p50: Int64 = day, p99: Int64 = 20 * day, offline: Double = 0.3, seed: UInt64 = 1
    ) throws -> Fleet {
        try Fleet(devices: devices, refreshP50InSeconds: p50, refreshP99InSeconds: p99, offline: offline, seed: seed)
    }
}

extension RehearsedRotation {
    static func days(_ rotateEvery: Int64, lead: Int64) -> RehearsedRotation {
        RehearsedRotation(rotateEveryInSeconds: rotateEvery * day, publishLeadInSeconds: lead * day)
    }
}

extension RotationPolicy {
    static func rehearsed(_ rotateEvery: Int64, lead: Int64, coverage: String? = nil) throws -> RotationPolicy {
        try RotationPolicy(
            rotateEveryInSeconds: rotateEvery * day, publishLeadInSeconds: lead * day, overlapInSeconds: 30 * day,
            keep: 2, requiredCoverage: coverage.flatMap { Coverage($0) })
    }
}
