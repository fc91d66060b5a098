import Foundation
import PushCryptSender
import PushCryptTestSupport
import Testing

/// `RefusalVectorTests` has the records that are refused.
@Suite("Registration") struct RegistrationTests {
    static func registration(_ key: String, requiring: Registration.Requirements = []) throws -> Registration {
        try Registration(json: TestKeys.publicJWK(key), requiring: requiring)
    }

    @Test(
        "a record has the kid, suite and psk of its key",
        arguments: [
            ("p256", 1, false), ("p256 psk", 1, true), ("x25519", 2, false), ("x25519 psk", 2, true),
            ("shared", 4, false), ("device", 4, false),
        ])
    func properties(key: String, suite: UInt8, hasPSK: Bool) throws {
        let registration = try Self.registration(key)
        #expect(registration.suite.rawValue == suite && registration.hasPSK == hasPSK)
        let recipient = try Recipient(jwk: TestKeys.publicJWK(key))
        #expect(registration.kid == recipient.kid)
        #expect(Recipient(registration).kid == recipient.kid)
    }

    @Test("a push that is sealed to a registration opens with its private key", arguments: Channel.all)
    func seals(channel: Channel) throws {
        let push = try channel.sealer().seal(
            Array(#"{"aps":{"alert":"x"}}"#.utf8), to: Recipient(Self.registration(channel.key)),
            placeholder: Channel.placeholder)
        #expect(try Reading(push, channel).payload == #"{"aps":{"alert":"x"}}"#)
    }

    @Test("a record of 4,097 bytes is refused with both lengths")
    func length() throws {
        let record = TestKeys.publicJWK("p256 psk")
        let spaces = [UInt8](repeating: 0x20, count: 4_097 - record.count)
        let error = expectSenderError(.tooLarge) { try Registration(json: record + spaces, requiring: []) }
        #expect(error?.bytesNeeded == 4_097 && error?.bytesAvailable == 4_096)
    }

    /// Every secret of the test keys, and each part of it that is long enough to be recognised.
    private static func secrets(_ key: String) throws -> [String] {
        let text = String(decoding: TestKeys.publicJWK(key), as: UTF8.self)
        return text.matches(of: /"(?:psk|k)":"([^"]+)"/).map { String($0.1.prefix(12)) }
    }

    @Test(
        "no description, dump or error of a registration has its secret",
        arguments: ["p256 psk", "x25519 psk", "shared", "device"])
    func redacted(key: String) throws {
        let registration = try Self.registration(key)
        let stored = StoredRegistration(registration, account: "a", deviceToken: "0a")
        let challenge = try Channel.simple.sealer().challenge(registration, host: "example.com")
        var texts = [
            "\(registration)", String(reflecting: registration), "\(stored)", "\(challenge.pending)", "\(challenge)",
        ]
        for value in [registration, stored, challenge.pending, challenge, Recipient(registration)] as [Any] {
            var text = ""
            dump(value, to: &text)
            texts.append(text)
        }
        let secrets = try Self.secrets(key)
        #expect(secrets.count == 1)
        for text in texts { #expect(!secrets.contains { text.contains($0) }, "\(text)") }
        #expect(texts[0].contains(registration.kid.description))
    }

    @Test("no error of reading a record has the value of its psk")
    func redactedErrors() throws {
        let record = String(decoding: TestKeys.publicJWK("p256 psk"), as: UTF8.self)
        for value in ["\"secretsecretsecret\"", "{\"a\":\"secretsecretsecret\"}"] {
            let changed = record.replacing(/"psk":"[^"]*"/, with: "\"psk\":\(value)")
            let error = expectSenderError(.malformed) { try Registration(json: changed.utf8, requiring: []) }
            #expect(error.map { "\($0)".contains("secretsecret") } == false)
        }
    }
}

@Suite("a stored Registration") struct StoredRegistrationTests {
    private static func stored(_ key: String) throws -> String {
        String(decoding: try JSONEncoder().encode(RegistrationTests.registration(key)), as: UTF8.self)
    }

    private static func read(_ text: String) throws -> Registration {
        try JSONDecoder().decode(Registration.self, from: Data(text.utf8))
    }

    @Test(
        "it is one JSON object that is read back as the same record",
        arguments: ["p256", "p256 psk", "x25519 psk", "shared", "device"])
    func roundTrip(key: String) throws {
        let registration = try RegistrationTests.registration(key)
        let read = try Self.read(Self.stored(key))
        #expect(
            read.hasSameKey(as: registration) && read.hasPSK == registration.hasPSK && read.suite == registration.suite)
        let row = StoredRegistration(registration, account: "zoë", deviceToken: "0aff")
        let copy = try JSONDecoder().decode(StoredRegistration.self, from: JSONEncoder().encode(row))
        #expect(copy.account == "zoë" && copy.deviceToken == "0aff" && copy.kid == row.kid)
        #expect(try !RegistrationChange(storing: row, over: [copy], isProven: false).isWritten)
    }

    @Test("it keeps the bytes of the upload, with white space, order and unknown members")
    func exactBytes() throws {
        var record = TestKeys.publicJWK("p256 psk")
        record.insert(contentsOf: Array(#" "use" : "enc\u002f","#.utf8), at: 1)
        let stored = try JSONEncoder().encode(Registration(json: record, requiring: []))
        let object = try #require(JSONSerialization.jsonObject(with: stored) as? [String: Any])
        #expect(object["record"] as? String == String(decoding: record, as: UTF8.self))
        #expect(Set(object.keys) == ["version", "kid", "hasPSK", "record"])
    }

    @Test("without its psk it is refused as pskMissing, and isn't read as a record without a psk")
    func lostPSK() throws {
        let stored = try Self.stored("p256 psk")
        let lost = stored.replacing(/,?\\"psk\\":\\"[^"]*\\"/, with: "")
        #expect(lost != stored)
        expectSenderError(.pskMissing) { try Self.read(lost) }
    }

    @Test(
        "with a changed member it is refused as malformed",
        arguments: [
            (#""hasPSK":true"#, #""hasPSK":false"#), (#""version":1"#, #""version":2"#),
            (#""kid":"[^"\\]*""#, #""kid":"AAAAAAAAAAA""#), (#""record":".*?}""#, #""record":"{}""#),
        ])
    func changed(pattern: String, replacement: String) throws {
        let stored = try Self.stored("p256 psk")
        let changed = stored.replacing(try Regex(pattern), with: replacement)
        #expect(changed != stored)
        expectSenderError(.malformed) { try Self.read(changed) }
    }

    @Test("without any of its members it is refused", arguments: ["version", "kid", "hasPSK", "record"])
    func missing(member: String) throws {
        let stored = try Self.stored("p256 psk").replacing("\"\(member)\":", with: "\"x\":")
        #expect(throws: (any Error).self) { try Self.read(stored) }
    }
}
