import PushCryptCore
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

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

    @Test("an upload of a new key is written, and removes nothing")
    func insertion() throws {
        let change = try Self.change(Self.row(), over: [])
        #expect(change.isWritten && change.removedKeyIDs.isEmpty)
    }

    @Test("the same upload again writes nothing, and one with another device token or account replaces the row")
    func sameKey() throws {
        let row = try Self.row()
        #expect(try !Self.change(row, over: [row]).isWritten)
        #expect(try Self.change(Self.row(token: "0b"), over: [row]).isWritten)
        let moved = try Self.change(Self.row(account: "b"), over: [row], isProven: true)
        #expect(moved.isWritten && moved.removedKeyIDs.isEmpty)
    }

    @Test("the key of another account is refused without a proof")
    func otherAccount() throws {
        let row = try Self.row()
        expectSenderError(.otherAccount) { try Self.change(Self.row(account: "b"), over: [row]) }
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
