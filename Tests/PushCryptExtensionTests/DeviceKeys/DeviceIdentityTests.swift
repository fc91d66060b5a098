import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import Testing

@Suite("DeviceIdentity") struct DeviceIdentityTests {
    private static let (now, day) = (TestKeyring.now, Int64(86_400))
    private let place = TestKeyring()

    private func suite(_ record: RegistrationRecord) throws -> Suite {
        try Recipient(jwk: Array(record.jwk.bytes)).suite
    }

    @Test("makeIfNeeded makes one pair and returns it in later calls") func made() throws {
        #expect(try place.identity().current() == nil)
        let record = try place.identity().makeIfNeeded()
        #expect(!record.isConfirmed)
        #expect(try place.identity().makeIfNeeded().kid == record.kid)
        #expect(try place.identity().current()?.jwk == record.jwk)
        #expect(try place.keyring.keyIDs() == [record.kid])
    }

    @Test("a sender can read the registration record, which has no private half", arguments: [Suite.p256, .x25519])
    func record(_ suite: Suite) throws {
        let record = try place.register(.init(suite: suite))
        let keyset = try Keyset(json: Array(record.jwk.bytes))
        #expect(keyset.keyIDs == [record.kid])
        #expect(!keyset.entries[0].record.isPrivateAsymmetric)
        #expect(keyset.entries[0].record.hasPSK)
        #expect(try self.suite(record) == suite)
        #expect(!"\(record)".contains("psk"))
    }

    @Test("rotate changes a device over to X-Wing where the system has it, and elsewhere makes no pair")
    func changeOver() throws {
        let old = try place.register()
        let options = DeviceIdentity.Options(suite: .xWing)
        guard Suite.xWing.isAvailable else {
            expectDeviceKeyError(.unsupportedSuite) { try place.identity(options).rotate() }
            #expect(try place.keyring.keyIDs() == [old.kid])
            return
        }
        let new = try place.rotate(options)
        #expect(try suite(new) == .xWing)
        for kid in [old.kid, new.kid] { _ = try place.keyring.key(kid, at: Self.now + Self.day) }
        #expect(try place.identity().current()?.kid == new.kid)
    }

    @Test(
        "a device with an X-Wing pair makes X-Wing pairs also where the options name another suite, until its keys are erased",
        .enabled(if: Suite.xWing.isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"),
        arguments: [Suite.p256, .x25519])
    func neverBack(_ suite: Suite) throws {
        let old = try place.register(.init(suite: .xWing))
        let identity = place.identity(.init(suite: suite))
        let new = try identity.rotate()
        #expect(try new.kid != old.kid && self.suite(new) == .xWing)
        try identity.revoke(old.kid)
        try identity.revoke(new.kid)
        #expect(try self.suite(identity.makeIfNeeded()) == .xWing)
        try identity.eraseAll()
        #expect(try self.suite(identity.makeIfNeeded()) == suite)
    }

    @Test("pairs of suites 1 and 2 follow each other as the options name them")
    func equalSuites() throws {
        for suite in [Suite.p256, .x25519, .p256] {
            #expect(try self.suite(place.rotate(.init(suite: suite))) == suite)
        }
    }

    @Test("a shared suite is refused when a pair is made") func noPair() throws {
        expectDeviceKeyError(.unsuitable) { try place.identity(.init(suite: .shared)).makeIfNeeded() }
        #expect(try place.names() == [])
    }

    @Test("the old pair opens without expiry until the new pair, which rotate returns unchanged, is confirmed")
    func unconfirmed() throws {
        let old = try place.register()
        let new = try place.identity().rotate()
        #expect(new.kid != old.kid && !new.isConfirmed)
        #expect(try place.identity(at: Self.now + Self.day).rotate().kid == new.kid)
        #expect(try place.keyring.keyIDs().count == 2)
        let later = Self.now + 300 * Self.day
        #expect(try place.identity(at: later).prune() == [])
        for kid in [old.kid, new.kid] { _ = try place.keyring.key(kid, at: later) }
        #expect(try place.identity(at: later).current()?.kid == new.kid)
    }

    @Test("a confirmed pair's predecessor opens for the overlap of at least 30 days", arguments: [0, 1, 30, 60])
    func overlap(days: Int64) throws {
        let options = DeviceIdentity.Options(overlapInSeconds: days * Self.day)
        let old = try place.register(options)
        let new = try place.identity(options).rotate()
        let confirmation = Self.now + 5 * Self.day
        try place.identity(options, at: confirmation).confirmRegistered(new)
        // The overlap is at least the longest delivery time of a push.
        let end = confirmation + max(days, 30) * Self.day + 600
        _ = try place.keyring.key(old.kid, at: end - 1)
        expectNoKey(.keyExpired, old.kid, in: place.keyring, at: end)
        _ = try place.keyring.key(new.kid, at: end)
        #expect(try place.keyring.load(old.kid).lifecycle.retiresAt == confirmation)
        #expect(try place.keyring.load(new.kid).lifecycle.expiresAt == nil)
        #expect(try place.identity(at: end - 1).prune() == [])
        #expect(try place.identity(at: end).prune() == [old.kid])
        #expect(try place.keyring.keyIDs() == [new.kid])
        #expect(try place.identity(at: end).prune() == [])
    }

    /// The rotations are in the same second, with a clock that is set back, or seconds apart.
    @Test("pairs are ordered by their creation, even if the clock is set back", arguments: [0, -1_000_000, 5])
    func order(step: Int64) throws {
        var (kids, time) = ([try place.register().kid], Self.now)
        for _ in 1...8 {
            time = time + step
            kids.append(try place.rotate(at: time).kid)
            #expect(try place.identity(at: time).current()?.kid == kids.last)
        }
        #expect(Set(kids).count == 9)
        for kid in kids.dropLast() { #expect(try place.keyring.load(kid).lifecycle.expiresAt != nil) }
        #expect(try place.keyring.load(kids[8]).lifecycle.expiresAt == nil)
    }

    @Test("confirming a pair after a newer one was confirmed throws superseded") func superseded() throws {
        let old = try place.register()
        let new = try place.rotate()
        try place.identity().confirmRegistered(new)
        expectDeviceKeyError(.superseded) { try place.identity().confirmRegistered(old) }
        let other = try TestKeyring().register()
        expectDeviceKeyError(.notFound) { try place.identity().confirmRegistered(other) }
    }

    @Test("a revoked pair opens nothing, and makeIfNeeded makes another one") func revoked() throws {
        let old = try place.register()
        try place.identity().revoke(old.kid)
        try place.identity().revoke(old.kid)
        expectNoKey(.keyRevoked, old.kid, in: place.keyring)
        let new = try place.identity().makeIfNeeded()
        #expect(new.kid != old.kid)
        #expect(try place.identity().prune() == [old.kid])
        #expect(try place.keyring.keyIDs() == [new.kid])
    }

    @Test("prune erases nothing if the clock is in the wrong year") func wrongYear() throws {
        let old = try place.register(at: Self.now - Self.day)
        try place.rotate()
        #expect(try place.identity(at: Self.now + 400 * Self.day + 1).prune() == [])
        #expect(try place.keyring.keyIDs().count == 2)
        #expect(try place.identity(at: Self.now + 400 * Self.day).prune() == [old.kid])
    }

    @Test("if the only pair is damaged, makeIfNeeded makes another, and eraseAll erases both") func damaged() throws {
        let kid = try place.register().kid
        try place.write("{", as: kid)
        let new = try place.identity().makeIfNeeded()
        #expect(new.kid != kid)
        #expect(try place.text(kid) == "{")
        try place.identity().eraseAll()
        #expect(try place.names() == [])
        #expect(try place.identity().current() == nil)
    }

    @Test("concurrent calls of makeIfNeeded make one pair") func concurrent() async throws {
        let identity = place.identity()
        let kids = try await withThrowingTaskGroup(of: KeyID.self) { group in
            for _ in 1...8 { group.addTask { try identity.makeIfNeeded().kid } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(kids.count == 1)
        #expect(try place.keyring.keyIDs().count == 1)
    }

    private static func deviceKeyset(_ device: String, _ lifecycle: KeyLifecycle = .always) throws -> [UInt8] {
        try TestKeys.keyset("shared", lifecycle).device(DeviceID(device)).jwkSet(withHistory: false)
    }

    @Test("an adopted device key is stored and opens pushes") func adopts() throws {
        try place.identity().adopt(jwk: ReferenceVectors.shared.jwk("device"))
        _ = try TestPush.open(TestPush(key: "device").sealed(), with: place.keyring).get()
        #expect(try place.identity().current() == nil)
    }

    @Test(
        "adopting any other kind of key, or JSON without a key, is refused",
        arguments: ["shared", "p256", "p256 psk", "sender"].map { ReferenceVectors.shared.jwk($0).text }
            + ["", "{}", "[1]"])
    func refusesToAdopt(_ jwk: String) throws {
        expectDeviceKeyError(.unsuitable) { try place.identity().adopt(jwk: Array(jwk.utf8)) }
        #expect(try place.names() == [])
    }

    @Test("another device's key of the same master throws conflict") func adoptsNoOtherDevice() throws {
        try place.identity().adopt(jwk: Self.deviceKeyset("phone-1"))
        let before = try place.text(TestKeys.id("shared"))
        expectDeviceKeyError(.conflict) { try place.identity().adopt(jwk: Self.deviceKeyset("phone-2")) }
        #expect(try place.text(TestKeys.id("shared")) == before)
    }

    @Test("a later set of the backend replaces the lifecycle of an adopted key") func adoptsLifecycle() throws {
        let (kid, now) = (try TestKeys.id("shared"), TestKeyring.now)
        try place.identity().adopt(jwk: Self.deviceKeyset("phone-1"))
        let ended = KeyLifecycle(activatesAt: UnixTime(0), expiresAt: now + 100)
        try place.identity().adopt(jwk: Self.deviceKeyset("phone-1", ended))
        _ = try place.keyring.key(kid, at: now + 99)
        expectNoKey(.keyExpired, kid, in: place.keyring, at: now + 100)
        #expect(try place.identity(at: now + 99).prune() == [])
        #expect(try place.identity(at: now + 100).prune() == [kid])
    }

    @Test("rotating the device's pair doesn't change an adopted key") func keepsAdopted() throws {
        try place.identity().adopt(jwk: ReferenceVectors.shared.jwk("device"))
        try place.register()
        try place.rotate()
        #expect(try place.keyring.load(TestKeys.id("device")).lifecycle.expiresAt == nil)
    }
}
