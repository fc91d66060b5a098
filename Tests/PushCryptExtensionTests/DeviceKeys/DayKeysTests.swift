import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// A phone with day keys: its keyring, its clocks, and the backend that has its record.
final class DayPhone: Sendable {
    static let (now, hour, day) = (TestPush.now, Int64(3_600), Int64(86_400))

    let place: TestKeyring
    let options: DeviceIdentity.Options
    private let readings = Locked(DayKeys.Reading(clock: now, uptime: 1_000))
    /// The record that the backend has.
    let record = Locked<RegistrationRecord?>(nil)

    init(_ period: KeyPeriod = .days(1), _ options: DeviceIdentity.Options = .init()) {
        place = TestKeyring(period)
        self.options = options
    }

    var keyring: FileKeyring { place.keyring }
    var reading: DayKeys.Reading { readings.withLock { $0 } }
    var clock: UnixTime { reading.clock }
    var days: DayKeys { get throws { try #require(keyring.dayKeys().flatMap(DayKeys.init)) } }
    /// The days for which the device has keys of its record, from 0 for that of ``now``.
    var listedDays: [Int64] {
        get throws {
            try #require(recipient.deviceSet).days.map {
                ($0.activatesAt.seconds - Self.now.seconds / Self.day * Self.day) / Self.day
            }
        }
    }

    func pass(_ seconds: Int64) {
        readings.withLock { $0 = .init(clock: $0.clock + seconds, uptime: $0.uptime + seconds) }
    }

    func setClock(forward seconds: Int64) {
        readings.withLock { $0 = .init(clock: $0.clock + seconds, uptime: $0.uptime) }
    }

    func restart() { readings.withLock { $0 = .init(clock: $0.clock, uptime: 10) } }

    var identity: DeviceIdentity {
        DeviceIdentity(storage: keyring, options: options, clock: { [clock] in clock })
    }

    /// The app starts, and the backend stores the record.
    @discardableResult
    func launch(isOnline: Bool = true, answeredAt: UnixTime? = nil) throws -> RegistrationRecord {
        let record = try identity.makeIfNeeded()
        if isOnline, !record.isConfirmed {
            try identity.confirmRegistered(record, answeredAt: answeredAt)
            self.record.withLock { $0 = record }
        }
        return record
    }

    var recipient: Recipient {
        get throws {
            let record = try #require(record.withLock { $0 })
            return try Recipient(jwk: Array(record.jwk.bytes))
        }
    }

    func seal(at time: UnixTime? = nil) throws -> SealedPush {
        try TestPush(time: time ?? clock).seal(to: recipient)
    }

    /// The extension gets a push.
    @discardableResult
    func open(_ push: SealedPush) throws -> Result<OpenedPush, FailureClass> {
        let result = try TestPush.open(push.bytes, with: keyring, at: clock)
        let opened = try? result.get()
        try run(highestIssuedAt: opened?.issuedAt, opened: opened?.kid)
        return result
    }

    /// App or extension runs without a push.
    func run(highestIssuedAt: UnixTime? = nil, opened: KeyID? = nil) throws {
        try keyring.eraseDayKeys(at: reading, highestIssuedAt: highestIssuedAt, opened: opened)
    }
}

@Suite("day keys") struct DayKeysTests {
    private static let (hour, day) = (DayPhone.hour, DayPhone.day)
    private let phone = DayPhone()

    @Test(
        "a record has keys for 14 days within its limit of bytes, and a push is sealed to the key of its day and opens",
        arguments: [(Suite.p256, 4_500), (.x25519, 4_500), (.xWing, 26_000)])
    func fourteenDays(suite: PushCryptCore.Suite, limitInBytes: Int) throws {
        guard suite.isAvailable else { return }
        let phone = DayPhone(.days(1), .init(suite: suite))
        let record = try phone.launch()
        #expect(try phone.listedDays == Array(0...13))
        let root = try JSONText(Array(record.jwk.bytes)).root
        let set = try #require(root[DeviceSet.memberName]?.utf8)
        #expect(set.count <= limitInBytes, "\(set.count) bytes")
        var kids = Set<KeyID>()
        for day in 0...13 {
            let push = try phone.seal()
            #expect(!push.usesLastResortKey && push.expiresAt == phone.clock + Self.day)
            let opened = try phone.open(push).get()
            #expect(opened.content.body.literal == "Build 1.10 is ready" && opened.kid != record.kid)
            kids.insert(opened.kid)
            #expect(kids.count == day + 1)
            phone.pass(Self.day)
        }
        let late = try phone.seal()
        #expect(try late.usesLastResortKey && phone.open(late).get().kid == record.kid)
    }

    @Test("keys of seven days have four periods, and a set with them and a flight of three days has those times")
    func weeks() throws {
        let phone = DayPhone(.days(7, flight: .seconds(3 * 86_400)))
        try phone.launch()
        #expect(try phone.listedDays == [0, 7, 14, 21])
        #expect(try phone.recipient.longestLifetime == .seconds(3 * 86_400))
        #expect(try phone.days.keys.allSatisfy { $0.expiresAt == $0.retiresAt + 3 * 86_400 + 600 })
    }

    @Test(
        "a key is erased at the first run after its expiry at which an accepted push is that late, and then its kid is keyExpired"
    )
    func erasure() throws {
        try phone.launch()
        let first = try phone.seal()
        let kid = try phone.open(first).get().kid
        // Midnight is 16 hours away, and the key expires a day and ten minutes later.
        phone.pass(16 * Self.hour + Self.day + 599)
        try phone.open(phone.seal())
        #expect(try phone.days.keys.contains { $0.kid == kid })
        phone.pass(1)
        try phone.open(phone.seal())
        #expect(try !phone.days.keys.contains { $0.kid == kid })
        #expect(try TestPush.open(first.bytes, with: phone.keyring, at: DayPhone.now).failure == .keyExpired)
        // The material is gone from the disk.
        let text = try String(contentsOf: phone.place.folder.file("keys/days.json"), encoding: .utf8)
        #expect(!text.contains("\"kid\":\"\(kid)\""))
        phone.pass(60 * Self.day)
        try phone.run()
        #expect(try TestPush.open(first.bytes, with: phone.keyring, at: DayPhone.now).failure == .unknownKey)
    }

    @Test("a key is erased at the first run after its expiry at which the backend's last answer is that late")
    func answer() throws {
        try phone.launch()
        phone.pass(3 * Self.day)
        try phone.run()
        #expect(try phone.days.keys.count == 14)
        try phone.launch(answeredAt: phone.clock)
        try phone.run()
        // Those of days 0 and 1; the key of day 2 has an hour left.
        #expect(try phone.days.keys.map(\.activatesAt).min() == DayPhone.now - 8 * Self.hour + 2 * Self.day)
    }

    enum Clock: CaseIterable { case anHour, twoJumps, twoDays, twoJumpsAndARestart }

    @Test(
        "a clock that is a month ahead for an hour, or is set twice, erases nothing; one that is for two days erases all",
        arguments: Clock.allCases)
    func wrongClock(clock: Clock) throws {
        try phone.launch()
        phone.setClock(forward: 30 * Self.day)
        try phone.run()
        phone.pass(Self.hour)
        switch clock {
        case .anHour: break
        case .twoJumps: phone.setClock(forward: 2 * Self.day)
        case .twoJumpsAndARestart:
            phone.restart()
            phone.setClock(forward: 2 * Self.day)
        case .twoDays: phone.pass(2 * Self.day)
        }
        try phone.run()
        let isErased = clock == .twoDays || clock == .twoJumpsAndARestart
        #expect(try phone.days.keys.isEmpty == isErased)
        // The clock is right again.
        phone.setClock(forward: DayPhone.now.seconds + 3 * Self.day - phone.clock.seconds)
        let push = try phone.seal()
        #expect(try phone.open(push).failure == (isErased ? .keyExpired : nil))
        try phone.launch()
        #expect(try phone.open(phone.seal()).failure == nil)
        #expect(try phone.listedDays.contains(3))
    }

    @Test(
        "a reading before the expiry removes an earlier one: two single hours a month ahead, days apart, erase nothing")
    func interruptedReadings() throws {
        try phone.launch()
        for _ in 1...2 {
            phone.setClock(forward: 30 * Self.day)
            try phone.run()
            phone.setClock(forward: -30 * Self.day)
            try phone.run()
            phone.pass(Self.day)
        }
        #expect(try phone.days.keys.count == 14)
    }

    @Test(
        "a device gives a listed day no other key, wherever its clock goes, and seq grows", arguments: [-40, -3, 3, 10])
    func stability(days: Int64) throws {
        try phone.launch()
        let before = try phone.days
        phone.setClock(forward: days * Self.day)
        try phone.launch()
        #expect(try #require(phone.recipient.deviceSet).sequence > before.sequence)
        phone.setClock(forward: -days * Self.day)
        try phone.launch()
        for key in before.keys {
            #expect(try phone.days.keys.contains { $0.kid == key.kid && $0.activatesAt == key.activatesAt })
        }
        #expect(try #require(phone.recipient.deviceSet).key(at: phone.clock)?.kid == before.keys[0].kid)
    }

    @Test(
        "a clock that goes forward again and again leaves at most 48 keys; after it was set back, those of today are there"
    )
    func manyClocks() throws {
        for step in [100, 100, 100, 100, 100, -500] as [Int64] {
            phone.setClock(forward: step * Self.day)
            try phone.launch()
            #expect(try phone.days.keys.filter { $0.jwk != nil }.count <= 48)
            #expect(try phone.recipient.ofDay(at: phone.clock) != nil)
        }
    }

    @Test("the extension's erasure and the app's new keys, made at the same time, are both kept")
    func lostUpdate() throws {
        try phone.launch()
        phone.pass(3 * Self.day)
        let interrupted = InterruptedKeyring(phone.keyring) { [phone] in
            try phone.launch()
        }
        try interrupted.eraseDayKeys(at: phone.reading, highestIssuedAt: phone.clock)
        #expect(try phone.days.keys.map(\.activatesAt).min() == DayPhone.now - 8 * Self.hour + 2 * Self.day)
        #expect(try phone.open(phone.seal(at: phone.clock)).failure == nil)
        #expect(try phone.listedDays.last == 16)
        for day in try #require(phone.recipient.deviceSet).days.filter({ $0.retiresAt > phone.clock }) {
            #expect(try phone.days.keys.contains { $0.kid == day.kid })
        }
    }

    @Test(
        "after a push to the last-resort key the next launch registers a new record, whose predecessor opens for a flight and 70 minutes"
    )
    func renewal() throws {
        let old = try phone.launch()
        phone.pass(15 * Self.day)
        let push = try phone.seal()
        #expect(try push.usesLastResortKey && phone.open(push).get().kid == old.kid)
        let delayed = try phone.seal()
        let new = try phone.launch()
        #expect(try new.kid != old.kid && phone.listedDays.count == 14)
        #expect(try phone.open(delayed).failure == nil)
        phone.pass(Self.day + 70 * 60 - 1)
        try phone.open(phone.seal())
        #expect(try phone.keyring.keyIDs().contains(old.kid))
        phone.pass(1)
        try phone.open(phone.seal())
        #expect(try phone.keyring.keyIDs() == [new.kid])
        #expect(try phone.days.keys.allSatisfy { $0.registration == new.kid })
        try phone.identity.prune()
        #expect(try phone.launch().kid == new.kid)
    }

    @Test("a set that had no key for a day leads to a new record, even if no push came; a new key within a day doesn't")
    func gap() throws {
        let old = try phone.launch()
        phone.pass(13 * Self.day)
        #expect(try phone.launch().kid == old.kid)
        phone.pass(15 * Self.day)
        let new = try phone.launch()
        #expect(new.kid != old.kid)
        phone.setClock(forward: 30 * Self.day)
        #expect(try phone.launch(isOnline: false).kid != new.kid)
    }

    @Test(
        "the change to day keys, of the flight and back registers a new record; pushes to the old one open for as long as it promised"
    )
    func changes() throws {
        let phone = DayPhone(.renewed())
        let first = try phone.launch()
        let push = try phone.seal()
        func identity(_ period: KeyPeriod) -> DeviceIdentity {
            DeviceIdentity(
                storage: FileKeyring(folder: phone.place.path, period: period), clock: { [phone] in phone.clock })
        }
        var kids = [first.kid]
        for period in [KeyPeriod.days(1), .days(1), .days(7), .days(7, flight: .seconds(2 * 86_400)), .renewed()] {
            let record = try identity(period).makeIfNeeded()
            try identity(period).confirmRegistered(record)
            if record.kid != kids.last { kids.append(record.kid) }
            phone.pass(Self.hour)
        }
        #expect(kids.count == 4)
        // The keys of the first record open for 30 days, whatever came after it.
        let end = try phone.keyring.load(first.kid).lifecycle.expiresAt
        #expect(end == DayPhone.now + 30 * Self.day + 601)
        phone.pass(20 * Self.day)
        #expect(try phone.open(push).failure == nil)
        #expect(try identity(.renewed()).makeIfNeeded().jwk.count < 400)
    }

    @Test(
        "a push on its way when the flight becomes shorter, or day keys end, opens as long as the former flight promised"
    )
    func shorterFlight() throws {
        for period in [KeyPeriod.days(1), .renewed()] {
            let phone = DayPhone(.days(1, flight: .seconds(7 * 86_400)))
            try phone.launch()
            let push = try phone.seal()
            let keyring = FileKeyring(folder: phone.place.path, period: period)
            let identity = DeviceIdentity(storage: keyring, clock: { [phone] in phone.clock })
            try identity.confirmRegistered(identity.makeIfNeeded())
            phone.pass(7 * Self.day - 1)
            try identity.eraseExpired(highestIssuedAt: phone.clock)
            try identity.prune()
            #expect(try TestPush.open(push.bytes, with: keyring, at: phone.clock).failure == nil)
            phone.pass(70 * 60 + 1)
            try identity.eraseExpired(highestIssuedAt: phone.clock)
            #expect(try keyring.keyIDs().count == 1)
            #expect(try TestPush.open(push.bytes, with: keyring, at: phone.clock - 4_300).failure == .keyExpired)
        }
    }

    @Test(
        "a signed push opens with its day key; one that was sealed to another record, which lists that key, is undecryptable"
    )
    func signature() throws {
        let record = try phone.launch()
        let trust = SenderTrust.pinned(try TestKeys.trusted(["sender"]))
        let opener = try Opener(topic: TestPush.topic, keyring: phone.keyring, senders: trust)
        let push = try TestPush(signer: "sender").seal(to: phone.recipient)
        #expect(try opener.open(push.bytes, at: phone.clock).get().kid != record.kid)
        // Its owner has seen the psk and the day keys of the phone, and proves a key of his own.
        let own = try KeyRecord.generate(.recipient, backend: DefaultBackend.shared).publicRecord(keepingPSK: false)
        let root = try JSONText(Array(record.jwk.bytes)).root
        let psk = try #require(root["psk"]?.utf8.flatMap(Base64URL.decodeSecret))
        let other = own.withPSK(psk)
        let keys = try phone.days.keys.map { key in
            let jwk = try #require(key.jwk)
            var text = [UInt8]()
            let record = try KeyRecord(JSONText(Array(jwk.bytes)).root, backend: DefaultBackend.shared)
            try record.publicRecord(keepingPSK: false).appendJWK(to: &text)
            return (text, DeviceSet.Days(kid: key.kid, activatesAt: key.activatesAt, retiresAt: key.retiresAt))
        }
        let set = try DeviceSet.text(of: keys, sequence: 1, flight: Self.day, for: other)
        var text = [UInt8]()
        try other.appendJWK(to: &text)
        text.removeLast()
        text += #","deviceSet":"#.utf8
        JSONWriter.appendString(utf8: set[...], to: &text)
        let forged = try TestPush(signer: "sender").seal(to: Recipient(jwk: text + Array("}".utf8)))
        #expect(try OuterPayload(JSONText(forged.bytes)).kid == keys[0].1.kid)
        #expect(opener.open(forged.bytes, at: phone.clock).failure == .undecryptable)
    }

    @Test("the confirmation of an earlier upload leaves the set of a newer pair as it is")
    func lateConfirmation() throws {
        let old = try phone.launch()
        phone.pass(Self.day)
        let update = try phone.identity.makeIfNeeded()
        let new = try phone.identity.rotate()
        try phone.identity.confirmRegistered(update)
        #expect(
            try phone.days.keys.filter { $0.registration == new.kid }.map(\.expiresAt).max() ?? phone.clock > phone
                .clock + 13 * Self.day)
        try phone.identity.confirmRegistered(new)
        let end = try #require(try phone.days.keys.first { $0.kid == old.kid }).expiresAt
        #expect(end == phone.clock + Self.day + 70 * 60)
    }

    @Test("a pair that was made while the clock was years ahead is renewed after a push to its last-resort key")
    func madeInTheFuture() throws {
        phone.setClock(forward: 1_000 * Self.day)
        let record = try phone.launch()
        phone.setClock(forward: -1_000 * Self.day)
        let push = try phone.seal()
        #expect(try push.usesLastResortKey && phone.open(push).failure == nil)
        let new = try phone.launch()
        #expect(new.kid != record.kid)
        #expect(try phone.launch().kid == new.kid && !phone.seal().usesLastResortKey)
    }

    @Test("an unconfirmed pair with a set is replaced when day keys end, and revoking a record ends its day keys")
    func endings() throws {
        let unconfirmed = try phone.launch(isOnline: false)
        let keyring = FileKeyring(folder: phone.place.path)
        let identity = DeviceIdentity(storage: keyring, clock: { [phone] in phone.clock })
        let plain = try identity.makeIfNeeded()
        #expect(try plain.kid != unconfirmed.kid && JSONText(Array(plain.jwk.bytes)).root["deviceSet"] == nil)
        let other = DayPhone()
        let record = try other.launch()
        let push = try other.seal()
        try other.identity.revoke(record.kid)
        #expect(try other.open(push).failure == .keyExpired)
    }

    @Test("a sign-out erases the day keys, also those of a replaced record") func signOut() throws {
        try phone.launch()
        try phone.identity.confirmRegistered(phone.identity.rotate())
        let push = try phone.seal()
        try phone.identity.eraseAll()
        #expect(try phone.keyring.dayKeys() == nil && phone.keyring.keyIDs().isEmpty)
        #expect(try phone.open(push).failure == .unknownKey)
    }

    @Test("a record without a psk has no day keys") func withoutPSK() throws {
        let phone = DayPhone(.days(1), .init(withPSK: false))
        let record = try phone.launch()
        #expect(try phone.keyring.dayKeys() == nil && phone.recipient.deviceSet == nil)
        #expect(try phone.launch().kid == record.kid)
    }

    @Test("damaged day keys are made again, and pushes to the old ones are unknownKey until then")
    func damage() throws {
        try phone.launch()
        let push = try phone.seal()
        try Data("{}".utf8).write(to: phone.place.folder.file("keys/days.json"))
        try phone.place.folder.setMode(0o600, of: "keys/days.json")
        #expect(try phone.open(push).failure == .unknownKey)
        phone.pass(1)
        try phone.launch()
        #expect(try phone.open(phone.seal()).failure == nil)
    }

    @Test("before the first unlock a push to a day key is keyLocked, and the app makes nothing") func locked() throws {
        try phone.launch()
        let push = try phone.seal()
        try phone.place.folder.setMode(0, of: "keys")
        defer { try? phone.place.folder.setMode(0o700, of: "keys") }
        guard getuid() != 0 else { return }
        #expect(try phone.open(push).failure == .keyLocked)
        expectDeviceKeyError(.locked) { try phone.identity.makeIfNeeded() }
    }
}

/// A keyring of which another process changes the day keys between the reading and the writing of the first change.
private struct InterruptedKeyring: DeviceKeyStorage {
    let keyring: FileKeyring
    let interruption: @Sendable () throws -> Void
    private let isDone = Locked(false)

    init(_ keyring: FileKeyring, _ interruption: @escaping @Sendable () throws -> Void) {
        (self.keyring, self.interruption) = (keyring, interruption)
    }

    var period: KeyPeriod { keyring.period }
    func keyIDs() throws(DeviceKeyError) -> [KeyID] { try keyring.keyIDs() }
    func load(_ kid: KeyID) throws(DeviceKeyError) -> DeviceKey { try keyring.load(kid) }
    func add(_ key: DeviceKey) throws(DeviceKeyError) { try keyring.add(key) }
    func update(_ kid: KeyID, to lifecycle: KeyLifecycle, at time: UnixTime) throws(DeviceKeyError) {
        try keyring.update(kid, to: lifecycle, at: time)
    }
    func remove(_ kid: KeyID) throws(DeviceKeyError) { try keyring.remove(kid) }
    func dayKeys() throws(DeviceKeyError) -> SecretBytes? { try keyring.dayKeys() }
    func replaceDayKeys(_ old: SecretBytes?, by new: SecretBytes?) throws(DeviceKeyError) -> Bool {
        let isFirst = isDone.withLock { done in
            defer { done = true }
            return !done
        }
        if isFirst { try? interruption() }
        return try keyring.replaceDayKeys(old, by: new)
    }
}
