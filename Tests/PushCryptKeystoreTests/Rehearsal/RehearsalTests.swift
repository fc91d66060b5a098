import PushCryptCore
import Testing

@testable import PushCryptKeystore

@Suite("Rehearsal")
struct RehearsalTests {
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

    @Test(
        "the longest needed lead loses no push, and one second less loses some", arguments: 1...4 as ClosedRange<UInt64>
    )
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
