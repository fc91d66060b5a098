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

    /// With a wait of 2 seconds for each call of each session, they take two minutes. A deadline of a minute in place of 25
    /// seconds leaves room for a machine that is busy with other tests.
    @Test(
        "30 pushes at once are all restored while another process holds the store", arguments: ["folder", "database"])
    func crowd(_ lock: String) async throws {
        let holder = try ExtensionProcess.start("store-hold", folder.path, lock)
        #expect(holder.line() == "held")
        let store = folder.store()
        var configuration = try ExtensionConfiguration.test()
        (configuration.replayGuard, configuration.diagnostics) = (store, store)
        configuration.deadline = .seconds(60)
        let chosen = configuration
        let failures = try await withThrowingTaskGroup(of: FailureClass?.self) { group in
            for _ in 0..<30 {
                let payload = try TestPush().sealed()
                group.addTask { await chosen.delivery(of: payload).failure }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        holder.process.kill()
        _ = try holder.process.wait()
        #expect(failures.count { $0 == nil } == 30, "\(failures.count { $0 == .timedOut }) timed out")
    }
}
