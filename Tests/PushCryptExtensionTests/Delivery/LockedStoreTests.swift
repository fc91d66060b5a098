import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// Another process locks the store during the test.
@Suite struct LockedStoreTests {
    private let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
        try folder.fill()
    }

    /// If every call waited, the sessions would time out. The deadline of a minute allows for a busy machine. The long form
    /// waits for the default of 2 seconds.
    @Test(
        "30 concurrent pushes are restored while another process holds the store", arguments: ["folder", "database"])
    func crowd(_ lock: String) async throws {
        let holder = try ExtensionProcess.start("store-hold", folder.path, lock)
        #expect(holder.line() == "held")
        let store = folder.store { $0.busyTimeout = LongTests.value(.seconds(2), short: .milliseconds(300)) }
        var configuration = try ExtensionConfiguration.test()
        configuration.store = store
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
