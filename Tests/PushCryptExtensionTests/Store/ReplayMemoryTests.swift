import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// PROTOCOL section 5, "Replay". ``ReplayModelTests`` compare both roles and the highest times with a model.
@Suite struct ReplayMemoryTests {
    private let folder = StoreFolder { $0.messageLimit = 5 }
    private var store: SharedStore { folder.first }
    private let now = StoreFolder.now
    private static let window = MessageHeader.windowInSeconds
    /// How much later H is when a message is still remembered.
    private static let memory = window + Freshness.toleranceInSeconds
    private static let day: Int64 = 86_400

    /// Claims messages that are named by their `iat`.
    private func claimEach(_ numbers: ClosedRange<Int>, _ other: SharedStore? = nil) throws {
        for number in numbers { #expect(try claim("\(number)", Int64(number), other)) }
    }

    /// Raises H to the `iat`. The store confirms at most one window a day.
    private func confirm(_ issuedAt: Int64, _ store: SharedStore) throws {
        for day: Int64 in 0...2 {
            #expect(try claim("\(issuedAt) \(day)", issuedAt, at: issuedAt + day * Self.day, store))
        }
        #expect(try store.replayState().confirmed == (now + issuedAt).seconds)
    }

    private func claim(
        _ id: String, _ issuedAt: Int64 = 0, at time: Int64 = 0, _ other: SharedStore? = nil
    ) throws -> Bool {
        try (other ?? store).claim(id, issuedAt: now + issuedAt, at: now + time)
    }

    @Test("a message is granted once, even after it was seen or in another process")
    func once() throws {
        // Marking a message that wasn't claimed does nothing.
        try store.markSeen("a")
        #expect(try claim("a"))
        #expect(try !claim("a"))
        try store.markSeen("a")
        #expect(try !claim("a"))
        #expect(try !claim("a", 0, at: 1_000_000, folder.store()))
        #expect(try claim("b", 0, folder.store()))
        #expect(try !claim("b"))
    }

    @Test(
        "a claim lapses after 60 seconds in either direction of the clock, and a seen message doesn't",
        arguments: [
            (0, false), (1, false), (59, false), (60, true), (61, true), (1_000_000, true), (-59, false), (-60, true),
            (-80_000, true),
        ] as [(Int64, Bool)])
    func lapse(_ time: Int64, _ isGranted: Bool) throws {
        #expect(try claim("a"))
        #expect(try claim("a", 0, at: time) == isGranted)
        // The second claim also lasts 60 seconds.
        if isGranted { #expect(try !claim("a", 0, at: time + 1)) }
        #expect(try claim("b"))
        try store.markSeen("b")
        #expect(try !claim("b", 0, at: time))
    }

    @Test("message times at the limits of Int64 are refused, clock times clamped", arguments: [Int64.min, Int64.max])
    func bounds(_ time: Int64) throws {
        let (least, most) = (UnixTime(0), UnixTime(UnixTime.protocolRange.upperBound))
        func answer(_ id: String, _ iat: UnixTime, _ exp: UnixTime, at time: UnixTime) throws -> FailureClass? {
            try store.claim(id, issuedAt: iat, expiresAt: exp, at: time).failure
        }
        #expect(try answer("a", now, now + Self.window, at: now) == nil)
        #expect(try answer("a", now, now + Self.window, at: UnixTime(time)) == (time < 0 ? .notYetValid : .expired))
        #expect(try answer("b", UnixTime(time), UnixTime(time), at: now) == .replayed)
        #expect(try answer("c", now, UnixTime(time), at: now) == .replayed)
        #expect(try answer("d", least, most, at: UnixTime(.min)) == nil)
        #expect(try answer("e", most - 1, most, at: UnixTime(.max)) == .expired)
        #expect(try answer("f", now, now + Self.window, at: now) == nil)
    }

    @Test("a message is remembered until H is more than a window and 10 minutes later")
    func window() throws {
        let store = folder.store()
        #expect(try claim("old", 0, at: 0, store) && claim("later", 1, at: 0, store))
        try confirm(Self.memory, store)
        #expect(try store.rememberedIDs().suffix(2) == ["later", "old"])
        try confirm(Self.memory + 1, store)
        #expect(try store.rememberedIDs().last == "later")
        #expect(try !claim("old", 0, at: 0, store) && !claim("third", 0, at: 0, store))
    }

    /// A campaign message that was sealed again has the same id and a later iat, and is remembered by the later iat.
    @Test("a refused repeat with a later iat extends the memory of the message", arguments: [false, true])
    func resealed(_ wasSeen: Bool) throws {
        let store = folder.store()
        #expect(try claim("a", 0, at: 0, store))
        if wasSeen { try store.markSeen("a") }
        #expect(try !claim("a", 600, at: 59, store))
        // An earlier iat doesn't lower it.
        #expect(try !claim("a", 300, at: 59, store))
        #expect(try store.replayState().latest == now.seconds)
        try confirm(Self.memory + 600, store)
        #expect(try store.rememberedIDs().last == "a")
        try confirm(Self.memory + 601, store)
        #expect(try store.rememberedIDs().last != "a")
    }

    /// If the store threw here, the message would be shown.
    @Test("a repeat is refused even if the store turns out to be damaged", arguments: [false, true])
    func damaged(_ wasSeen: Bool) throws {
        #expect(try claim("a"))
        if wasSeen { try store.markSeen("a") }
        try folder.script("CREATE TRIGGER foreign_one BEFORE UPDATE ON message BEGIN SELECT RAISE(ABORT, ''); END")
        #expect(try !claim("a", 1))
        #expect(try store.statistics().rebuildCount == 1)
    }

    /// Everyone can send repeats, and each write wears the flash memory.
    @Test("a repeat is written to the file only if its iat is later")
    func unchanged() throws {
        #expect(try claim("a", 5))
        let before = try Data(contentsOf: folder.file)
        #expect(try !claim("a", 5, at: 59) && !claim("a", 4, at: 59))
        #expect(try Data(contentsOf: folder.file) == before)
        #expect(try !claim("a", 6, at: 59))
        #expect(try Data(contentsOf: folder.file) != before)
    }

    @Test("a repeat that is granted after its claim lapsed counts as accepted")
    func resealedAfterLapse() throws {
        #expect(try claim("a"))
        #expect(try claim("a", 20 * Self.day, at: 20 * Self.day))
        #expect(try store.replayState().latest == (now + 20 * Self.day).seconds)
        try store.markSeen("a")
        #expect(try claim("b", 31 * Self.day, at: 31 * Self.day))
        #expect(try !claim("a", 20 * Self.day, at: 31 * Self.day))
    }

    @Test("a released message can be claimed again, and releasing a replaced claim or a seen message does nothing")
    func release() throws {
        func granted(_ id: String, at time: Int64 = 0) throws -> MessageClaim {
            let message = MessageStamp(name: id, issuedAt: now, expiresAt: now + Self.window)
            #expect(try store.claimInFile(message, at: now.seconds + time).refusal == nil)
            return message.claim
        }
        let first = try granted("a")
        try store.release(first)
        let second = try granted("a")
        try store.release(first)
        #expect(try !claim("a"))
        try store.markSeen(second)
        try store.release(second)
        #expect(try !claim("a", at: 60))
        // Another claim replaced a claim that lapsed.
        let lapsed = try granted("b")
        let other = try granted("b", at: 60)
        try store.release(lapsed)
        #expect(try !claim("b", at: 61))
        try store.release(other)
        #expect(try claim("b", at: 61))
    }

    @Test("at the limit the oldest message is forgotten, and messages of its age or older are refused")
    func floor() throws {
        try claimEach(1...6)
        #expect(try !claim("1", 1))
        #expect(try !claim("new", 1))
        #expect(try !claim("2", 2))
        // Message 2 is still remembered, so it is granted after its claim lapsed.
        #expect(try claim("2", 2, at: 60))
        #expect(try claim("7", 7))
        #expect(try !claim("2", 2, at: 120))
        #expect(try !claim("new", 2))
        // The floor is in the file, not in the object.
        #expect(try !claim("new", 2, folder.store()))
    }

    @Test("at the limit the new message may be the oldest and is granted once")
    func floorOfItself() throws {
        try claimEach(11...15)
        #expect(try claim("10", 10))
        #expect(try !claim("10", 10, at: 60))
        #expect(try !claim("new", 9))
        #expect(try !claim("11", 11))
    }

    @Test("a smaller limit takes effect with the next message")
    func smallerLimit() throws {
        try claimEach(1...5)
        let small = folder.store { $0.messageLimit = 2 }
        #expect(try claim("6", 6, small))
        #expect(try !claim("4", 4, at: 60, small))
        #expect(try claim("5", 5, at: 60, small))
    }

    @Test("messages that another process has claimed count for the limit")
    func otherProcess() throws {
        let other = folder.store { $0.messageLimit = 5 }
        try claimEach(1...3)
        try claimEach(4...6, other)
        #expect(try claim("7", 7))
        #expect(try !claim("new", 2))
        #expect(try claim("new", 3))
    }
}
