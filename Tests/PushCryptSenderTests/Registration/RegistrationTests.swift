import Foundation
import PushCryptSender
import PushCryptTestSupport
import Testing

@Suite("Registration") struct RegistrationTests {
    static func registration(_ key: String, requiring: Registration.Requirements = []) throws -> Registration {
        try Registration(json: TestKeys.publicJWK(key), requiring: requiring)
    }

    private static func changed(_ key: String, _ member: String, to value: String?) -> [UInt8] {
        var text = String(decoding: TestKeys.publicJWK(key), as: UTF8.self)
        let found = text.firstMatch(of: try! Regex("\"\(member)\":\"[^\"]*\""))!
        text.replaceSubrange(found.range, with: value.map { "\"\(member)\":\($0)" } ?? "\"removed\":0")
        return Array(text.utf8)
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

    @Test(
        "each requirement is met by some kinds of keys, and refused with its code for the others",
        arguments: [
            ("p256", .pskMissing, nil), ("x25519", .pskMissing, nil), ("p256 psk", nil, nil), ("x25519 psk", nil, nil),
            ("shared", nil, .notAsymmetric), ("device", nil, .notAsymmetric),
        ] as [(String, SenderError.Code?, SenderError.Code?)])
    func requirements(key: String, psk: SenderError.Code?, asymmetric: SenderError.Code?) throws {
        let cases: [(Registration.Requirements, SenderError.Code?)] = [
            ([], nil), (.psk, psk), (.asymmetric, asymmetric), ([.psk, .asymmetric], psk ?? asymmetric),
        ]
        for (requirements, code) in cases {
            if let code {
                expectSenderError(code) { try Self.registration(key, requiring: requirements) }
            } else {
                #expect(throws: Never.self) { try Self.registration(key, requiring: requirements) }
            }
        }
    }

    @Test("a record whose psk was removed fails the requirement psk, and no other")
    func removedPSK() throws {
        let record = Self.changed("p256 psk", "psk", to: nil)
        expectSenderError(.pskMissing) { try Registration(json: record, requiring: .psk) }
        #expect(try !Registration(json: record, requiring: .asymmetric).hasPSK)
    }

    @Test(
        "a record that can't be sealed to is refused with the code of its fault",
        arguments: [
            ("p256 psk", "kty", "\"RSA\"", .unsupportedKey), ("p256 psk", "crv", "\"P-384\"", .unsupportedKey),
            ("p256 psk", "alg", "\"HPKE-3\"", .unsupportedKey), ("p256 psk", "kid", "\"AAAAAAAAAAA\"", .kidMismatch),
            ("p256 psk", "kid", nil, .malformed), ("p256 psk", "kty", nil, .malformed),
            ("p256 psk", "x", nil, .malformed), ("p256 psk", "y", "\"AAAA\"", .malformed),
            ("p256 psk", "psk", "\"AAAA\"", .malformed), ("p256 psk", "psk", "null", .malformed),
            ("p256 psk", "psk", "\"\"", .malformed),
            ("p256 psk", "x", "\"\(String(repeating: "A", count: 43))\"", .invalidKey),
            ("x25519", "x", "\"\(String(repeating: "A", count: 43))\"", .invalidKey), ("shared", "k", nil, .malformed),
            ("device", "device", "\"a b\"", .malformed), ("device", "device", "7", .malformed),
        ] as [(String, String, String?, SenderError.Code)])
    func refused(key: String, member: String, value: String?, code: SenderError.Code) {
        expectSenderError(code, "\(member)") {
            try Registration(json: Self.changed(key, member, to: value), requiring: [])
        }
    }

    @Test("private keys and keys that sign are refused", arguments: ["p256", "p256 psk", "x25519", "sender"])
    func wrongKind(key: String) {
        expectSenderError(.wrongKind) { try Registration(json: TestKeys.privateJWK(key), requiring: []) }
        if key == "sender" {
            expectSenderError(.wrongKind) { try Registration(json: TestKeys.publicJWK(key), requiring: []) }
        }
    }

    @Test(
        "a text that isn't one strict JWK is refused as malformed",
        arguments: ["", "x", "[]", "null", "{}", #"{"keys":[]}"#, #"{"kty":"oct","kty":"oct"}"#, "{} {}"])
    func notAJWK(text: String) {
        expectSenderError(.malformed) { try Registration(json: text.utf8, requiring: []) }
    }

    @Test("a record of 4,096 bytes is read, and one of 4,097 is refused with both lengths")
    func length() throws {
        let record = TestKeys.publicJWK("p256 psk")
        let spaces = [UInt8](repeating: 0x20, count: 4_096 - record.count)
        #expect(try Registration(json: record + spaces, requiring: [.psk, .asymmetric]).hasPSK)
        let error = expectSenderError(.tooLarge) {
            try Registration(json: record + spaces + [0x20], requiring: [.psk, .asymmetric])
        }
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
        for value in ["\"secretsecretsecret\"", "{\"a\":\"secretsecretsecret\"}"] {
            let error = expectSenderError(.malformed) {
                try Registration(json: Self.changed("p256 psk", "psk", to: value), requiring: [])
            }
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
