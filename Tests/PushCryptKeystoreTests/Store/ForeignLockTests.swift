import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptTestSupport
import Testing

/// A user who can open the folder of a keyset can hold its lock for ever.
@Suite("A keyset folder with mode 0755 that another process has locked") struct ForeignLockTests {
    private let place: TemporaryFolder
    private let path: String
    /// Another open file description, as of another process.
    private let folder: OpenFile
    private static let time = UnixTime(1_800_000_000)
    private static let actor = Actor(name: "test", reason: nil)

    init() throws {
        place = try TemporaryFolder()
        path = place.path + "/ios"
        try KeysetStore(path).create(
            KeyRecord.generate(.recipient, backend: DefaultBackend.shared), .standard, .plaintext, nil,
            at: Self.time, by: Self.actor)
        try place.setMode(0o755, of: "ios")
        folder = try OpenFile(path)
        // Waits: a process that another test starts may hold a copy of the lock for a moment.
        try #require(flock(folder.descriptor, LOCK_EX) == 0)
    }

    /// Runs `body` on its own thread. After the time limit, which cancels the test, releases the lock, so that a `body` that
    /// waits for it ends.
    private func withTimeLimit<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
            }
        } onCancel: {
            _ = flock(folder.descriptor, LOCK_UN)
        }
    }

    @Test("changes refuse the folder without waiting for the lock", .timeLimit(.minutes(5)))
    func change() async throws {
        let changed = await #expect(throws: KeystoreError.self) {
            try await withTimeLimit { [path] in
                _ = try KeysetStore(path).change(at: Self.time, by: Self.actor, .none) { try $0.add(activatesAt: nil) }
            }
        }
        #expect(changed?.code == .looseMode)
        let finished = await #expect(throws: KeystoreError.self) {
            try await withTimeLimit { [path] in _ = try KeysetStore(path).finish(.none) }
        }
        #expect(finished?.code == .looseMode)
    }

    @Test("verify refuses the folder, and doctor reports it, without waiting for the lock", .timeLimit(.minutes(5)))
    func look() async throws {
        let error = await #expect(throws: KeystoreError.self) {
            try await withTimeLimit { [path] in _ = try KeysetStore(path).verify(.none, at: Self.time) }
        }
        #expect(error?.code == .looseMode)
        let findings = try await withTimeLimit { [path] in try KeystoreExamination(path, .init(at: Self.time)).findings
        }
        #expect(findings.contains { $0.code == "loose-mode" })
    }
}
