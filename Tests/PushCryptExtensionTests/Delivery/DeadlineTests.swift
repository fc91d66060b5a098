import PushCryptPrimitives
import PushCryptSimulator
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Sessions that end at their deadline, and events after the end.
@Suite struct DeadlineTests {
    enum End: CaseIterable {
        case timer, expire

        func apply(to session: TestSession) {
            switch self {
            case .timer: session.timer.fire()
            case .expire: session.expire()
            }
        }
    }

    private static func expectTimedOut(
        _ deliveries: [DeliverySession.Delivery], _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(deliveries.map(\.failure) == [.timedOut], sourceLocation: location)
        #expect(deliveries.first?.content.title.literal == "New message", sourceLocation: location)
        #expect(
            deliveries.first?.content.userInfo.text.hasSuffix(#""status":"failed","reason":"timedOut"}}"#) == true,
            sourceLocation: location)
    }

    @Test("deadlines before the key show the placeholder once", arguments: End.allCases, End.allCases)
    func beforeCompletion(first: End, second: End) async throws {
        let session = try TestSession(waitsForKey: true)
        await session.start(until: session.asked)
        first.apply(to: session)
        Self.expectTimedOut(session.deliveries)
        #expect(!session.timer.isPending)
        for end in [second, first] { end.apply(to: session) }
        session.releaseKeyring()
        Self.expectTimedOut(await session.finish())
    }

    @Test("a deadline after the delivery doesn't call the handler again", arguments: End.allCases)
    func afterCompletion(end: End) async throws {
        let session = try TestSession(timer: ManualTimer(ignoresCancellation: true))
        await session.start(until: session.delivered)
        end.apply(to: session)
        session.timer.fire()
        #expect(await session.finish().map(\.failure) == [nil])
    }

    @Test("a deadline inside the handler doesn't call it again", arguments: End.allCases)
    func duringCompletion(end: End) async throws {
        let session = try TestSession()
        session.whenDelivered { [weak session] in session.map(end.apply(to:)) }
        #expect(await session.run().map(\.failure) == [nil])
    }

    @Test("a key that arrives inside the handler doesn't call it again", arguments: End.allCases)
    func duringTheEnd(end: End) async throws {
        let session = try TestSession(waitsForKey: true)
        session.whenDelivered { [weak session] in
            session?.releaseKeyring()
            session.map(end.apply(to:))
        }
        await session.start(until: session.asked)
        end.apply(to: session)
        Self.expectTimedOut(await session.finish())
    }

    @Test("a session that expired before its start shows the placeholder and sets no timer")
    func expiredBeforeTheStart() async throws {
        let session = try TestSession()
        session.expire()
        Self.expectTimedOut(session.deliveries)
        session.start()
        #expect(!session.timer.isPending)
        Self.expectTimedOut(await session.finish())
    }

}

@Suite struct TimeLimitTests {
    @Test("a time limit is set before the limited work starts")
    func order() async throws {
        for _ in 1...2_000 {
            let timer = ManualTimer()
            let durations = try await timer.limit(.seconds(10)) { timer.durations }
            #expect(durations == [.seconds(10)])
            #expect(!timer.isPending)
        }
    }

    @Test("work is cancelled at its time limit, also if that passes before the work starts")
    func reached() async throws {
        await #expect(throws: CancellationError.self) {
            try await OverTimer().limit(.zero) { try Task.checkCancellation() }
        }
        let timer = ManualTimer()
        await #expect(throws: CancellationError.self) {
            try await timer.limit(.seconds(10)) {
                timer.fire(.seconds(10))
                try Task.checkCancellation()
            }
        }
    }

    @Test("work whose caller is cancelled right after it has begun is cancelled at that moment")
    func callerCancelled() async throws {
        for _ in 0..<100 {
            let caller = Locked(Task<Bool, any Error>?.none)
            let task = caller.withLock { state in
                let task = Task {
                    try await ManualTimer().limit(.seconds(10)) {
                        caller.withLock { $0 }?.cancel()
                        return Task.isCancelled
                    }
                }
                state = task
                return task
            }
            #expect(try await task.value)
        }
    }

    @Test("work whose caller is cancelled is cancelled, and its time limit no longer waits")
    func cancelled() async throws {
        let timer = ManualTimer()
        let caller = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await timer.limit(.seconds(10)) { try Task.checkCancellation() }
        }
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(timer.cancelCount == 1 && !timer.isPending)
    }

    /// A timer whose time has passed when it is set.
    private struct OverTimer: DeadlineTimer {
        func schedule(after duration: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            body()
            return {}
        }
    }
}
