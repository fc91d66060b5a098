import Foundation
import PushCryptCore
import PushCryptSender
import PushCryptTestSupport
import Testing

/// `RefusalVectorTests` has the records that are refused.
@Suite("Registration") struct RegistrationTests {
    static func registration(_ key: String) throws -> Registration {
        try Registration(json: TestKeys.publicJWK(key), requiring: [])
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

/// `RefusalVectorTests` has the uploads that replace other rows.
@Suite("RegistrationChange") struct RegistrationChangeTests {
    private static func row(
        _ key: String = "p256 psk", account: String = "a", token: String = "0a"
    ) throws -> StoredRegistration {
        StoredRegistration(try RegistrationTests.registration(key), account: account, deviceToken: token)
    }

    private static func change(
        _ upload: StoredRegistration, over stored: [StoredRegistration], isProven: Bool = false
    ) throws -> RegistrationChange {
        try RegistrationChange(storing: upload, over: stored, isProven: isProven)
    }

    @Test("the same key pair with another psk, or without it, never replaces the stored one, proven or not")
    func otherPSK() throws {
        var record = String(decoding: TestKeys.publicJWK("p256 psk"), as: UTF8.self)
        record.replace(/"psk":"[^"]*"/, with: #""psk":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA""#)
        let other = try Registration(json: record.utf8, requiring: .psk)
        let without = try Registration(json: record.replacing(/"psk":/, with: "\"removed\":").utf8, requiring: [])
        for registration in [other, without] {
            let upload = StoredRegistration(registration, account: "a", deviceToken: "0a")
            #expect(try upload.kid == Self.row().kid)
            for isProven in [true, false] {
                expectSenderError(.conflict) { try Self.change(upload, over: [Self.row()], isProven: isProven) }
            }
        }
    }

    /// A device key has the kid of its master, so these are two keys with one kid.
    @Test("another key with the same kid is refused, even with a proof")
    func collision() throws {
        let (device, master) = try (Self.row("device"), Self.row("shared"))
        #expect(device.kid == master.kid)
        expectSenderError(.conflict) { try Self.change(device, over: [master], isProven: true) }
        expectSenderError(.conflict) { try Self.change(master, over: [device], isProven: true) }
    }

    @Test("rows with the same device token are removed, of any account, and other rows stay")
    func removedRows() throws {
        let stored = try [
            Self.row("p256"), Self.row("x25519", account: "b"), Self.row("x25519 psk", token: "0b"),
        ]
        let change = try Self.change(Self.row(), over: stored)
        #expect(change.isWritten && change.removedKeyIDs == stored[..<2].map(\.kid))
    }

    /// A device key has the rank of suite 3, and every machine has it.
    private static let rankedKeys =
        [("device", "p256 psk"), ("shared", "x25519")]
        + (Suite.xWing.isAvailable ? [("xwing psk", "p256 psk"), ("xwing", "x25519")] : [])

    @Test(
        "a key of a lower suite for the same account and device token is refused as suiteTooLow, proven or not",
        arguments: rankedKeys)
    func lowerSuite(higher: String, lower: String) throws {
        let (row, upload) = try (Self.row(higher), Self.row(lower))
        for isProven in [false, true] {
            let error = expectSenderError(.suiteTooLow) {
                try Self.change(upload, over: [Self.row("x25519 psk"), row], isProven: isProven)
            }
            let reason = try #require(error?.reason)
            #expect(reason.contains("key \(upload.kid) has suite \(upload.registration.suite.rawValue) "), "\(reason)")
            #expect(reason.contains("of key \(row.kid), which it would replace"), "\(reason)")
        }
    }

    @Test("after a row was stored and read again, its suite is still compared", arguments: rankedKeys)
    func storedRow(higher: String, lower: String) throws {
        let stored = try JSONEncoder().encode(Self.row(higher))
        let row = try JSONDecoder().decode(StoredRegistration.self, from: stored)
        expectSenderError(.suiteTooLow) { try Self.change(Self.row(lower), over: [row], isProven: true) }
    }

    @Test("a sign-out removes the account's row with that kid, and nothing of another account")
    func signOut() throws {
        let row = try Self.row()
        func removed(_ kid: KeyID, _ account: String, _ stored: [StoredRegistration]) -> [KeyID] {
            let change = RegistrationChange(signingOut: kid, account: account, from: stored)
            #expect(!change.isWritten)
            return change.removedKeyIDs
        }
        #expect(removed(row.kid, "a", [row]) == [row.kid])
        #expect(removed(row.kid, "b", [row]).isEmpty)
        #expect(removed(row.kid, "a", []).isEmpty)
        #expect(removed(try Self.row("p256").kid, "a", [row]).isEmpty)
    }
}
