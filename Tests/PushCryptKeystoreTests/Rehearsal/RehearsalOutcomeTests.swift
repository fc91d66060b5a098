import PushCryptCore
import Testing

@testable import PushCryptKeystore

@Suite("RehearsalOutcome")
struct RehearsalOutcomeTests {
    @Test("devices that fetch every few hours and are never offline need a lead of hours")
    func eager() async throws {
        let fleet = try Fleet.small(devices: 2_000, p50: hour, p99: 2 * hour, offline: 0)
        let outcome = await RehearsalOutcome(fleet, .standard, workers: 2)
        #expect(outcome.tally.pushes.opened == outcome.tally.pushes.sent)
        #expect((hour...4 * hour).contains(outcome.tally.pushLeads.longestInSeconds))
        #expect(outcome.tally.holders == 6_000)
        let slow = try Fleet.small(devices: 2_000, p50: 6 * hour, p99: 20 * day, offline: 0)
        #expect(await RehearsalOutcome(slow, .standard, workers: 2).tally.pushes.keyNotFetched > 0)
    }

    @Test(
        "if the policy requires coverage, the lead is the whole hours until the coverage",
        arguments: ["50", "90", "99", "100"])
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

    @Test("a lead that is longer than the time until the coverage is kept")
    func longLead() async throws {
        let outcome = await RehearsalOutcome(try .small(), try .rehearsed(60, lead: 29, coverage: "50"), workers: 2)
        #expect(outcome.leadInSeconds == 29 * day)
    }
}
