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
