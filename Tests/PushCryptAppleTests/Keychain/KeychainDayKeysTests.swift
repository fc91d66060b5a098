import Foundation
import PushCryptApple
import PushCryptPrimitives
import PushCryptSender
import Security
import Testing

@Suite("day keys in the keychain") struct KeychainDayKeysTests {
    private let place = TestKeychain(usesSecureEnclave: true, period: .days(1))

    /// The calls of the keychain that `body` makes.
    private func calls(_ body: () throws -> Void) rethrows -> Int {
        let before = StubKeychain.shared.callCount(inGroup: place.group)
        try body()
        return StubKeychain.shared.callCount(inGroup: place.group) - before
    }

    @Test(
        "the day keys of a pair in the Secure Enclave are one item for this device only, and their pushes open in one call"
    )
    func oneItem() throws {
        let record = try place.register()
        #expect(place.passwords.count == 2 && place.enclaveKeys.count == 1)
        let item = try #require(place.passwords.first { $0[kSecAttrAccount as String] as? String == "days" })
        let accessible = item[kSecAttrAccessible as String] as? String
        #expect(accessible == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)
        var push: OpenedPush?
        #expect(try calls { push = try place.open(record).get() } == 1)
        #expect(try #require(push).kid != record.kid)
        #expect(try place.keyring.keyIDs() == [record.kid])
        // It reads the item once, and finds nothing to erase.
        #expect(calls { place.keyring.erase(after: push, at: TestKeychain.now) } == 2)
        // Three days later it replaces the item.
        let later = TestKeychain.now + 3 * 86_400
        #expect(calls { place.keyring.erase(after: nil, at: later) } == 3)
    }

    @Test(
        "the first start makes 14 day keys in 31 calls of the keychain, 24 of them for the record; each later day takes 21, another start 11"
    )
    func starts() throws {
        #expect(try calls { _ = try place.register() } == 31)
        let tomorrow = place.identity(at: TestKeychain.now + 86_400)
        #expect(try calls { try tomorrow.confirmRegistered(tomorrow.makeIfNeeded()) } == 21)
        #expect(try calls { _ = try tomorrow.makeIfNeeded() } == 11)
    }

    @Test("an item that another process has changed since it was read isn't replaced")
    func compareAndSwap() throws {
        _ = try place.register()
        let old = try #require(try place.keyring.dayKeys())
        let new = SecretBytes(copying: Array("{}".utf8).bytes)
        #expect(try place.keyring.replaceDayKeys(old, by: new))
        #expect(try !place.keyring.replaceDayKeys(old, by: old))
        #expect(try !place.keyring.replaceDayKeys(nil, by: old))
        #expect(try place.keyring.dayKeys() == new)
    }

    @Test(
        "before the first unlock a push to a day key is keyLocked, and no key is made",
        arguments: [StubKeychain.Condition.locked, .hidden, .unavailable])
    func locked(_ condition: StubKeychain.Condition) throws {
        let record = try place.register()
        let kid = try place.open(record).get().kid
        let before = place.items.count
        place.set(condition)
        place.expectNoKey(.keyLocked, kid)
        expectDeviceKeyError(.locked) { try place.identity().makeIfNeeded() }
        place.keyring.erase(after: nil, at: TestKeychain.now + 400 * 86_400)
        place.set(.open)
        #expect(place.items.count == before)
        #expect(try place.open(record).get().kid == kid)
    }

    @Test("a sign-out removes the item") func signOut() throws {
        _ = try place.register()
        try place.identity().eraseAll()
        #expect(place.passwords.isEmpty && place.enclaveKeys.isEmpty)
    }
}
