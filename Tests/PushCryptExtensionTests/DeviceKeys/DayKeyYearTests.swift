import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// A year of phones with day keys: real keys, sealed pushes and records, and times that a test makes. Phones are off for days, are
/// restored from backups, have wrong clocks, run the app rarely or without a network, and are stolen.
@Suite("a year of phones with day keys") struct DayKeyYearTests {
    private static let count =
        ProcessInfo.processInfo.environment["PUSHCRYPT_DAY_DEVICES"].flatMap { Int($0) }
        ?? (LongTests.areEnabled ? 200 : 4)

    @Test(
        "no push is lost but to exp, a clock that was wrong for a day, or a restored backup, and a thief opens what the page says",
        arguments: [KeyPeriod.days(1), .days(7, flight: .seconds(2 * 86_400))])
    func year(period: KeyPeriod) async throws {
        let counts = try await withThrowingTaskGroup(of: YearCounts.self) { group in
            for worker in 0..<2 {
                group.addTask {
                    var sum = YearCounts()
                    for device in stride(from: worker, to: Self.count, by: 2) {
                        sum += try YearPhone(UInt64(device), period).year()
                    }
                    return sum
                }
            }
            return try await group.reduce(into: YearCounts()) { $0 += $1 }
        }
        #expect(counts.violations.isEmpty, "\(counts.violations.prefix(5))")
        #expect(counts.opened > 0 && counts.lastResort > 0 && counts.thefts > 0)
        if Self.count != 200 { print("\(period.days ?? 0) days, \(Self.count) phones: \(counts)") }
    }
}

struct YearCounts: Sendable, CustomStringConvertible {
    var sent = 0
    var opened = 0
    var lastResort = 0
    /// They expired before the phone was on, or by a clock that was ahead.
    var expired = 0
    /// Their keys were erased by a wrong clock, or aren't in the backup.
    var keysLost = 0
    var uploads = 0
    var thefts = 0
    /// The age of the oldest push to a day key that a thief opened, at the last run before the theft.
    var oldestStolen: Int64 = 0
    var violations: [String] = []

    static func += (left: inout YearCounts, right: YearCounts) {
        left.sent += right.sent
        left.opened += right.opened
        left.lastResort += right.lastResort
        left.expired += right.expired
        left.keysLost += right.keysLost
        left.uploads += right.uploads
        left.thefts += right.thefts
        left.oldestStolen = max(left.oldestStolen, right.oldestStolen)
        left.violations += right.violations
    }

    var description: String {
        "\(sent) sent, \(opened) opened, \(lastResort) to the last-resort key, \(expired) expired, \(keysLost) without a key, "
            + "\(uploads) uploads, \(thefts) thefts, the oldest push opened was \(Double(oldestStolen) / 86_400) days old"
    }
}

private final class YearPhone {
    private enum Event {
        case app(isOnline: Bool)
        case push, on, off
        case clock(Int64)
        case backup, restore, theft
    }

    private struct Sent {
        let bytes: [UInt8]
        let kid: KeyID
        let issuedAt: UnixTime
        let expiresAt: UnixTime
        let isLastResort: Bool
    }

    /// What a run could know.
    private struct Run {
        let reading: DayKeys.Reading
        let witness: UnixTime
    }

    private static let (hour, day) = (Int64(3_600), Int64(86_400))
    private let period: KeyPeriod
    private let storage: MemoryKeyring
    private var random: SplitMix64
    private var events: [(at: Int64, event: Event)] = []
    private var counts = YearCounts()
    private var now = UnixTime(1_800_000_000)
    private var offset: Int64 = 0
    /// Since when the clock was ahead.
    private var isAheadSince: UnixTime?
    private var bootedAt = UnixTime(1_799_000_000)
    private var isOn = true
    private var waiting: [Sent] = []
    private var sent: [Sent] = []
    private var recipient: Recipient?
    private var replay = ReplayState()
    private var backup: MemoryKeyring.State?
    /// Whether keys were lost since the backend got the last set.
    private var hasLostKeys = false
    private var wasRestored = false
    private var runs: [Run] = []
    private var answer = UnixTime(.min)

    init(_ seed: UInt64, _ period: KeyPeriod) {
        self.period = period
        storage = MemoryKeyring(period)
        random = SplitMix64(seed: seed)
    }

    private func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }
    private func seconds(_ days: ClosedRange<Double>) -> Int64 {
        Int64(Double.random(in: days, using: &random) * Double(Self.day))
    }

    private func plan() {
        let (start, end) = (now.seconds, now.seconds + 365 * Self.day)
        func add(_ at: Int64, _ event: Event) { if at < end { events.append((at, event)) } }
        add(start, .app(isOnline: true))
        let interval = exp(Double.random(in: -1...2.5, using: &random))
        var at = start
        while at < end {
            at += seconds(0.1 * interval...1.9 * interval)
            add(at, .app(isOnline: chance(0.95)))
        }
        for day in 0..<365 as Range<Int64> { add(start + day * Self.day + seconds(0...1), .push) }
        at = start
        while at < end {
            at += seconds(1...80)
            let length = seconds(chance(0.8) ? 0.1...3 : 3...40)
            add(at, .off)
            add(at + length, .on)
            at += length
        }
        at = start
        while at < end {
            at += seconds(10...200)
            let ahead = seconds(chance(0.5) ? -40...40 : -1...1)
            let length = seconds(chance(0.5) ? 0.01...0.9 : 0.9...5)
            add(at, .clock(ahead))
            if chance(0.2) { add(at + length / 2, .clock(ahead + seconds(-3...3))) }
            add(at + length, .clock(0))
            at += length
        }
        if chance(0.2) {
            let made = start + seconds(5...300)
            add(made, .backup)
            add(made + seconds(0.1...30), .restore)
        }
        add(start + seconds(3...365), .theft)
        events.sort { $0.at < $1.at }
    }

    private var clock: UnixTime { now + offset }
    private var reading: DayKeys.Reading { .init(clock: clock, uptime: now.seconds - bootedAt.seconds) }

    func year() throws -> YearCounts {
        plan()
        for (at, event) in events {
            now = UnixTime(at)
            switch event {
            case .app(let isOnline): if isOn { try runApp(isOnline: isOnline) }
            case .push: try send()
            case .off: isOn = false
            case .on:
                (isOn, bootedAt) = (true, now)
                let delivered = waiting
                waiting = []
                for push in delivered { try receive(push) }
            case .clock(let ahead):
                offset = ahead
                isAheadSince = ahead > 0 ? isAheadSince ?? now : nil
            case .backup: backup = storage.state
            case .restore:
                guard let backup else { break }
                storage.state = backup
                (hasLostKeys, wasRestored) = (true, true)
            case .theft: theft()
            }
        }
        return counts
    }

    private func runApp(isOnline: Bool) throws {
        let identity = DeviceIdentity(storage: storage, clock: { [clock] in clock })
        let record = try identity.makeIfNeeded()
        if isOnline, !record.isConfirmed {
            recipient = try Recipient(jwk: Array(record.jwk.bytes))
            try identity.confirmRegistered(record, answeredAt: now)
            answer = now
            hasLostKeys = false
            counts.uploads += 1
        }
        try erase(nil, nil)
        try identity.prune()
    }

    private func send() throws {
        guard let recipient else { return }
        // The sender's clock is wrong by up to ten minutes.
        let time = now + Int64.random(in: -600...600, using: &random)
        let push = try TestPush(time: time).seal(to: recipient)
        let kid = try OuterPayload(JSONText(push.bytes)).kid
        let message = Sent(
            bytes: push.bytes, kid: kid, issuedAt: time, expiresAt: push.expiresAt, isLastResort: push.usesLastResortKey
        )
        counts.sent += 1
        counts.lastResort += push.usesLastResortKey ? 1 : 0
        sent.append(message)
        if isOn { try receive(message) } else { waiting.append(message) }
    }

    private func receive(_ push: Sent) throws {
        guard now < push.expiresAt else {
            counts.expired += 1
            return
        }
        let opener = try Opener(topic: TestPush.topic, keyring: storage, senders: .unsigned)
        var result = opener.untimed(push.bytes, at: clock) { nil }
        replay.correct(at: clock.seconds)
        let highest = replay.highest(at: clock.seconds).map { UnixTime($0) }
        if let opened = try? result.get(),
            let failure = Freshness.failure(
                issuedAt: opened.issuedAt, expiresAt: opened.expiresAt, clock: clock, highestIssuedAt: highest)
        {
            result = .failure(failure)
        }
        switch result {
        case .success(let opened):
            counts.opened += 1
            replay.accept(opened.issuedAt.seconds, at: clock.seconds)
            try erase(opened.issuedAt, opened.kid)
            return
        // A sender and a phone whose clocks differ by more than ten minutes.
        case .failure(.expired) where offset > 0 || highest.map({ $0 > now }) ?? false: counts.expired += 1
        case .failure(.notYetValid) where offset < 0: counts.expired += 1
        case .failure(.keyExpired) where hasLostKeys, .failure(.unknownKey) where hasLostKeys: counts.keysLost += 1
        case .failure(let failure):
            counts.violations.append("\(failure) of a push of \(push.issuedAt) at \(now), clock \(clock)")
        }
        try erase(nil, nil)
    }

    private func erase(_ issuedAt: UnixTime?, _ kid: KeyID?) throws {
        let before = storage.days?.keys ?? []
        try storage.eraseDayKeys(at: reading, highestIssuedAt: issuedAt, opened: kid)
        runs.append(Run(reading: reading, witness: max(issuedAt ?? UnixTime(.min), answer)))
        let after = Set((storage.days?.keys ?? []).map(\.kid))
        for key in before where !after.contains(key.kid) && now < key.expiresAt {
            hasLostKeys = true
            // The readings of a clock that a restart follows can't be compared.
            let isLong = isAheadSince.map { now >= $0 + Self.day } ?? false
            if !isLong, bootedAt < isAheadSince ?? now {
                counts.violations.append("key of \(key.activatesAt) erased at \(now) by the clock \(clock)")
            }
        }
    }

    /// The keys that a thief finds, against what the page says.
    private func theft() {
        guard let days = storage.days, let last = runs.last, !wasRestored else { return }
        counts.thefts += 1
        let stolen = Set(days.keys.filter { $0.jwk != nil }.map(\.kid))
        // T, without the readings of the clock as witnesses.
        let time = runs.map { min($0.reading.clock, $0.witness) }.max() ?? UnixTime(.min)
        let length = Int64(period.days ?? 0) * Self.day
        for push in sent where stolen.contains(push.kid) {
            counts.oldestStolen = max(counts.oldestStolen, last.reading.clock.seconds - push.issuedAt.seconds)
            if push.issuedAt < time - length - period.flightInSeconds - 600 {
                counts.violations.append("a thief at \(now) opens a push of \(push.issuedAt), T \(time)")
            }
        }
        // A key that has expired by clock and witness is gone, and all others are there.
        for key in days.keys where key.jwk != nil && key.registration == days.registration {
            if key.expiresAt <= min(last.reading.clock, last.witness) {
                counts.violations.append("key of \(key.activatesAt) is there at \(now), T \(time)")
            }
        }
    }
}

/// Keys in memory, whose state a test copies.
final class MemoryKeyring: DeviceKeyStorage {
    struct State {
        var keys: [KeyID: DeviceKey] = [:]
        var days: SecretBytes?
    }

    let period: KeyPeriod
    private let locked = Locked(State())
    var state: State {
        get { locked.withLock { $0 } }
        set { locked.withLock { $0 = newValue } }
    }
    var days: DayKeys? { state.days.flatMap(DayKeys.init) }

    init(_ period: KeyPeriod) { self.period = period }

    func keyIDs() throws(DeviceKeyError) -> [KeyID] { state.keys.keys.sorted() }

    func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey {
        guard let key = state.keys[kid] else { throw DeviceKeyError(.notFound, "no key \(kid)") }
        return key
    }

    func add(_ key: DeviceKey) throws(DeviceKeyError) { locked.withLock { $0.keys[key.kid] = key } }

    func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) {
        let changed = try load(kid).changed(to: lifecycle, at: time)
        locked.withLock { $0.keys[kid] = changed }
    }

    func remove(_ kid: KeyID) throws(DeviceKeyError) { locked.withLock { $0.keys[kid] = nil } }
    func dayKeys() throws(DeviceKeyError) -> SecretBytes? { state.days }

    func replaceDayKeys(_ old: SecretBytes?, by new: SecretBytes?) throws(DeviceKeyError) -> Bool {
        locked.withLock { state in
            guard state.days == old else { return false }
            state.days = new
            return true
        }
    }
}
