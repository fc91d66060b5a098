import Foundation
import PushCryptApple
import PushCryptCore
import Security
import Testing

@Suite("KeychainKeyring") struct KeychainKeyringTests {
    private static let other = KeyID("AAAAAAAAAAA")!

    @Test("a push to the registered pair opens", arguments: [Suite.p256, .x25519], [true, false])
    func opens(_ suite: Suite, withPSK: Bool) throws {
        let place = TestKeychain(usesSecureEnclave: false)
        let record = try place.identity(suite: suite, withPSK: withPSK).makeIfNeeded()
        _ = try place.open(record).get()
        #expect(place.enclaveKeys.isEmpty)
    }

    @Test("keys are found by id, and missing keys throw unknownKey") func matrix() throws {
        let place = TestKeychain(usesSecureEnclave: false)
        place.expectNoKey(.unknownKey, Self.other)
        #expect(try place.keyring.keyIDs() == [])
        let kid = try place.register().kid
        _ = try place.keyring.key(kid, at: TestKeychain.now)
        place.expectNoKey(.unknownKey, Self.other)
        #expect(try place.keyring.keyIDs() == [kid])
    }

    /// The conditions are the documented status, a keychain that doesn't find an existing item, and no keychain.
    @Test(
        "before the first unlock every call throws locked and no key is made",
        arguments: [StubKeychain.Condition.locked, .hidden, .unavailable], [false, true])
    func locked(_ condition: StubKeychain.Condition, usesSecureEnclave: Bool) throws {
        let place = TestKeychain(usesSecureEnclave: usesSecureEnclave)
        let record = try place.register()
        let before = place.items.count
        place.set(condition)
        place.expectNoKey(.keyLocked, record.kid)
        place.expectNoKey(.keyLocked, Self.other)
        expectDeviceKeyError(.locked) { try place.keyring.keyIDs() }
        expectDeviceKeyError(.locked) { try place.identity().current() }
        expectDeviceKeyError(.locked) { try place.identity().makeIfNeeded() }
        expectDeviceKeyError(.locked) { try place.identity().rotate() }
        expectDeviceKeyError(.locked) { try place.identity().prune() }
        expectDeviceKeyError(.locked) { try place.identity().eraseAll() }
        #expect(place.items.count == before)
        place.set(.open)
        #expect(try place.identity().makeIfNeeded().kid == record.kid)
        _ = try place.open(record).get()
        #expect(place.items.count == before)
    }

    /// The device was restarted before the app made its first pair.
    @Test(
        "an empty keychain that can't be read throws locked",
        arguments: [StubKeychain.Condition.locked, .hidden, .unavailable])
    func emptyAndLocked(_ condition: StubKeychain.Condition) throws {
        let place = TestKeychain(usesSecureEnclave: false)
        place.set(condition)
        place.expectNoKey(.keyLocked, Self.other)
        expectDeviceKeyError(.locked) { try place.identity().makeIfNeeded() }
        expectDeviceKeyError(.locked) { try place.keyring.make(.p256, withPSK: true, at: TestKeychain.now) }
        #expect(place.items.isEmpty)
    }

    @Test("an access group without an entitlement throws notEntitled") func notEntitled() throws {
        let place = TestKeychain(usesSecureEnclave: false)
        place.set(.foreign)
        place.expectNoKey(.internalError, Self.other)
        expectDeviceKeyError(.notEntitled) { try place.identity().makeIfNeeded() }
        #expect(place.items.isEmpty)
    }

    @Test("keychain items stay on this device and are readable after the first unlock", arguments: [false, true])
    func attributes(usesSecureEnclave: Bool) throws {
        let place = TestKeychain(usesSecureEnclave: usesSecureEnclave)
        _ = try place.register()
        #expect(place.items.count == (usesSecureEnclave ? 3 : 2))
        for item in place.items {
            let accessible = item[kSecAttrAccessible as String] as? String
            #expect(accessible == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String)
            #expect(item[kSecAttrAccessGroup as String] as? String == place.group)
        }
        #expect((place.passwords[0][kSecAttrGeneric as String] == nil) == !usesSecureEnclave)
    }

    @Test("adding another key with the same id throws conflict and keeps the first key") func conflict() throws {
        let place = TestKeychain(usesSecureEnclave: false)
        let key = try place.keyring.load(place.register().kid)
        let before = try place.text(key.kid)
        try place.keyring.add(key)
        let without = try key.replacing(key.record.publicRecord(keepingPSK: false))
        expectDeviceKeyError(.conflict) { try place.keyring.add(without) }
        #expect(try place.text(key.kid) == before)
    }

    @Test("a key with damaged keychain data is unknownKey, and its item is kept", arguments: ["", "{", "{}"])
    func damaged(_ text: String) throws {
        let place = TestKeychain(usesSecureEnclave: false)
        let kid = try place.register().kid
        StubKeychain.shared.damage(kid.description, inGroup: place.group, Data(text.utf8))
        place.expectNoKey(.unknownKey, kid)
        #expect(try place.identity().makeIfNeeded().kid != kid)
        #expect(try place.text(kid) == text)
    }

    @Test("after a rotation the old pair opens for the overlap, and prune then erases it", arguments: [false, true])
    func rotation(usesSecureEnclave: Bool) throws {
        let place = TestKeychain(usesSecureEnclave: usesSecureEnclave)
        let old = try place.register()
        let later = TestKeychain.now + 10
        let new = try place.identity(at: later).rotate()
        try place.identity(at: later).confirmRegistered(new.kid)
        _ = try place.open(old).get()
        _ = try place.open(new).get()
        let end = later + 30 * 86_400 + 600
        #expect(try place.identity(at: end).prune() == [old.kid])
        place.expectNoKey(.unknownKey, old.kid)
        _ = try place.open(new).get()
        #expect(place.passwords.count == 1)
        #expect(place.enclaveKeys.count == (usesSecureEnclave ? 1 : 0))
    }

    @Test("two services in one access group don't see each other's keys") func services() throws {
        let place = TestKeychain(usesSecureEnclave: false)
        let kid = try place.register().kid
        let second = KeychainKeyring(accessGroup: place.group, service: "second", usesSecureEnclave: false)
        #expect(try second.keyIDs() == [])
        #expect(throws: FailureClass.unknownKey) { try second.key(kid, at: TestKeychain.now) }
    }
}
