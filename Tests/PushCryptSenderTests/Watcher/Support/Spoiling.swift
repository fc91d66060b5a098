import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

/// A file that may not replace a keyset of recipients' keys with psk and two lines.
struct Spoiling: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A part of the refusal's text.
    let reason: String
    let isEncrypted: Bool
    let spoil: @Sendable (Operator) throws -> Void
    /// Repairs what writing a valid file doesn't.
    var repair: @Sendable (Operator) throws -> Void = { _ in }

    var secret: KeysetSecret? { isEncrypted ? .test("mine") : nil }

    static let all = logs + texts + others

    /// Files whose log doesn't go on from line 2.
    private static let logs: [Spoiling] = [
        .init("an old copy", otherLog) { place in try place.first.file },
        .init("a copy with another line 2", otherLog) { place in try place.first.rotated().file },
        .init("a longer copy with another line 2", otherLog) { place in try place.first.rotated().rotated().file },
        .init("another keyset", otherLog) { place in
            try KeysetFiles(.recipient, place.secret, psk: true).rotated().rotated().file
        },
        .init("a keyset of another kind", otherLog) { place in
            try KeysetFiles(.shared, place.secret).rotated().rotated().file
        },
        .init("a set of keys with a higher seq", otherLog, isEncrypted: false) { place in
            var set = try place.files.rotated().keyset
            (set.sequence, set.updatedAt) = (99, Operator.start + 99)
            return try set.publicKeyset(keepingPSK: true).jwkSet(withHistory: true)
        },
        .init("the same log with another psk", "other keys with the same log", isEncrypted: false) { place in
            let kid = place.files.kids[0]
            var records = place.files.material.records
            guard case .recipient(let publicKey, let privateKey, _)? = records[kid]?.material else { return [] }
            let psk = SecretBytes(count: 32) { $0[0] = 1 }
            records[kid] = try KeyRecord(
                .recipient(publicKey: publicKey, privateKey: privateKey, psk: psk), backend: DefaultBackend.shared)
            return try KeysetMaterial(records: records, secrets: nil, historyKey: nil).file(place.files.log)
        },
    ]

    private static let otherLog = "doesn't go on from line 2 of the keyset"

    private static let texts: [Spoiling] = [
        .init("an empty file", "incomplete") { _ in [] },
        .init("a file of which a half is written", "incomplete") { place in
            let text = try place.files.rotated().file
            return Array(text.prefix(text.count / 2))
        },
        .init("a flipped bit", "notAuthentic") { place in
            var text = try place.files.rotated().file
            let index = try #require(text.firstRange(of: Array("\"sealed\":".utf8))).upperBound
            let key = try #require(text[index...].firstRange(of: Array("\"keys\":\"".utf8))).upperBound
            text[key] = text[key] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            return text
        },
        .init("a line that somebody without the secret appended", "notAuthentic") { place in
            let (file, log) = (try place.files.file, place.files.log)
            return try place.files.rotated().log.bytes + file[log.bytes.count...]
        },
        .init("no key that seals", "none of the 2 keys seals") { place in
            try place.files.appending { changes in
                changes.keys = place.files.kids.map { kid in
                    var key = KeysetChanges.Key(kid)
                    key.moments = [.retiresAt: Operator.start]
                    return key
                }
            }.file
        },
        .init("demo keys", "demo keys", isEncrypted: false) { _ in DemoKeys.recipient.file },
        .init("keys under another passphrase", "the passphrase is wrong") { place in
            try place.files.encrypted(.test("theirs")).file
        },
        .init("a longer log with the keys in clear", "is not encrypted") { place in
            try place.files.encrypted(nil).file
        },
        .init("a private JWK", "is not encrypted") { _ in TestKeys.privateJWK("x25519") },
    ]

    private static let others: [Spoiling] = [
        .init(
            testDescription: "a file that others can read", reason: "chmod", isEncrypted: true,
            spoil: { try $0.files.rotated().write(to: $0.filePath, mode: 0o644) }),
        .init(
            testDescription: "no file", reason: "No such file", isEncrypted: true,
            spoil: { try FileManager.default.removeItem(atPath: $0.filePath) }),
        .init(
            testDescription: "a folder", reason: "is not a file", isEncrypted: true,
            spoil: { place in
                try FileManager.default.removeItem(atPath: place.filePath)
                try Folder.makeIfMissing(place.filePath)
            },
            repair: { try FileManager.default.removeItem(atPath: $0.filePath) }),
    ]

    private init(
        testDescription: String, reason: String, isEncrypted: Bool,
        spoil: @escaping @Sendable (Operator) throws -> Void,
        repair: @escaping @Sendable (Operator) throws -> Void = { _ in }
    ) {
        (self.testDescription, self.reason, self.isEncrypted) = (testDescription, reason, isEncrypted)
        (self.spoil, self.repair) = (spoil, repair)
    }

    private init(
        _ description: String, _ reason: String, isEncrypted: Bool = true,
        text: @escaping @Sendable (Operator) throws -> [UInt8]
    ) {
        self.init(testDescription: description, reason: reason, isEncrypted: isEncrypted) { place in
            try place.write(text(place))
        }
    }
}
