import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The times that a device remembers (PROTOCOL section 5), and how far a wrong clock can move them.
@Suite struct ClockMemoryTests {
    private static let day: Int64 = 86_400
    private static let year = 365 * day
    private static let window = MessageHeader.windowInSeconds
    private let (folder, store) = StoreFolder.withStore { $0.messageLimit = 50 }
    private let now = StoreFolder.now

    /// Claims a message, and marks it as seen if it was granted.
    ///
    /// - Returns: why it was refused; nil if it was granted.
    private func show(
        _ id: String, _ issuedAt: Int64, lifetime: Int64 = window, at time: Int64
    ) throws -> FailureClass? {
        let answer = try store.claim(id, issuedAt: now + issuedAt, expiresAt: now + issuedAt + lifetime, at: now + time)
        if let claim = try? answer.get() { try store.markSeen(claim) }
        return answer.failure
    }

    /// Shows one message a day, until day 0.
    private func use(days: Int64) throws {
        for day in -days...0 { #expect(try show("day \(day)", day * Self.day, at: day * Self.day) == nil) }
    }

    @Test(
        "after one message with the clock three years ahead, the next message with the correct clock is shown at once",
        arguments: [0, 1, 40] as [Int64], [60, window] as [Int64])
    func poisoned(days: Int64, lifetime: Int64) throws {
        if days > 0 { try use(days: days) }
        #expect(try show("ahead", 3 * Self.year, at: 3 * Self.year) == nil)
        #expect(try show("next", 100, lifetime: lifetime, at: 101) == nil)
        #expect(try show("next", 100, lifetime: lifetime, at: 102) == .replayed)
        #expect(try show("again", Self.day, lifetime: lifetime, at: Self.day + 1) == nil)
        #expect(try show("later", 2 * Self.day, lifetime: lifetime, at: 2 * Self.day + 1) == nil)
    }

    /// There are more messages than the store remembers, with every iat that such a clock accepts.
    @Test(
        "messages of a clock that is ahead for less than a day block no later ones",
        arguments: 0..<8 as Range<UInt64>)
    func manyPoisoned(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        try use(days: 40)
        let ahead = [2 * Self.day, 29 * Self.day, 31 * Self.day, 3 * Self.year][Int(seed % 4)]
        var count = 0
        for number in 0..<120 {
            let issuedAt = ahead + Int64.random(in: -(Self.window - 1)...600, using: &random)
            let time = ahead + Int64(number) * 700
            // A full store refuses messages as old as forgotten ones.
            if try show("ahead \(number)", issuedAt, at: time) == nil { count += 1 }
        }
        #expect(count > 60)
        #expect(try (store.replayState().confirmed ?? 0) <= now.seconds)
        // A message that was being delivered when the clock was corrected may be as old as the floor.
        _ = try show("in delivery", 100, at: 100)
        for number in (1...40).shuffled(using: &random) as [Int64] {
            #expect(try show("real \(number)", 700 + number, lifetime: 60 + number, at: 750) == nil, "\(number)")
        }
        #expect(try show("day 0", 0, at: 800) == .replayed)
        #expect(try show("real 40", 740, at: 800) == .replayed)
    }

    @Test("a clock that is ahead for days moves H by at most one window a day", arguments: [1, 2, 5] as [Int64])
    func aheadForDays(count: Int64) throws {
        try use(days: 10)
        let before = try #require(try store.replayState().confirmed)
        for day in 0...count {
            for number: Int64 in 0..<3 {
                let time = 3 * Self.year + day * Self.day + number
                #expect(try show("ahead \(day) \(number)", time, at: time) == nil)
            }
        }
        // The first of these days confirms the times of the days before.
        let after = try #require(try store.replayState().confirmed)
        #expect(after <= before + Self.day + count * Self.window)
        // With the correct clock, messages that expire after H are shown.
        let lifetime = min(after - now.seconds, Self.window)
        if count == 1 { #expect(try show("long", 100, at: 100) == nil) }
        #expect(try show("short", 200, lifetime: lifetime - 900, at: 200) == .expired)
        #expect(try show("when H is reached", count * Self.window, lifetime: 60, at: count * Self.window) == nil)
    }

    /// The times of the last day aren't confirmed yet.
    @Test(
        "with the clock set back, a message that expired before is refused",
        arguments: [1, 2, 30, 365, 1_095] as [Int64])
    func setBack(days: Int64) throws {
        try use(days: 40)
        for round: Int64 in 0..<60 {
            let time = -days * Self.day + round
            // The message was delayed in transit until now.
            let held = time - round * 60
            let lifetime = -Self.day - Freshness.toleranceInSeconds - held
            if (1...Self.window).contains(lifetime) {
                #expect(try show("held \(round)", held, lifetime: lifetime, at: time) == .expired)
            }
            #expect(try show("old \(round)", held, lifetime: 60, at: time) != nil || days == 1)
        }
        for day: Int64 in -40...0 {
            #expect(try show("day \(day)", day * Self.day, at: -days * Self.day) != nil, "\(day)")
            #expect(try show("day \(day)", day * Self.day, at: day * Self.day) != nil, "\(day)")
        }
    }

    @Test("with the clock set back by up to a day, a message that expired 10 minutes before the last one is refused")
    func setBackALittle() throws {
        try use(days: 40)
        for hours: Int64 in [1, 12, 24] {
            let time = -hours * 3_600
            #expect(try show("\(hours)", time, lifetime: -time - 600, at: time) == .expired)
            #expect(try show("\(hours)", time, lifetime: -time - 599, at: time) == nil)
        }
    }
}
