import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Another process holds the store for as long as the test wants.
@Suite struct LockedStoreTests {
    private let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
        try folder.fill()
    }

    private static func deliver(
        _ payload: [UInt8], _ configuration: DeliverySession.Configuration
    ) async throws -> DeliverySession.Delivery {
        let opener = try Opener(
            topic: TestPush.topic, keyring: KeysetKeyring(TestKeys.keyset("p256")), senders: .unsigned)
        return await withCheckedContinuation { continuation in
            DeliverySession(
                payload: payload, opener: opener, configuration: configuration, clock: { TestPush.now },
                handler: { continuation.resume(returning: $0) }
            ).start()
        }
    }

    /// With a wait of 2 seconds for each call of each session, they take two minutes. A deadline of a minute in place of 25
    /// seconds leaves room for a machine that is busy with other tests.
    @Test(
        "30 pushes at once are all restored while another process holds the store", arguments: ["folder", "database"])
    func crowd(_ lock: String) async throws {
        let holder = try ExtensionProcess.start("store-hold", folder.path, lock)
        #expect(holder.line() == "held")
        let store = folder.store()
        var configuration = DeliverySession.Configuration(fallback: .outerAlert(orElse: .standard))
        (configuration.replayGuard, configuration.diagnostics) = (store, store)
        configuration.deadline = .seconds(60)
        let chosen = configuration
        let failures = try await withThrowingTaskGroup(of: FailureClass?.self) { group in
            for _ in 0..<30 {
                let payload = try TestPush().sealed()
                group.addTask { try await Self.deliver(payload, chosen).failure }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        holder.process.kill()
        _ = try holder.process.wait()
        #expect(failures.count { $0 == nil } == 30, "\(failures.count { $0 == .timedOut }) timed out")
    }
}
