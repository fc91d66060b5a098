import CPushCryptOpenSSL
import Glibc

/// Makes one call after the other fail, until the operation has no further call.
enum Sweep {
    private static let plans: [@Sendable (Int) -> FaultPlan] = [{ .one($0) }, { .allFrom($0) }]

    /// Allocations of an operation that has run before, so that OpenSSL's caches are filled.
    static func allocations(of operation: Operation) throws -> Tally {
        let run = try operation.prepare()
        var tally = Tally()
        for _ in 0..<2 where Outcome(run) != .right { tally.flaw("\(operation.name): fails without a fault") }
        for plan in plans {
            var number = 1
            while try allocation(plan(number), run, operation, &tally) {
                // A key derivation allocates in each of its iterations, of which a sample fails.
                number += max(1, number / 16)
            }
        }
        tally.require(.memory, of: operation)
        return tally
    }

    /// - Returns: whether the operation has such an allocation.
    private static func allocation(
        _ plan: FaultPlan, _ run: () throws -> Bool, _ operation: Operation, _ tally: inout Tally
    ) throws -> Bool {
        var live: [Int] = []
        var place: String { "\(operation.name), \(plan) (\(FailingAllocator.place))" }
        for attempt in 0..<3 {
            FailingAllocator.plan(plan)
            let outcome = Outcome(run)
            let hasFailed = FailingAllocator.hasFailed
            FailingAllocator.plan(.none)
            guard hasFailed || attempt > 0 else { return false }
            if attempt == 0 { tally.add(outcome, place, mayBlameInput: operation.mayBlameInput) }
            checkErrorQueue(place, &tally)
            // An empty queue still holds the texts of its last errors.
            ERR_clear_error()
            // Without the fault it works again. This also refills a cache that the fault emptied.
            if Outcome(run) != .right { tally.flaw("\(place): it fails without the fault, too") }
            live.append(FailingAllocator.live)
        }
        // A cache is filled once; a block that isn't freed is missing in each attempt.
        if live[2] > live[1] { tally.flaw("\(place): \(live[2] - live[1]) blocks stay") }
        return true
    }

    /// Random bytes: an operation whose source fails must not succeed.
    static func randomness(of operation: Operation) throws -> Tally {
        let run = try operation.prepare()
        var tally = Tally()
        for plan in plans {
            var number = 1
            while true {
                FailingRandom.plan(plan(number))
                let outcome = Outcome(run)
                let hasFailed = FailingRandom.hasFailed
                FailingRandom.plan(.none)
                guard hasFailed else { break }
                let place = "\(operation.name), \(plan(number)) of the random source"
                tally.add(outcome, place, mayBeRight: false)
                checkErrorQueue(place, &tally)
                number += 1
            }
        }
        tally.require(.randomness, of: operation)
        return tally
    }

    private static func checkErrorQueue(_ place: String, _ tally: inout Tally) {
        guard ERR_peek_error() != 0 else { return }
        tally.flaw("\(place): an error stays in OpenSSL's queue")
        ERR_clear_error()
    }
}
