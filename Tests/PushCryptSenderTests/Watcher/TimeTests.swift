import PushCryptCore
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// The key that seals changes with time, though the file doesn't.
@Suite("KeysetWatcher chooses keys by time") struct TimeTests {
    @Test("the next key seals or signs from its activation on without a new file", arguments: [KeyKind.shared, .sender])
    func theNextKeySealsFromItsTimeOn(kind: KeyKind) throws {
        let place = try Operator(kind)
        let first = place.files.kids[0]
        let lead: Int64 = 7 * 86_400
        let second = try place.add(activatesAt: place.clock.now + lead)
        let watch = try Watch(place)
        func kid() throws -> KeyID {
            try kind == .sender ? watch.watcher.senderKey().kid : watch.watcher.recipient().kid
        }
        let moments = [(0, first), (lead - 1, first), (lead, second), (lead + 1, second), (lead * 9, second)]
        for (offset, expected) in moments {
            place.clock.now = Operator.start + offset
            #expect(try kid() == expected, "after \(offset) s")
        }
        // The choice also follows a clock that is set back.
        place.clock.now = Operator.start + lead - 1
        #expect(try kid() == first)
        #expect(watch.notices.isEmpty)
    }

    /// The sender's clock is behind the keystore's.
    @Test("a clock before the last change uses the time of that change") func aClockThatIsBehind() throws {
        let place = try Operator()
        let clock = TestClock(Operator.start - 3_600)
        let kid = try place.rotate()
        let watch = try Watch(KeysetPlace(file: place.path), clock: clock)
        #expect(try watch.watcher.recipient().kid == kid)
    }

    @Test("a clock more than 10 minutes before the last change is logged as an error and is in the status")
    func slowClock() throws {
        let place = try Operator()
        let clock = TestClock(Operator.start - 601)
        let watch = try Watch(KeysetPlace(file: place.path), clock: clock)
        #expect(watch.errors.count == 1)
        #expect(watch.errors.first?["reason"]?.contains("before the last change") == true)
        #expect(watch.watcher.status.clockObjection != nil && watch.watcher.status.isHealthy)
        clock.now = Operator.start - 600
        #expect(watch.watcher.status.clockObjection == nil)
        clock.now = Operator.start - 100_000
        try place.rotate()
        #expect(watch.check() == .taken(sequence: 2))
        #expect(watch.errors.count == 2)
    }

    @Test("a time without a sealing key ends when the next key activates") func aTimeWithoutAKeyEnds() throws {
        let place = try Operator()
        try place.change { try $0.setting(.retiresAt, of: $0.kids[0], to: Operator.start + 10, .rotated) }
        let watch = try Watch(place)
        #expect(try watch.watcher.recipient().suite == .shared)
        place.clock.now = Operator.start + 10
        for _ in 0..<2 {
            expectKeyError(.noKeySeals) { try watch.watcher.recipient() }
        }
        // A new file with another key that seals.
        let kid = try place.add(activatesAt: place.clock.now)
        #expect(watch.check() == .taken(sequence: 3))
        #expect(try watch.watcher.recipient().kid == kid)
    }

    /// The file doesn't change when its key begins to seal.
    @Test("a keyset whose keys seal later is taken when they do") func aKeysetThatSealsLaterIsTakenLater() throws {
        let place = try Operator()
        let watch = try Watch(place)
        try place.change { try $0.setting(.activatesAt, of: $0.kids[0], to: Operator.start + 60, .rotated) }
        #expect(watch.check()?.reason?.contains("none of the 1 keys seals") == true)
        place.clock.now = Operator.start + 60
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(watch.errors.count == 1)
    }
}
