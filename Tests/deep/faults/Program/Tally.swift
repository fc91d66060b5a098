/// What went wrong, and how often OpenSSL failed.
struct Tally {
    private(set) var failures = 0
    private(set) var refusals = 0
    private(set) var unexplained = 0
    private(set) var successes = 0
    /// Failures after which the operation never works again in its process.
    private(set) var unrecovered = 0
    private(set) var flaws: [String] = []

    mutating func add(_ outcome: Outcome, _ place: String, mayBeRight: Bool = true, mayBlameInput: Bool = false) {
        failures += 1
        switch outcome {
        case .backendFailure: refusals += 1
        case .right:
            successes += 1
            if !mayBeRight { flaws.append("\(place): it succeeded") }
        case .wrong: flaws.append("\(place): a wrong result")
        case .misleading where mayBlameInput: unexplained += 1
        case .misleading(let error): flaws.append("\(place): \(error)")
        }
    }

    /// Expects that a call failed if the operation needs it: a sweep of nothing would find no flaw.
    mutating func require(_ need: Operation.Need, of operation: Operation) {
        if failures == 0, operation.needs.contains(need) { flaw("\(operation.name): no call failed") }
    }

    mutating func unrecovered(_ count: Int) { unrecovered += count }

    mutating func flaw(_ text: String) { flaws.append(text) }

    var counts: String {
        "\(failures) failures: \(refusals) refused, \(unexplained) refused without a reason, \(successes) right"
            + (unrecovered > 0 ? "; OpenSSL didn't recover from \(unrecovered)" : "")
    }

    mutating func add(_ other: Tally) {
        failures += other.failures
        refusals += other.refusals
        unexplained += other.unexplained
        successes += other.successes
        unrecovered += other.unrecovered
        flaws += other.flaws
    }
}
