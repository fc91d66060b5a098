import PushCryptExtension
import PushCryptSimulator
import PushCryptTestSupport
import Testing

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

    @Test(
        "deadlines before the key, in any order, show the placeholder once, and later content is dropped",
        arguments: End.allCases, End.allCases)
    func beforeCompletion(first: End, second: End) async throws {
        let session = try TestSession(waitsForKey: true)
        session.start()
        await session.asked.wait()
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
        session.start()
        await session.delivered.wait()
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
        session.start()
        await session.asked.wait()
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

    @Test("an empty payload that times out shows the app's own text")
    func unsealedPushThatTimesOut() async throws {
        let session = try TestSession([])
        session.expire()
        #expect(session.deliveries.map(\.failure) == [.timedOut])
        #expect(session.deliveries.first?.content.title.literal == Placeholder.standard.title)
        _ = await session.finish()
    }
}
