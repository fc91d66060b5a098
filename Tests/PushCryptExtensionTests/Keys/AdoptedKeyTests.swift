import PushCryptCore
import PushCryptExtension
import PushCryptSender
import Testing

@Suite("device keys that the backend derives") struct AdoptedKeyTests {
    private static func keyset(
        _ name: String, _ lifecycle: KeyLifecycle = KeyLifecycle(activatesAt: UnixTime(0)), device: String? = nil
    ) throws -> [UInt8] {
        let id = try device.map(DeviceID.init)
        let keyset = try TestKeys.keyset(name, lifecycle)
        return try (id.map { try keyset.device($0) } ?? keyset).jwkSet(withHistory: false)
    }

    @Test("one is kept, and opens") func opens() throws {
        let place = try KeyringPlace()
        try place.identity().adopt(jwk: ReferenceVectors.shared.jwk("device"))
        let payload = try TestPush(key: "device").sealed()
        _ = try TestPush.open(payload, with: place.keyring).get()
        #expect(try place.identity().current() == nil)
    }

    @Test("nothing else is", arguments: ["shared", "p256", "p256 psk", "sender"])
    func refused(_ name: String) throws {
        let place = try KeyringPlace()
        expectDeviceKeyError(.unsuitable) { try place.identity().adopt(jwk: ReferenceVectors.shared.jwk(name)) }
        #expect(try place.names() == [])
    }

    @Test("nor what is no key", arguments: ["", "{}", "[1]"])
    func malformed(_ text: String) throws {
        let place = try KeyringPlace()
        expectDeviceKeyError(.unsuitable) { try place.identity().adopt(jwk: Array(text.utf8)) }
    }

    @Test("another device's key of the same master is another key") func conflict() throws {
        let place = try KeyringPlace()
        try place.identity().adopt(jwk: Self.keyset("shared", device: "phone-1"))
        let before = try place.text(TestKeys.id("shared"))
        expectDeviceKeyError(.conflict) {
            try place.identity().adopt(jwk: Self.keyset("shared", device: "phone-2"))
        }
        #expect(try place.text(TestKeys.id("shared")) == before)
    }

    @Test("its life is what the backend says last") func lifecycle() throws {
        let place = try KeyringPlace()
        let (kid, now) = (try TestKeys.id("shared"), KeyringPlace.now)
        try place.identity().adopt(jwk: Self.keyset("shared", device: "phone-1"))
        let ended = KeyLifecycle(activatesAt: UnixTime(0), expiresAt: now + 100)
        try place.identity().adopt(jwk: Self.keyset("shared", ended, device: "phone-1"))
        _ = try place.keyring.key(kid, at: now + 99)
        expectNoKey(.keyExpired, kid, in: place.keyring, at: now + 100)
        #expect(try place.identity(at: now + 99).prune() == [])
        #expect(try place.identity(at: now + 100).prune() == [kid])
    }

    @Test("a pair's rotation leaves it alone") func rotation() throws {
        let place = try KeyringPlace()
        try place.identity().adopt(jwk: ReferenceVectors.shared.jwk("device"))
        try place.register()
        let new = try place.identity().rotate()
        try place.identity().confirmRegistered(new.kid)
        #expect(try place.keyring.load(TestKeys.id("device")).lifecycle.expiresAt == nil)
    }
}
