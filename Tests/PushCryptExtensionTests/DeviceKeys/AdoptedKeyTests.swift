import PushCryptExtension
import PushCryptSender
import Testing

@Suite("adopted device keys") struct AdoptedKeyTests {
    private let place: TestKeyring

    init() throws { place = try TestKeyring() }

    private static func keyset(_ device: String, _ lifecycle: KeyLifecycle = .always) throws -> [UInt8] {
        try TestKeys.keyset("shared", lifecycle).device(DeviceID(device)).jwkSet(withHistory: false)
    }

    @Test("an adopted device key is stored and opens pushes") func opens() throws {
        try place.identity().adopt(jwk: ReferenceVectors.shared.jwk("device"))
        _ = try TestPush.open(TestPush(key: "device").sealed(), with: place.keyring).get()
        #expect(try place.identity().current() == nil)
    }

    @Test(
        "adopting any other kind of key, or JSON without a key, is refused",
        arguments: ["shared", "p256", "p256 psk", "sender"].map { ReferenceVectors.shared.jwk($0).text }
            + ["", "{}", "[1]"])
    func refused(_ jwk: String) throws {
        expectDeviceKeyError(.unsuitable) { try place.identity().adopt(jwk: Array(jwk.utf8)) }
        #expect(try place.names() == [])
    }

    @Test("another device's key of the same master throws conflict") func conflict() throws {
        try place.identity().adopt(jwk: Self.keyset("phone-1"))
        let before = try place.text(TestKeys.id("shared"))
        expectDeviceKeyError(.conflict) { try place.identity().adopt(jwk: Self.keyset("phone-2")) }
        #expect(try place.text(TestKeys.id("shared")) == before)
    }

    @Test("a later set of the backend replaces the lifecycle of an adopted key") func lifecycle() throws {
        let (kid, now) = (try TestKeys.id("shared"), TestKeyring.now)
        try place.identity().adopt(jwk: Self.keyset("phone-1"))
        let ended = KeyLifecycle(activatesAt: UnixTime(0), expiresAt: now + 100)
        try place.identity().adopt(jwk: Self.keyset("phone-1", ended))
        _ = try place.keyring.key(kid, at: now + 99)
        expectNoKey(.keyExpired, kid, in: place.keyring, at: now + 100)
        #expect(try place.identity(at: now + 99).prune() == [])
        #expect(try place.identity(at: now + 100).prune() == [kid])
    }

    @Test("rotating the device's pair doesn't change an adopted key") func rotation() throws {
        try place.identity().adopt(jwk: ReferenceVectors.shared.jwk("device"))
        try place.register()
        try place.rotate()
        #expect(try place.keyring.load(TestKeys.id("device")).lifecycle.expiresAt == nil)
    }
}
