import PushCryptExtension
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// A session that ended before its content was shown releases its claim, so the message can be shown when it is received
/// again.
@Suite struct EndedSessionTests {
    private let store: SharedStore
    private let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
        store = folder.store()
    }

    private func session(_ payload: [UInt8], _ memory: any DeliveryMemory) throws -> TestSession {
        var configuration = try ExtensionConfiguration.test()
        configuration.memory = memory
        return try TestSession(payload: payload, configuration: configuration)
    }

    private func deliver(_ payload: [UInt8]) async throws -> FailureClass? {
        let session = try session(payload, store)
        session.releaseKeyring()
        session.start()
        return await session.finish().first?.failure
    }

    /// The store, which ends the session when the message is claimed.
    private final class EndingStore: DeliveryMemory {
        private let store: SharedStore
        private let end = Locked<(@Sendable () -> Void)?>(nil)
        private let claims = Locked(0)

        init(_ store: SharedStore) {
            self.store = store
        }

        var claimCount: Int { claims.withLock { $0 } }

        func whenClaimed(_ body: @escaping @Sendable () -> Void) { end.withLock { $0 = body } }

        func reserve(_ message: MessageStamp, at time: UnixTime) -> Bool { store.reserve(message, at: time) }

        func claim(_ message: MessageStamp, isReserved: Bool, at time: UnixTime) throws -> ClaimAnswer {
            claims.withLock { $0 += 1 }
            let answer = try store.claim(message, isReserved: isReserved, at: time)
            end.withLock { $0 }?()
            return answer
        }

        func record(_ record: DeliveryRecord) throws -> RecordAnswer {
            try store.record(record)
        }
    }

    @Test("a message whose session ended right after the claim is shown when it is received again")
    func endedAfterClaim() async throws {
        let payload = try TestPush().sealed()
        let ending = EndingStore(store)
        let session = try session(payload, ending)
        ending.whenClaimed { [weak session] in session?.expire() }
        session.releaseKeyring()
        session.start()
        #expect(await session.finish().map(\.failure) == [.timedOut])
        #expect(ending.claimCount == 1)
        #expect(try await deliver(payload) == nil)
        #expect(try await deliver(payload) == .replayed)
    }

    @Test("a session that has ended claims no message")
    func claimsNothing() async throws {
        let ending = EndingStore(store)
        let session = try session(TestPush().sealed(), ending)
        session.start()
        await session.asked.wait()
        session.expire()
        session.releaseKeyring()
        _ = await session.finish()
        #expect(ending.claimCount == 0)
    }

    @Test("a message whose session ended while it was opened is shown when it is received again")
    func endedWhileOpening() async throws {
        let payload = try TestPush().sealed()
        let session = try session(payload, store)
        session.start()
        await session.asked.wait()
        session.expire()
        session.releaseKeyring()
        #expect(await session.finish().map(\.failure) == [.timedOut])
        #expect(try await deliver(payload) == nil)
        #expect(try await deliver(payload) == .replayed)
    }
}
