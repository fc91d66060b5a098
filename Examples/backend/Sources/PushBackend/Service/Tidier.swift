import Logging
import ServiceLifecycle

/// Fails expired deliveries and erases payloads that nothing needs, at regular intervals.
struct Tidier: Service {
    let store: any PushStore
    let intervalInMilliseconds: Int64
    let milliseconds: @Sendable () -> Int64
    let sleep: @Sendable (Int64) async throws -> Void
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await sleep(intervalInMilliseconds)
                do { while try await store.tidy(at: milliseconds()) {} } catch {
                    logger.warning("the store can't be tidied yet", metadata: ["reason": "\(error)"])
                }
            }
        }
    }
}
