import Dispatch
import PushCryptPrimitives
import Testing

@testable import PushCryptSender

/// The outcomes of a watcher's checks.
final class Outcomes: Sendable {
    typealias Outcome = KeysetReloader.Outcome

    private let outcomes = Locked<[Outcome]>([])
    private let arrival = DispatchSemaphore(value: 0)

    func add(_ outcome: Outcome) {
        outcomes.withLock { $0.append(outcome) }
        arrival.signal()
    }

    var all: [Outcome] { outcomes.withLock { $0 } }

    /// Waits for that outcome, at most a minute.
    func wait(for wanted: Outcome, _ location: SourceLocation = #_sourceLocation) throws {
        try wait(location) { $0.contains(wanted) }
    }

    func wait(forCount count: Int, _ location: SourceLocation = #_sourceLocation) throws {
        try wait(location) { $0.count >= count }
    }

    private func wait(_ location: SourceLocation, until isEnough: ([Outcome]) -> Bool) throws {
        let deadline = DispatchTime.now() + 60
        while !isEnough(all) {
            try #require(
                arrival.wait(timeout: deadline) == .success, "the watcher saw \(all)", sourceLocation: location)
        }
    }
}
