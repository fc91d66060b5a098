import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct CampaignIDTests {
    private static func id(_ campaign: String, _ key: String, _ backend: NamedBackend) throws -> String {
        let keyset = try TestJWK.named(key).withoutPrivateKey.keyset(backend.backend)
        let recipient = try Recipient(keyset.entries[0])
        return Base64URL.encode(try MessageHeader.id(campaign: campaign, recipient: recipient))
    }

    @Test(
        "a campaign's message id is that of Python's hashlib",
        arguments: [
            ("spring sale", "p256", "17_pRMnVpHcURhB2sw5x_g"), ("spring sale", "p256 psk", "nIHpQE5fI8Ge-N4Z63XgCA"),
            ("spring sale", "x25519", "4QoxQJ-TMj9mBoq-F0mfuQ"), ("spring sale", "shared", "yCrp6RX0feaSzB71EVi4XA"),
            ("spring sale", "device", "gYjFNUctJdi4hB9VylrwNQ"), ("Frühling", "p256", "sHachFbG58lJsAEyChyriQ"),
            ("Frühling", "device", "qHxED19qNMsBT9rpEDeXhw"),
        ], Backends.all)
    func knownAnswer(vector: (campaign: String, key: String, id: String), backend: NamedBackend) throws {
        #expect(try Self.id(vector.campaign, vector.key, backend) == vector.id)
    }

    @Test("a derived device key has the campaign id of its record")
    func derivedKey() throws {
        let device = TestJWK.named("device")
        let record = try TestJWK.named("shared").record().deviceRecord(DeviceID(device.text("device")))
        let recipient = try Recipient(Keyset.Entry(record, KeyLifecycle(activatesAt: UnixTime(0))))
        #expect(recipient.device?.description == device.text("device"))
        #expect(
            Base64URL.encode(try MessageHeader.id(campaign: "spring sale", recipient: recipient))
                == "gYjFNUctJdi4hB9VylrwNQ")
    }

    @Test(
        "a public key with a device id has the campaign id of Python's hashlib",
        arguments: [
            ("p256", "d1", "mUBJRxOZSPOnhemVlEnSzA"), ("p256", "d2", "jkF0URoZWksNbBe4jHoTDg"),
            ("p256 psk", "d1", "MuEPNRJYxS4LOy91JC84RQ"), ("x25519", "d1", "JsKOcN91RpX6ZeE0KopBfQ"),
            ("x25519 psk", "d1", "mifUk2YYPm3qgWMtJ3CzCA"),
        ], Backends.all)
    func namedPublicKey(vector: (key: String, device: String, id: String), backend: NamedBackend) throws {
        let entry = try TestJWK.named(vector.key).withoutPrivateKey.keyset(backend.backend).entries[0]
        let recipient = try Recipient(entry, device: DeviceID(vector.device))
        let id = try MessageHeader.id(campaign: "spring sale", recipient: recipient)
        #expect(Base64URL.encode(id) == vector.id)
    }

    @Test("campaigns and devices whose concatenated names are equal have different ids")
    func campaignsAndDevicesDiffer() throws {
        let master = try TestJWK.named("shared").record()
        let recipients = try ["a", "ab", "abc"].map { id in
            try Recipient(Keyset.Entry(master.deviceRecord(DeviceID(id)), KeyLifecycle(activatesAt: UnixTime(0))))
        }
        let ids = try ["x", "xa", "xab"].flatMap { campaign in
            try recipients.map { try MessageHeader.id(campaign: campaign, recipient: $0) }
        }
        #expect(Set(ids).count == 9)
        #expect(ids.allSatisfy { $0.count == MessageHeader.idByteCount })
    }
}
