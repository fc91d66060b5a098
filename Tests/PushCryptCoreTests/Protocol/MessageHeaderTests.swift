import PushCryptTestSupport
import Testing

@testable import PushCryptCore

/// `EnvelopeVectorTests` of the opener has the refusals of each member.
@Suite struct MessageHeaderTests {
    private static let window = MessageHeader.windowInSeconds

    private static func header(_ json: String) throws -> MessageHeader? {
        MessageHeader(try JSONText(Array(json.utf8)).root, proof: .signature)
    }

    private static func json(iat: String = "1000", exp: String = "2000") -> String {
        #"{"id":"AAECAwQFBgcICQoLDA0ODw","iat":\#(iat),"exp":\#(exp)}"#
    }

    @Test("a header is written as its documented JSON and read again")
    func roundTrip() throws {
        let header = MessageHeader(id: Array(0...15), issuedAt: UnixTime(1_000), expiresAt: UnixTime(2_000))
        let member = String(decoding: header.rawMember, as: UTF8.self)
        #expect(member == #""pushcrypt":\#(Self.json())"#)
        #expect(try Self.header(Self.json()) == header)
    }

    @Test(
        "a header with times at the limits is accepted",
        arguments: [
            json(iat: "0", exp: "1"), json(iat: "1999", exp: "2000"), json(iat: "0", exp: "\(window)"),
            json(iat: "1", exp: "\(window + 1)"), json(iat: "9007199254740990", exp: "9007199254740991"),
            #"{"exp":2,"more":{"id":1},"iat":1,"id":"AAAAAAAAAAAAAAAAAAAAAA"}"#,
            #"{"\u0069d":"\u0041AAAAAAAAAAAAAAAAAAAAA","iat":1,"exp":2}"#,
        ])
    func accepted(text: String) throws {
        #expect(try Self.header(text) != nil)
    }

    @Test("new headers have different random ids", arguments: Backends.all)
    func freshIDs(backend: NamedBackend) throws {
        let recipient = try TestChannel.all[0].recipient(backend.backend)
        let headers = try (0..<20).map { _ in
            try MessageHeader.fresh(for: recipient, issuedAt: UnixTime(1), expiresAt: UnixTime(2))
        }
        #expect(Set(headers.map(\.id)).count == 20)
        #expect(headers.allSatisfy { $0.id.count == 16 })
    }
}

/// `KeysetVectorTests` has the ids of records.
@Suite struct CampaignIDTests {
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

@Suite struct ReceiptNameTests {
    @Test("the name of a message is SHA-256 of the label, a zero byte and the 16 bytes of the id")
    func value() {
        // Computed by Python's hashlib.
        #expect(
            ReceiptName(messageID: "BBBBBBBBBBBBBBBBBBBBBA")?.description
                == "QYQ7oTAS2VrGRAnrYya3TfXBxZtdgvHP3H5T1cmMwdw")
    }

    @Test(
        "an id that isn't 22 characters of canonical base64url has no name",
        arguments: [
            "", "BBBBBBBBBBBBBBBBBBBBBB", "BBBBBBBBBBBBBBBBBBBBB", "BBBBBBBBBBBBBBBBBBBBB+", "BBBBBBBBBBBBBBBBBBBBBBBA",
        ])
    func malformed(id: String) { #expect(ReceiptName(messageID: id) == nil) }
}
