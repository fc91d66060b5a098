import PushCryptCore
import Testing

@testable import PushCryptKeystore

@Suite("Rehearsal")
struct RehearsalTests {
    static let rotations = [
        RehearsedRotation.days(40, lead: 5, overlap: 3), .days(40, lead: 0, overlap: 0),
        .days(40, lead: 30, overlap: 30),
        .days(40, lead: 39, overlap: 40), .days(7, lead: 2, overlap: 5), .days(1, lead: 0, overlap: 1),
    ]

    @Test("a rehearsal has the same counts as a simulation of every push", arguments: rotations, [0.0, 0.3, 0.9])
    func naive(_ rotation: RehearsedRotation, _ offline: Double) async throws {
        let fleet = try Fleet.small(devices: 120, offline: offline)
        let tally = await Rehearsal(fleet, rotation).run(workers: 2)
        let naive = NaiveRehearsal(fleet, rotation)
        #expect(tally.pushes == naive.pushes)
        #expect(tally.lead.longestInSeconds == naive.neededLeads.max() ?? 0)
        #expect(tally.overlap.longestInSeconds == naive.neededOverlaps.max() ?? 0)
        for hours in [0, 1, 100, 500, 720] {
            let seconds = Int64(hours) * hour
            #expect(tally.lead.histogram.count(above: hours) == naive.neededLeads.count { $0 > seconds })
            #expect(tally.overlap.histogram.count(above: hours) == naive.neededOverlaps.count { $0 > seconds })
        }
    }

    @Test("the result doesn't depend on the number of workers", arguments: [1, 2, 3, 7, 300, 1_000])
    func workers(_ workers: Int) async throws {
        let fleet = try Fleet.small()
        let rotation = RehearsedRotation.days(40, lead: 5, overlap: 3)
        let one = await Rehearsal(fleet, rotation).run(workers: 1)
        #expect(await Rehearsal(fleet, rotation).run(workers: workers) == one)
        #expect(one.pushes.keyNotFetched > 0 && one.pushes.keyExpired > 0 && one.pushes.deviceUnseen > 0)
        #expect(one.pushes.lostToAPNs > 0)
    }

    @Test("another seed gives another result")
    func seeds() async throws {
        let rotation = RehearsedRotation.days(40, lead: 5, overlap: 3)
        let first = await Rehearsal(try .small(seed: 1), rotation).run(workers: 2)
        let second = await Rehearsal(try .small(seed: 2), rotation).run(workers: 2)
        #expect(first != second)
    }

    @Test(
        "the histograms of one pass give the losses of other leads and overlaps", arguments: [0, 1, 3, 7, 14, 21, 30])
    func comparison(_ days: Int64) async throws {
        let fleet = try Fleet.small()
        let tally = await Rehearsal(fleet, .days(60, lead: 7, overlap: 31)).run(workers: 2)
        let lead = await Rehearsal(fleet, .days(60, lead: days, overlap: 31)).run(workers: 2)
        #expect(lead.pushes.keyNotFetched == tally.lead.histogram.count(above: Int(days) * 24))
        let overlap = await Rehearsal(fleet, .days(60, lead: 7, overlap: days)).run(workers: 2)
        #expect(overlap.pushes.keyExpired == tally.overlap.histogram.count(above: Int(days) * 24))
    }

    @Test("a lead and an overlap of 30 days lose no push to the policy", arguments: 1...5 as ClosedRange<UInt64>)
    func safe(_ seed: UInt64) async throws {
        let fleet = try Fleet.small(devices: 1_000, p99: 200 * day, offline: 0.5, seed: seed)
        let tally = await Rehearsal(fleet, .days(60, lead: 30, overlap: 30)).run(workers: 2)
        #expect(tally.pushes.lostToPolicy == 0)
        #expect(tally.pushes.deviceUnseen > 0 && tally.pushes.lostToAPNs > 0)
    }

    @Test("the series of a rehearsal adds up to its counts")
    func series() async throws {
        for rotation in Self.rotations {
            let tally = await Rehearsal(try .small(), rotation).run(workers: 2)
            #expect(tally.series.losses(.keyNotFetched).reduce(0, +) == tally.pushes.keyNotFetched)
            #expect(tally.series.losses(.keyExpired).reduce(0, +) == tally.pushes.keyExpired)
            #expect(tally.series.losses(.deviceUnseen).reduce(0, +) == tally.pushes.deviceUnseen)
            #expect(tally.series.firstFetches.count == 3)
            #expect(tally.series.count <= 1_000)
            #expect(tally.series.period.lowerBound <= rotation.publication(1))
            #expect(tally.series.start(tally.series.count) >= tally.series.period.upperBound)
        }
    }

    @Test("no activation is within a group of intervals", arguments: [1, 7, 40, 90, 365])
    func groups(_ rotateEvery: Int64) async throws {
        let rotation = RehearsedRotation.days(rotateEvery, lead: rotateEvery / 3, overlap: 31)
        let series = await Rehearsal(try .small(devices: 1), rotation).run(workers: 1).series
        let drawn = series.widthInSeconds * Int64(RehearsalSeries.group)
        let rest = (rotation.activation(1) - series.period.lowerBound) % drawn
        #expect(rest == 0)
    }
}
