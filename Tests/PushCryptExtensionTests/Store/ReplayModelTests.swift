import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// Compares the store with a model that applies the same rules to a dictionary, in random sequences of calls.
@Suite struct ReplayModelTests {
    private static let limit = 6
    private static let start: Int64 = 1_800_000_000

    @Test("random sequences of claims give the same results as a model", arguments: 0..<24 as Range<UInt64>)
    func sequence(_ seed: UInt64) throws {
        let folder = StoreFolder()
        var random = SplitMix64(seed: seed)
        let roles = [SharedStore.Role.app, .extension]
        var models = roles.map { _ in ReplayModel(limit: Self.limit) }
        var stores = roles.map { store(folder, $0) }
        var time = Self.start
        var counts = [true: 0, false: 0]
        for step in 0..<120 {
            let index = Int.random(in: 0..<2, using: &random)
            let (id, issuedAt) = Self.message(&random, time)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<6:
                let expected = models[index].claim(id, issuedAt: issuedAt, at: time)
                let granted = try stores[index].claim(id, issuedAt: UnixTime(issuedAt), at: UnixTime(time))
                #expect(granted == expected, "seed \(seed), step \(step)")
                counts[granted]? += 1
            case 6..<8:
                models[index].markSeen(id)
                try stores[index].markSeen(id)
            case 8: time += Self.jump(&random)
            default: stores[index] = store(folder, roles[index])
            }
            let state = try stores[index].replayState()
            #expect(state.latest == models[index].latest, "seed \(seed), step \(step)")
            #expect(state.confirmed == models[index].confirmed, "seed \(seed), step \(step)")
        }
        // Both answers must occur often; otherwise the test covers little.
        #expect(counts.values.allSatisfy { $0 > 5 }, "\(counts)")
    }

    private func store(_ folder: StoreFolder, _ role: SharedStore.Role) -> SharedStore {
        folder.store(role) { $0.messageLimit = Self.limit }
    }

    /// A random message. Most are new, others are weeks old, and some have the same `iat`. Some were sealed again, up to
    /// three weeks later.
    private static func message(_ random: inout SplitMix64, _ time: Int64) -> (id: String, issuedAt: Int64) {
        let age = Int64([0, 0, 0, 1, 2].randomElement(using: &random) ?? 0)
        let epoch = (time - start) / (20 * 86_400) - age
        let number = Int.random(in: 0..<8, using: &random)
        let delay = Int64([0, 0, 0, 1, 20, 21].randomElement(using: &random) ?? 0)
        return ("\(epoch).\(number)", start + (epoch * 20 + Int64(number / 2) - 4 + delay) * 86_400)
    }

    private static func jump(_ random: inout SplitMix64) -> Int64 {
        let seconds: [Int64] = [
            1, 59, 60, 61, 80_000, 86_399, 86_400, 86_400, 2 * 86_400, 20 * 86_400, 31 * 86_400, 1_000 * 86_400,
        ]
        let jump = seconds.randomElement(using: &random) ?? 1
        return Int.random(in: 0..<3, using: &random) == 0 ? -jump : jump
    }
}

/// The rules of PROTOCOL section 5.
private struct ReplayModel {
    private static let day: Int64 = 86_400
    private static let window: Int64 = 30 * day
    private static let tolerance: Int64 = 600
    let limit: Int
    private(set) var latest: Int64?
    private(set) var confirmed: Int64?
    private var since: Int64?
    private var floor = Int64.min
    private var messages: [String: (issuedAt: Int64, claimed: Int64?)] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    mutating func claim(_ id: String, issuedAt: Int64, at clock: Int64) -> Bool {
        var believed = latest
        if let latest, latest > clock + Self.day { believed = confirmed }
        let now = max(clock, (believed ?? .min + Self.tolerance) - Self.tolerance)
        guard issuedAt <= now + Self.tolerance, issuedAt + Self.window > now else { return false }
        if believed != latest {
            latest = confirmed
            since = clock
            floor = min(floor, max(clock, confirmed ?? clock))
        }
        guard grant(id, issuedAt, clock) else { return false }
        accept(issuedAt, clock)
        forget(clock)
        return true
    }

    private mutating func grant(_ id: String, _ issuedAt: Int64, _ clock: Int64) -> Bool {
        if let message = messages[id] {
            let latest = max(message.issuedAt, issuedAt)
            messages[id]?.issuedAt = latest
            guard let claimed = message.claimed, abs(clock - claimed) >= 60 else { return false }
            messages[id] = (latest, clock)
        } else {
            guard issuedAt > floor else { return false }
            messages[id] = (issuedAt, clock)
        }
        return true
    }

    private mutating func accept(_ issuedAt: Int64, _ clock: Int64) {
        if let latest, let start = since, clock >= start + Self.day {
            confirmed = min(latest, (confirmed ?? latest) + Self.window)
            since = clock
        }
        since = min(since ?? clock, clock)
        latest = max(latest ?? issuedAt, issuedAt)
    }

    private mutating func forget(_ clock: Int64) {
        if let confirmed {
            messages = messages.filter { $0.value.issuedAt + Self.window + Self.tolerance >= confirmed }
        }
        let ahead = max(clock, latest ?? clock) + Self.tolerance
        while messages.count > limit {
            let order = messages.sorted { ($0.value.issuedAt, $0.key) < ($1.value.issuedAt, $1.key) }
            guard let oldest = order.first, let newest = order.last else { break }
            if newest.value.issuedAt > ahead {
                let going = order.filter { $0.value.issuedAt == newest.value.issuedAt }.first ?? newest
                messages[going.key] = nil
            } else {
                messages[oldest.key] = nil
                floor = max(floor, oldest.value.issuedAt)
            }
        }
    }

    mutating func markSeen(_ id: String) {
        messages[id]?.claimed = nil
    }
}

/// The times that a device remembers (PROTOCOL section 5), and how far a wrong clock can move them.
@Suite struct ClockMemoryTests {
    private static let day: Int64 = 86_400
    private static let year = 365 * day
    private static let window = MessageHeader.windowInSeconds
    private let folder = StoreFolder { $0.messageLimit = 50 }
    private var store: SharedStore { folder.first }
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
