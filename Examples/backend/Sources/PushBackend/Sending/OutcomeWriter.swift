import Logging

/// Writes how attempts ended, many in one transaction. While the database is locked or the disk is full, the attempts that have
/// ended wait here, so no new ones are started in their place.
actor OutcomeWriter {
    private let store: any PushStore
    private let backoff: Backoff
    private let milliseconds: @Sendable () -> Int64
    private let sleep: @Sendable (Int64) async throws -> Void
    private let logger: Logger
    private var waiting: [(outcome: DeliveryOutcome, done: CheckedContinuation<Void, Never>)] = []
    private var isWriting = false
    private var isGivenUp = false
    private var pause: Task<Void, any Error>?

    /// - Parameter sleep: waits for a number of milliseconds.
    init(
        store: any PushStore, backoff: Backoff, milliseconds: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Int64) async throws -> Void, logger: Logger
    ) {
        self.store = store
        self.backoff = backoff
        self.milliseconds = milliseconds
        self.sleep = sleep
        self.logger = logger
    }

    /// Returns when the outcome is on the disk, or if the task was cancelled and the outcome can't be stored.
    func write(_ outcome: DeliveryOutcome) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { done in
                waiting.append((outcome, done))
                guard !isWriting else { return }
                isWriting = true
                Task { await writeAll() }
            }
        } onCancel: {
            Task { await giveUp() }
        }
    }

    private func giveUp() {
        isGivenUp = true
        pause?.cancel()
    }

    private func writeAll() async {
        while !waiting.isEmpty {
            let batch = waiting
            waiting = []
            await write(batch.map(\.outcome))
            for (_, done) in batch { done.resume() }
        }
        isWriting = false
    }

    private func write(_ outcomes: [DeliveryOutcome]) async {
        var failures = 0
        while true {
            do { return try await store.record(outcomes, at: milliseconds()) } catch {
                failures += 1
                logger.warning(
                    "outcomes can't be stored yet", metadata: ["count": "\(outcomes.count)", "reason": "\(error)"])
                // The process has to end: the deliveries will be attempted again, with the same ids.
                guard !isGivenUp else { return }
                let wait = backoff.wait(afterFailures: failures)
                let pause = Task { [sleep] in try await sleep(wait) }
                self.pause = pause
                guard (try? await pause.value) != nil else { return }
            }
        }
    }
}
