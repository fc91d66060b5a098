import Dispatch
import PushCryptPrimitives
import Testing

@testable import PushCryptSender

/// What a watcher saw, as it tells it.
final class Looks: Sendable {
    typealias Outcome = KeysetReloader.Outcome

    private let outcomes = Locked<[Outcome]>([])
    private let arrival = DispatchSemaphore(value: 0)

    func add(_ outcome: Outcome) {
        outcomes.withLock { $0.append(outcome) }
        arrival.signal()
    }

    var all: [Outcome] { outcomes.withLock { $0 } }

    /// Waits for the watcher to see that; a minute is the end of patience and fails the test.
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
