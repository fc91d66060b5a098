import PushCryptCore
import Testing

@testable import PushCryptKeystore

@Suite("RehearsalOutcome")
struct RehearsalOutcomeTests {
    @Test(
        "the smallest lead and overlap lose no push, and one second less loses some",
        arguments: 1...6 as ClosedRange<UInt64>)
    func smallest(_ seed: UInt64) async throws {
        let outcome = await RehearsalOutcome(try .small(seed: seed), try .rehearsed(60, lead: 7), workers: 2)
        #expect(outcome.tally.pushes.lostToPolicy > 0)
        #expect(outcome.proof.lost == 0)
        #expect(try #require(outcome.proof.lostWithShorterLead) > 0)
        #expect(try #require(outcome.proof.lostWithShorterOverlap) > 0)
        #expect((20 * day...30 * day).contains(outcome.smallestLeadInSeconds))
        #expect((20 * day...30 * day).contains(outcome.smallestOverlapInSeconds))
    }

    @Test("the smallest lead and overlap don't depend on the rehearsed lead", arguments: [0, 1, 7, 30, 59])
    func anyLead(_ lead: Int64) async throws {
        let fleet = try Fleet.small()
        let (seven, other) = (
            await RehearsalOutcome(fleet, try .rehearsed(60, lead: 7), workers: 2),
            await RehearsalOutcome(fleet, try .rehearsed(60, lead: lead), workers: 2)
        )
        #expect(other.smallestLeadInSeconds == seven.smallestLeadInSeconds)
        #expect(other.smallestOverlapInSeconds == seven.smallestOverlapInSeconds)
        #expect(other.proof == seven.proof)
        #expect((other.tally.pushes.lostToPolicy == 0) == (lead >= 30))
    }

    @Test("devices that fetch every few hours and are never offline need a lead of hours and no overlap")
    func eager() async throws {
        let fleet = try Fleet.small(devices: 2_000, p50: hour, p99: 2 * hour, offline: 0, pushesPerDay: 48)
        let outcome = await RehearsalOutcome(fleet, .standard, workers: 2)
        #expect(outcome.tally.pushes.opened == outcome.tally.pushes.sent)
        #expect((hour...4 * hour).contains(outcome.smallestLeadInSeconds))
        #expect(outcome.smallestOverlapInSeconds == 0)
        #expect(outcome.proof.lostWithShorterOverlap == nil)
        #expect(outcome.tally.heldAtActivation == 6_000 && outcome.tally.seenAtActivation == 6_000)
    }

    @Test("a fleet loses pushes if its p99 is above the lead, and none if all its devices are below it")
    func lead() async throws {
        let fleet = try Fleet.small(devices: 2_000, p50: 6 * hour, p99: 20 * day, offline: 0)
        #expect(await RehearsalOutcome(fleet, .standard, workers: 2).tally.pushes.keyNotFetched > 0)
        let quick = try Fleet.small(devices: 2_000, p50: 6 * hour, p99: 12 * hour, offline: 0)
        #expect(await RehearsalOutcome(quick, .standard, workers: 2).tally.pushes.lostToPolicy == 0)
    }

    @Test("a policy with overlap 0 loses no push to expiry, because the protocol sets a minimum")
    func floor() async throws {
        let policy = try RotationPolicy(
            rotateEveryInSeconds: 10 * day, publishLeadInSeconds: day, overlapInSeconds: 0, keep: 1)
        let outcome = await RehearsalOutcome(try .small(), policy, workers: 2)
        #expect(outcome.tally.pushes.keyExpired == 0)
        #expect(outcome.smallestOverlapInSeconds > 0)
    }

    @Test(
        "if the policy requires coverage, the lead includes the whole hours until the coverage",
        arguments: ["50", "90", "99", "100"])
    func coverage(_ required: String) async throws {
        let fleet = try Fleet.small()
        let outcome = await RehearsalOutcome(fleet, try .rehearsed(60, lead: 0, coverage: required), workers: 2)
        let waited = outcome.rotation.publishLeadInSeconds
        let coverage = try #require(RotationPolicy.Coverage(required))
        let plain = await RehearsalOutcome(fleet, try .rehearsed(60, lead: 0), workers: 2)
        #expect(waited > 0 && waited <= 30 * day && waited % hour == 0)
        let fetches = plain.tally.firstFetches
        let seen = fetches.count(within: 720)
        #expect(coverage.isMet(holding: fetches.count(within: Int(waited / hour)), seen: seen))
        #expect(!coverage.isMet(holding: fetches.count(within: Int(waited / hour) - 1), seen: seen))
        #expect(outcome.tally.pushes.lostToPolicy < plain.tally.pushes.lostToPolicy)
    }

    @Test("a lead that is longer than the time until the coverage is kept")
    func longLead() async throws {
        let outcome = await RehearsalOutcome(try .small(), try .rehearsed(60, lead: 29, coverage: "50"), workers: 2)
        #expect(outcome.rotation == RehearsedRotation(try .rehearsed(60, lead: 29)))
    }
}
