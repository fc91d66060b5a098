import PushCryptCore
import PushCryptExtension
import PushCryptSender
import Testing

@Suite("adopted device keys") struct AdoptedKeyTests {
    private static func keyset(
        _ name: String, _ lifecycle: KeyLifecycle = KeyLifecycle(activatesAt: UnixTime(0)), device: String? = nil
    ) throws -> [UInt8] {
        let id = try device.map(DeviceID.init)
        let keyset = try TestKeys.keyset(name, lifecycle)
        return try (id.map { try keyset.device($0) } ?? keyset).jwkSet(withHistory: false)
    }

    @Test("an adopted device key is stored and opens pushes") func opens() throws {
        let place = try TestKeyring()
        try place.identity().adopt(jwk: ReferenceVectors.shared.jwk("device"))
        let payload = try TestPush(key: "device").sealed()
        _ = try TestPush.open(payload, with: place.keyring).get()
        #expect(try place.identity().current() == nil)
    }

    @Test("adopting any other kind of key is refused", arguments: ["shared", "p256", "p256 psk", "sender"])
    func refused(_ name: String) throws {
        let place = try TestKeyring()
        expectDeviceKeyError(.unsuitable) { try place.identity().adopt(jwk: ReferenceVectors.shared.jwk(name)) }
        #expect(try place.names() == [])
    }

    @Test("adopting JSON without a key is refused", arguments: ["", "{}", "[1]"])
    func malformed(_ text: String) throws {
        let place = try TestKeyring()
        expectDeviceKeyError(.unsuitable) { try place.identity().adopt(jwk: Array(text.utf8)) }
    }

    @Test("another device's key of the same master throws conflict") func conflict() throws {
        let place = try TestKeyring()
        try place.identity().adopt(jwk: Self.keyset("shared", device: "phone-1"))
        let before = try place.text(TestKeys.id("shared"))
        expectDeviceKeyError(.conflict) {
            try place.identity().adopt(jwk: Self.keyset("shared", device: "phone-2"))
        }
        #expect(try place.text(TestKeys.id("shared")) == before)
    }

    @Test("a later set of the backend replaces the lifecycle of an adopted key") func lifecycle() throws {
        let place = try TestKeyring()
        let (kid, now) = (try TestKeys.id("shared"), TestKeyring.now)
        try place.identity().adopt(jwk: Self.keyset("shared", device: "phone-1"))
        let ended = KeyLifecycle(activatesAt: UnixTime(0), expiresAt: now + 100)
        try place.identity().adopt(jwk: Self.keyset("shared", ended, device: "phone-1"))
        _ = try place.keyring.key(kid, at: now + 99)
        expectNoKey(.keyExpired, kid, in: place.keyring, at: now + 100)
        #expect(try place.identity(at: now + 99).prune() == [])
        #expect(try place.identity(at: now + 100).prune() == [kid])
    }

    @Test("rotating the device's pair doesn't change an adopted key") func rotation() throws {
        let place = try TestKeyring()
        try place.identity().adopt(jwk: ReferenceVectors.shared.jwk("device"))
        try place.register()
        let new = try place.identity().rotate()
        try place.identity().confirmRegistered(new.kid)
        #expect(try place.keyring.load(TestKeys.id("device")).lifecycle.expiresAt == nil)
    }
}
