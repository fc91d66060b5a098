import Logging
import NIOConcurrencyHelpers
public import ServiceLifecycle

/// Sends what is due to one of Apple's servers, until the service ends. Then it takes nothing new, and waits until the attempts
/// that run have ended and are stored.
public struct Dispatcher: Service {
    /// How much it does at once.
    public struct Options: Sendable {
        /// How many attempts run at the same time.
        public var width = 256
        /// How many deliveries are sealed together before the first of them is sent.
        public var chunk = 32
        /// How long a claim is valid, in milliseconds: longer than an attempt takes.
        public var leaseInMilliseconds: Int64 = 60_000
        /// How often it looks for what has become due, in milliseconds.
        public var tickInMilliseconds: Int64 = 200

        /// Creates options with the defaults.
        public init() {}
    }

    let store: any PushStore
    let worker: DeliveryWorker
    let writer: OutcomeWriter
    let options: Options
    let wakeUps: WakeUps
    let sleep: @Sendable (Int64) async throws -> Void
    let logger: Logger

    /// Runs until the graceful shutdown.
    public func run() async throws {
        let isEnding = NIOLockedValueBox(false)
        // The deliveries whose attempts haven't ended, or whose outcomes aren't stored. If that takes longer than their lease, they are
        // claimed again, and left alone.
        let held = NIOLockedValueBox<Set<Int64>>([])
        let ticker = Task {
            while (try? await sleep(options.tickInMilliseconds)) != nil { wakeUps.signal() }
        }
        defer { ticker.cancel() }
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                while !isEnding.withLockedValue({ $0 }), !Task.isCancelled {
                    let claimed = await claim(options.width - held.withLockedValue(\.count))
                        .filter { delivery in held.withLockedValue { $0.insert(delivery.id).inserted } }
                    for start in stride(from: 0, to: claimed.count, by: options.chunk) {
                        let chunk = claimed[start..<min(start + options.chunk, claimed.count)]
                        group.addTask {
                            await attempt(chunk) { id in
                                held.withLockedValue { _ = $0.remove(id) }
                                wakeUps.signal()
                            }
                        }
                    }
                    if claimed.isEmpty { await wakeUps.next() }
                }
            }
        } onGracefulShutdown: {
            isEnding.withLockedValue { $0 = true }
            wakeUps.signal()
        }
        logger.info("every attempt has ended", metadata: ["environment": "\(worker.environment.rawValue)"])
    }

    /// Seals the whole chunk ahead of the connection: seals between its writes would make each write, and so each packet, small.
    ///
    /// - Parameter onEnd: called with the number of each delivery whose outcome is stored.
    private func attempt(_ chunk: ArraySlice<ClaimedDelivery>, onEnd: @escaping @Sendable (Int64) -> Void) async {
        let prepared = chunk.map(worker.prepare)
        await withDiscardingTaskGroup { group in
            for delivery in prepared {
                group.addTask {
                    let outcome = await worker.send(delivery)
                    await writer.write(outcome)
                    onEnd(outcome.id)
                }
            }
        }
    }

    /// - Parameter free: how many more attempts may run. Few are not worth a transaction.
    private func claim(_ free: Int) async -> [ClaimedDelivery] {
        let time = worker.milliseconds()
        guard free >= max(options.width / 4, 1), worker.gate.isOpen(at: time) else { return [] }
        do {
            return try await store.claim(
                free, for: worker.environment, at: time, until: time + options.leaseInMilliseconds)
        } catch {
            logger.warning("the queue can't be read yet", metadata: ["reason": "\(error)"])
            return []
        }
    }
}
