import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct CampaignIDTests {
    private static func id(_ campaign: String, _ key: String, _ backend: NamedBackend) throws -> String {
        let keyset = try TestJWK.named(key).withoutPrivateKey.keyset(backend.backend)
        let recipient = try Recipient(keyset.entries[0])
        return Base64URL.encode(MessageHeader.id(campaign: campaign, recipient: recipient))
    }

    @Test(
        "a campaign's message id is that of Python's hmac",
        arguments: [
            ("spring sale", "p256", "l_8GVRzjfFRaPykYrqlWHg"), ("spring sale", "p256 psk", "AbhPkIMX6uN6SM47qqdrpA"),
            ("spring sale", "x25519", "hTezQIexReHmTZ2kqYNaGw"), ("spring sale", "shared", "luV0eEmwIlAD02abmsZ2yA"),
            ("spring sale", "device", "hhsoE2C8fpvZKTkaBZzGzQ"), ("Frühling", "p256", "XD_4szCh_riWmF9-W0YXag"),
            ("Frühling", "device", "N7ECLAoJIEaE9QbbSeQ9lg"),
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
            Base64URL.encode(MessageHeader.id(campaign: "spring sale", recipient: recipient))
                == "hhsoE2C8fpvZKTkaBZzGzQ")
    }

    @Test(
        "a public key with a device id has the campaign id of Python's hmac",
        arguments: [
            ("p256", "d1", "NOhTsT_lykibHbyFPcZFNw"), ("p256", "d2", "JTZJ-f8dEKNlCAVDJTZJog"),
            ("p256 psk", "d1", "ncSuTWaniXXofA_Sq75hdQ"), ("x25519", "d1", "iAYmOcL27htMM1JkK73RZQ"),
            ("x25519 psk", "d1", "Z1BaaUMKeTU5TuMt324FGQ"),
        ], Backends.all)
    func namedPublicKey(vector: (key: String, device: String, id: String), backend: NamedBackend) throws {
        let entry = try TestJWK.named(vector.key).withoutPrivateKey.keyset(backend.backend).entries[0]
        let recipient = try Recipient(entry, device: DeviceID(vector.device))
        let id = MessageHeader.id(campaign: "spring sale", recipient: recipient)
        #expect(Base64URL.encode(id) == vector.id)
    }

    @Test(
        "without the psk, and with another psk, the campaign id is another one", arguments: ["p256 psk", "x25519 psk"])
    func dependsOnThePSK(key: String) throws {
        let record = TestJWK.named(key).withoutPrivateKey
        let others = [record.with("psk", nil), record.with("psk", bytes: [UInt8](repeating: 1, count: 32))]
        let ids = try ([record] + others).map { jwk in
            MessageHeader.id(campaign: "spring sale", recipient: try Recipient(jwk.keyset().entries[0]))
        }
        #expect(Set(ids).count == 3)
    }

    @Test("campaigns and devices whose concatenated names are equal have different ids")
    func campaignsAndDevicesDiffer() throws {
        let master = try TestJWK.named("shared").record()
        let recipients = try ["a", "ab", "abc"].map { id in
            try Recipient(Keyset.Entry(master.deviceRecord(DeviceID(id)), KeyLifecycle(activatesAt: UnixTime(0))))
        }
        let ids = ["x", "xa", "xab"].flatMap { campaign in
            recipients.map { MessageHeader.id(campaign: campaign, recipient: $0) }
        }
        #expect(Set(ids).count == 9)
        #expect(ids.allSatisfy { $0.count == MessageHeader.idByteCount })
    }
}
