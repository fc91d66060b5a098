import PushCryptCore
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A sealer that was made once signs with the keys that its keyset has later.
@Suite("a sealer that watches its keys") struct WatchingSealerTests {
    private static let payload = Watch.payload

    /// The `skid` of a push.
    private func signer(of push: SealedPush) throws -> KeyID? {
        try OuterPayload(JSONText(push.bytes)).skid
    }

    private func sealer(_ watch: Watch, observer: (@Sendable (SealObservation) -> Void)? = nil) throws -> Sealer {
        try Sealer(
            topic: Watch.topic, signer: .watching(watch.watcher), observer: observer, clock: { Operator.start + 100 })
    }

    @Test("a batch that is running signs later messages with the key that replaced a revoked one")
    func revocationDuringABatch() async throws {
        let place = try Operator(.sender)
        let watch = try Watch(place)
        let sealer = try sealer(watch)
        let (requests, continuation) = AsyncStream.makeStream(of: SealRequest<Int>.self)
        var outcomes = BatchSealer(sealer).seal(requests).makeAsyncIterator()
        continuation.yield(try Requests.request(.simple, 0))
        let first = try #require(place.files.kids.first)
        #expect(try signer(of: try #require(try await outcomes.next()).result.get()) == first)
        try place.rotate()
        let second = try place.change { try $0.setting(.revokedAt, of: first, to: place.clock.now) }.kids[1]
        _ = watch.check()
        continuation.yield(try Requests.request(.simple, 1))
        #expect(try signer(of: try #require(try await outcomes.next()).result.get()) == second)
    }

    @Test("a keyset that revokes the key in use and has no other one seals nothing, until a rotation adds one")
    func revocationWithoutSuccessor() throws {
        let place = try Operator(.sender)
        let watch = try Watch(place)
        let (sealer, recipient) = (try sealer(watch), try Channel.simple.recipient())
        let kid = try #require(place.files.kids.first)
        // Also if the time is to come, because a clock was wrong.
        try place.change { try $0.setting(.revokedAt, of: kid, to: Operator.start + 999) }
        #expect(watch.check() == .taken(sequence: 2))
        expectSenderError(.noKeySeals) { try sealer.seal(Self.payload, to: recipient) }
        #expect(watch.errors.map { $0["previousPrimary"] } == [kid.description])
        #expect(watch.watcher.status.primary == nil && !watch.watcher.status.isHealthy)
        let next = try place.rotate()
        _ = watch.check()
        #expect(try signer(of: sealer.seal(Self.payload, to: recipient)) == next)
        #expect(watch.watcher.status.isHealthy)
    }

    @Test("a keyset that revokes the key which has become active since the last push seals nothing from then on")
    func revocationOfTheNextKey() throws {
        let place = try Operator(.sender)
        let second = try place.add(activatesAt: Operator.start + 50)
        let watch = try Watch(place)
        let (sealer, recipient) = (try sealer(watch), try Channel.simple.recipient())
        place.clock.now = Operator.start + 100
        let first = place.files.kids[0]
        try place.change { files in
            try files.setting(.revokedAt, of: second, to: place.clock.now)
                .setting(.retiresAt, of: first, to: Operator.start + 50, .rotated)
        }
        _ = watch.check()
        expectSenderError(.noKeySeals) { try sealer.seal(Self.payload, to: recipient) }
    }

    @Test("a restoration that revokes the key in use, which its log lacks, seals nothing if no other key seals")
    func revocationByARestoration() throws {
        let place = try Operator(.sender)
        let base = try place.change { try $0.setting(.revokedAt, of: $0.kids[0], to: place.clock.now) }
        let second = try place.rotate()
        place.clock.now = place.clock.now + 1
        let watch = try Watch(place)
        let (sealer, recipient) = (try sealer(watch), try Channel.simple.recipient())
        #expect(try signer(of: sealer.seal(Self.payload, to: recipient)) == second)
        let head = place.files.log.state.head
        try place.change { _ in
            try base.appending(.restored, number: 20) { changes in
                changes.over = [head]
                changes.revoked = [second: place.clock.now]
            }
        }
        #expect(watch.check() == .taken(sequence: 20))
        expectSenderError(.noKeySeals) { try sealer.seal(Self.payload, to: recipient) }
    }

    @Test("a keyset that revokes the next key while no key seals is taken, and that key never signs")
    func revocationWhileNoKeySeals() throws {
        let place = try Operator(.sender)
        let second = try place.add(activatesAt: Operator.start + 99)
        try place.change { try $0.setting(.retiresAt, of: $0.kids[0], to: Operator.start + 50, .rotated) }
        let watch = try Watch(place)
        let (sealer, recipient) = (try sealer(watch), try Channel.simple.recipient())
        place.clock.now = Operator.start + 60
        try place.change { try $0.setting(.revokedAt, of: second, to: place.clock.now) }
        #expect(watch.check() == .taken(sequence: 4))
        place.clock.now = Operator.start + 100
        expectSenderError(.noKeySeals) { try sealer.seal(Self.payload, to: recipient) }
    }

    @Test("a sealer with a keyset signs each message with the primary of its time") func keyset() throws {
        let place = try Operator(.sender)
        let second = try place.add(activatesAt: Operator.start + 100)
        let (keyset, now) = (try place.keyset, Locked(Operator.start))
        let first = try #require(keyset.keyIDs.first { $0 != second })
        let sealer = try Sealer(topic: Watch.topic, signer: .keyset(keyset), clock: { now.withLock { $0 } })
        let recipient = try Channel.simple.recipient()
        #expect(try signer(of: sealer.seal(Self.payload, to: recipient)) == first)
        now.withLock { $0 = Operator.start + 100 }
        #expect(try signer(of: sealer.seal(Self.payload, to: recipient)) == second)
        let other = try Operator(.shared).keyset
        #expect(throws: KeyError.self) { try Sealer(topic: Watch.topic, signer: .keyset(other)) }
    }

    @Test("a sealer that watches recipients' keys is refused as wrongKind") func wrongKind() throws {
        let watch = try Watch(Operator(.shared))
        expectKeyError(.wrongKind) { try sealer(watch) }
    }

    @Test("the observer gets suite, size and the age of the signing key, and the code of a refusal")
    func observer() throws {
        let watch = try Watch(Operator(.sender))
        let seen = Locked<[SealObservation]>([])
        let sealer = try sealer(watch) { observation in seen.withLock { $0.append(observation) } }
        let recipient = try Channel.simple.recipient()
        let push = try sealer.seal(Self.payload, to: recipient)
        expectSenderError(.invalidPayload) { try sealer.seal("{}", to: recipient) }
        expectSenderError(.invalidOption) { try sealer.seal(Self.payload, to: recipient) { $0.limitInBytes = 0 } }
        let observations = seen.withLock { $0 }
        #expect(observations.map(\.refusal) == [nil, .invalidPayload, .invalidOption])
        #expect(observations.map(\.byteCount) == [push.byteCount, nil, nil])
        #expect(observations[0].signedBy == watch.watcher.current.keyIDs[0])
        #expect(observations[0].signingKeyAge == .seconds(100) && observations[0].keysetSequence == 1)
        #expect(observations.allSatisfy { $0.suite == .shared && $0.duration >= .zero })
    }

    @Test("the observer gets one refusal for each device of a payload, a placeholder or options that are refused")
    func observerOfEach() throws {
        struct Unreachable: Error {}
        let watch = try Watch(Operator(.sender))
        let seen = Locked<[SealObservation]>([])
        let sealer = try sealer(watch) { observation in seen.withLock { $0.append(observation) } }
        let devices = try Array(repeating: Channel.simple.recipient(), count: 3)
        func refusals(_ body: () throws -> Void) -> [SenderError.Code?] {
            seen.withLock { $0 = [] }
            #expect(throws: (any Error).self, performing: body)
            return seen.withLock { $0.map(\.refusal) }
        }
        #expect(
            refusals { _ = try sealer.seal("{}", toEach: devices) }
                == [.invalidPayload, .invalidPayload, .invalidPayload])
        #expect(
            refusals { _ = try sealer.seal(Self.payload, toEach: devices) { _ in throw Unreachable() } }
                == [.callerFailure, .callerFailure, .callerFailure])
        // No device is known yet.
        #expect(refusals { _ = try sealer.encode("{}") } == [])
        seen.withLock { $0 = [] }
        #expect(try sealer.seal(Self.payload, toEach: devices).allSatisfy { (try? $0.get()) != nil })
        #expect(seen.withLock { $0.map(\.refusal) } == [nil, nil, nil])
    }

    @Test("the status has the key in use, and the reason why the current file isn't used") func status() throws {
        let place = try Operator(.sender)
        let watch = try Watch(place)
        let before = watch.watcher.status
        #expect(before.sequence == 1 && before.isHealthy && before.checkedAt == place.clock.now)
        #expect(before.primary == watch.watcher.current.keyIDs[0] && before.activatedAt == Operator.start)
        place.clock.now = place.clock.now + 60
        try place.write(Array("{".utf8))
        _ = watch.check()
        let after = watch.watcher.status
        #expect(
            after.refusal?.contains("push.keyset") == true && !after.isHealthy && after.checkedAt == place.clock.now)
        #expect(after.primary == before.primary)
        try place.write(place.files.file)
        _ = watch.check()
        #expect(watch.watcher.status.isHealthy)
    }
}
