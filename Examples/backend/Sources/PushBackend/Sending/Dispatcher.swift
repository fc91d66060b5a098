import Logging
import PushCryptSender
import ServiceLifecycle

/// Sends what is due to one of Apple's servers, until the service ends. Then it takes nothing new, and waits until the attempts
/// that run have ended and are stored.
struct Dispatcher: Service {
    /// How many batches are on their way at the same time: a push without an answer delays only its own batch.
    static let laneCount = 4
    static let batchSize = 64
    /// How often a lane without work looks for what has become due, in milliseconds.
    static let tick: Int64 = 200

    let store: SQLiteStore
    let worker: DeliveryWorker
    let sleep: @Sendable (Int64) async throws -> Void
    let logger: Logger

    /// Runs until the graceful shutdown.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            for _ in 0..<Self.laneCount { group.addTask { await runLane() } }
        }
        logger.info("every attempt has ended", metadata: ["environment": "\(worker.environment.rawValue)"])
    }

    private func runLane() async {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let claimed = await claim()
            guard claimed.isEmpty else {
                await record(await attempt(claimed))
                continue
            }
            // It ends early at the shutdown.
            try? await cancelWhenGracefulShutdown { try await sleep(Self.tick) }
        }
    }

    private func claim() async -> [ClaimedDelivery] {
        let time = worker.milliseconds()
        guard worker.gate.isOpen(at: time) else { return [] }
        do { return try await store.claim(Self.batchSize, for: worker.environment, at: time) } catch {
            logger.warning("the queue can't be read yet", metadata: ["reason": "\(error)"])
            return []
        }
    }

    private func attempt(_ deliveries: [ClaimedDelivery]) async -> [DeliveryOutcome] {
        await withTaskGroup(of: DeliveryOutcome.self) { group in
            for delivery in deliveries { group.addTask { await worker.attempt(delivery) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Returns when the outcomes are on the disk. While the database is locked or the disk is full, this lane sends nothing else.
    /// If the process has to end before, the next one attempts the deliveries again, with the same ids.
    func record(_ outcomes: [DeliveryOutcome]) async {
        var failures = 0
        while !Task.isCancelled {
            do { return try await store.record(outcomes, at: worker.milliseconds()) } catch {
                failures += 1
                logger.warning(
                    "outcomes can't be stored yet", metadata: ["count": "\(outcomes.count)", "reason": "\(error)"])
                try? await sleep(worker.backoff.wait(afterFailures: failures))
            }
        }
    }
}
