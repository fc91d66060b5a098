import Dispatch
import Foundation
import PushCryptPrimitives
import PushCryptSender
import Testing

/// A thread that seals. It begins a turn at regular intervals, in which the test rotates keys, and continues meanwhile. It
/// waits only if the previous turn hasn't ended.
final class SealingWorker: Sendable {
    private let count: Int
    private let stride: Int
    private let seal: @Sendable (Int) throws -> SealedPush
    private let turns = DispatchSemaphore(value: 0)
    private let endedTurns = DispatchSemaphore(value: 0)
    private let result = Locked<Result<[SealedPush], any Error>?>(nil)
    private let end = DispatchSemaphore(value: 0)

    init(count: Int, pauses: Int, seal: @escaping @Sendable (Int) throws -> SealedPush) {
        self.count = count
        stride = count / pauses
        self.seal = seal
        endedTurns.signal()
    }

    func start() {
        Thread { [self] in
            let pushes = Result { try (0..<count).map(step) }
            result.withLock { $0 = pushes }
            end.signal()
        }.start()
    }

    private func step(_ index: Int) throws -> SealedPush {
        if index.isMultiple(of: stride) {
            turns.signal()
            try #require(endedTurns.wait(timeout: .now() + 120) == .success, "the test doesn't end the turn")
        }
        return try seal(index)
    }

    func waitForTurn() throws {
        try #require(turns.wait(timeout: .now() + 120) == .success, "the thread doesn't reach its next turn")
    }

    func endTurn() { endedTurns.signal() }

    func finish() throws -> [SealedPush] {
        try #require(end.wait(timeout: .now() + 120) == .success, "the thread doesn't end")
        return try #require(result.withLock { $0 }).get()
    }
}
