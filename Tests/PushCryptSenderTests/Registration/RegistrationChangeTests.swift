import Foundation
import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

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
