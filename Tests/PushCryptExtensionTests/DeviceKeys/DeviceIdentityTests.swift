import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import Testing

@Suite("DeviceIdentity") struct DeviceIdentityTests {
    private static let (now, day) = (TestKeyring.now, Int64(86_400))
    private static let overlap = 30 * day + 600

    @Test("makeIfNeeded makes one pair and returns it in later calls") func made() throws {
        let place = try TestKeyring()
        #expect(try place.identity().current() == nil)
        let record = try place.identity().makeIfNeeded()
        #expect(!record.isConfirmed)
        #expect(try place.identity().makeIfNeeded().kid == record.kid)
        #expect(try place.identity().current()?.jwk == record.jwk)
        #expect(try place.keyring.keyIDs() == [record.kid])
    }

    @Test("a sender can read the registration record, which has no private half", arguments: [Suite.p256, .x25519])
    func record(_ suite: Suite) throws {
        let record = try TestKeyring().register(.init(suite: suite))
        let keyset = try Keyset(json: Array(record.jwk.bytes))
        #expect(keyset.keyIDs == [record.kid])
        #expect(!keyset.entries[0].record.isPrivateAsymmetric)
        #expect(keyset.entries[0].record.hasPSK)
        #expect(try Recipient(jwk: Array(record.jwk.bytes)).suite == suite)
        #expect(!"\(record)".contains("psk"))
    }

    @Test(
        "rotate changes a device over to X-Wing where the system has it: both pairs open, and elsewhere no pair is made"
    )
    func changeOver() throws {
        let place = try TestKeyring()
        let old = try place.register()
        let options = DeviceIdentity.Options(suite: .xWing)
        guard Suite.xWing.isAvailable else {
            expectDeviceKeyError(.unsupportedSuite) { try place.identity(options).rotate() }
            #expect(try place.keyring.keyIDs() == [old.kid])
            return
        }
        let new = try place.identity(options).rotate()
        #expect(try Recipient(jwk: Array(new.jwk.bytes)).suite == .xWing)
        try place.identity(options).confirmRegistered(new.kid)
        for kid in [old.kid, new.kid] { _ = try place.keyring.key(kid, at: Self.now + Self.day) }
        #expect(try place.identity().current()?.kid == new.kid)
    }

    @Test(
        "a device with an X-Wing pair makes X-Wing pairs also where the options name another suite, until its keys are erased",
        .enabled(if: Suite.xWing.isAvailable, "suite 3 is unavailable: it needs OpenSSL 3.5"),
        arguments: [Suite.p256, .x25519])
    func neverBack(_ suite: Suite) throws {
        let place = try TestKeyring()
        func madeSuite(_ record: RegistrationRecord) throws -> Suite {
            try Recipient(jwk: Array(record.jwk.bytes)).suite
        }
        let old = try place.register(.init(suite: .xWing))
        let options = DeviceIdentity.Options(suite: suite)
        let new = try place.identity(options).rotate()
        #expect(try new.kid != old.kid && madeSuite(new) == .xWing)
        try place.identity(options).revoke(old.kid)
        try place.identity(options).revoke(new.kid)
        #expect(try madeSuite(place.identity(options).makeIfNeeded()) == .xWing)
        try place.identity(options).eraseAll()
        #expect(try madeSuite(place.identity(options).makeIfNeeded()) == suite)
    }

    @Test("pairs of suites 1 and 2 follow each other as the options name them")
    func equalSuites() throws {
        let place = try TestKeyring()
        for suite in [Suite.p256, .x25519, .p256] {
            let record = try place.identity(.init(suite: suite)).rotate()
            try place.identity(.init(suite: suite)).confirmRegistered(record.kid)
            #expect(try Recipient(jwk: Array(record.jwk.bytes)).suite == suite)
        }
    }

    @Test("a shared suite is refused when a pair is made") func noPair() throws {
        let place = try TestKeyring()
        expectDeviceKeyError(.unsuitable) { try place.identity(.init(suite: .shared)).makeIfNeeded() }
        #expect(try place.names() == [])
    }

    @Test("the old pair opens without expiry until the new pair is confirmed") func unconfirmed() throws {
        let place = try TestKeyring()
        let old = try place.register()
        let new = try place.identity().rotate()
        #expect(new.kid != old.kid && !new.isConfirmed)
        let later = Self.now + 300 * Self.day
        #expect(try place.identity(at: later).prune() == [])
        _ = try place.keyring.key(old.kid, at: later)
        _ = try place.keyring.key(new.kid, at: later)
        #expect(try place.identity(at: later).current()?.kid == new.kid)
    }

    @Test("after the confirmation the old pair opens for the overlap, at least 30 days", arguments: [0, 1, 30, 60])
    func overlap(days: Int64) throws {
        let place = try TestKeyring()
        let options = DeviceIdentity.Options(overlapInSeconds: days * Self.day)
        let old = try place.register(options)
        let new = try place.identity(options).rotate()
        let confirmation = Self.now + 5 * Self.day
        try place.identity(options, at: confirmation).confirmRegistered(new.kid)
        // The overlap is at least the longest delivery time of a push.
        let end = confirmation + max(days, 30) * Self.day + 600
        _ = try place.keyring.key(old.kid, at: end - 1)
        expectNoKey(.keyExpired, old.kid, in: place.keyring, at: end)
        _ = try place.keyring.key(new.kid, at: end)
        #expect(try place.keyring.load(old.kid).lifecycle.retiresAt == confirmation)
        #expect(try place.keyring.load(new.kid).lifecycle.expiresAt == nil)
    }

    @Test("rotate returns a pair that awaits its registration unchanged") func rotatedTwice() throws {
        let place = try TestKeyring()
        try place.register()
        let new = try place.identity().rotate()
        #expect(try place.identity().rotate().kid == new.kid)
        #expect(try place.identity(at: Self.now + Self.day).rotate().kid == new.kid)
        #expect(try place.keyring.keyIDs().count == 2)
    }

    /// The rotations are in the same second, with a clock that is set back, or seconds apart.
    @Test("pairs are ordered by their creation, even if the clock is set back", arguments: [0, -1_000_000, 5])
    func order(step: Int64) throws {
        let place = try TestKeyring()
        var (kids, time) = ([try place.register().kid], Self.now)
        for _ in 1...8 {
            time = time + step
            let record = try place.identity(at: time).rotate()
            try place.identity(at: time).confirmRegistered(record.kid)
            kids.append(record.kid)
            #expect(try place.identity(at: time).current()?.kid == record.kid)
        }
        #expect(Set(kids).count == 9)
        for kid in kids.dropLast() { #expect(try place.keyring.load(kid).lifecycle.expiresAt != nil) }
        #expect(try place.keyring.load(kids[8]).lifecycle.expiresAt == nil)
    }

    @Test("confirming a pair after a newer one was confirmed throws superseded") func superseded() throws {
        let place = try TestKeyring()
        let old = try place.register()
        let new = try place.identity().rotate()
        try place.identity().confirmRegistered(new.kid)
        try place.identity().confirmRegistered(new.kid)
        expectDeviceKeyError(.superseded) { try place.identity().confirmRegistered(old.kid) }
        expectDeviceKeyError(.notFound) { try place.identity().confirmRegistered(KeyID("AAAAAAAAAAA")!) }
    }

    @Test("a revoked pair opens nothing, and makeIfNeeded makes another one") func revoked() throws {
        let place = try TestKeyring()
        let old = try place.register()
        try place.identity().revoke(old.kid)
        try place.identity().revoke(old.kid)
        expectNoKey(.keyRevoked, old.kid, in: place.keyring)
        let new = try place.identity().makeIfNeeded()
        #expect(new.kid != old.kid)
        #expect(try place.identity().prune() == [old.kid])
        #expect(try place.keyring.keyIDs() == [new.kid])
    }

    /// Makes a pair, and replaces it by another one a day later.
    private func replaced(_ place: TestKeyring) throws -> (old: KeyID, new: KeyID) {
        let old = try place.register(at: Self.now - Self.day)
        let new = try place.identity().rotate()
        try place.identity().confirmRegistered(new.kid)
        return (old.kid, new.kid)
    }

    @Test("prune erases expired pairs and no others") func pruned() throws {
        let place = try TestKeyring()
        let (old, new) = try replaced(place)
        #expect(try place.identity(at: Self.now + Self.overlap - 1).prune() == [])
        #expect(try place.identity(at: Self.now + Self.overlap).prune() == [old])
        #expect(try place.keyring.keyIDs() == [new])
        #expect(try place.identity(at: Self.now + Self.overlap).prune() == [])
    }

    @Test("prune erases nothing if the clock is in the wrong year") func wrongYear() throws {
        let place = try TestKeyring()
        let (old, _) = try replaced(place)
        #expect(try place.identity(at: Self.now + 400 * Self.day + 1).prune() == [])
        #expect(try place.keyring.keyIDs().count == 2)
        #expect(try place.identity(at: Self.now + 400 * Self.day).prune() == [old])
    }

    @Test("eraseAll erases all keys, including damaged files") func erased() throws {
        let place = try TestKeyring()
        let kid = try place.register().kid
        _ = try place.identity().rotate()
        try place.write("{", as: kid)
        try place.identity().eraseAll()
        #expect(try place.names() == [])
        #expect(try place.identity().current() == nil)
    }

    @Test("if the only pair is damaged, makeIfNeeded makes another one") func damaged() throws {
        let place = try TestKeyring()
        let kid = try place.register().kid
        try place.write("{", as: kid)
        let new = try place.identity().makeIfNeeded()
        #expect(new.kid != kid)
        #expect(try place.text(kid) == "{")
    }

    @Test("concurrent calls of makeIfNeeded make one pair") func concurrent() async throws {
        let place = try TestKeyring()
        let identity = place.identity()
        let kids = try await withThrowingTaskGroup(of: KeyID.self) { group in
            for _ in 1...8 { group.addTask { try identity.makeIfNeeded().kid } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(kids.count == 1)
        #expect(try place.keyring.keyIDs().count == 1)
    }
}
