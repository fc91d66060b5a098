import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptTestSupport
import Testing

/// A fault of a file that replaces a valid keyset with seq 2.
struct Spoiling: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A part of the refusal's text.
    let reason: String
    var secret: KeysetSecret?
    let spoil: @Sendable (Operator) throws -> Void
    /// Repairs what writing a valid file doesn't.
    var repair: @Sendable (Operator) throws -> Void = { _ in }

    var protection: Protection { secret == nil ? .plaintext : .cheap }

    static let all = texts + others

    private static let texts: [Spoiling] = [
        .init("an empty file", "not a JSON text") { _ in [] },
        .init("a truncated file", "not a JSON text") { place in try Array(place.text().dropLast(200)) },
        .init("a flipped bit", "doesn't match its digest") { place in
            var text = try place.text()
            let index = try #require(text.firstRange(of: Array(#""seq": 2"#.utf8))?.upperBound) - 1
            text[index] ^= 1
            return text
        },
        .init("an older keyset", "went back from seq 2 to seq 1") { place in
            try place.edited { $0.metadata.sequence = 1 }
        },
        .init("an older keyset with a higher seq", "went back from updatedAt 2027-01-15T08:00:01Z") { place in
            try place.edited { stored in
                stored.metadata.sequence = 9
                stored.metadata.timeline.updatedAt = Operator.start - 1
            }
        },
        .init("keys of another kind", "contains sender keys now and contained shared keys") { _ in
            let other = try Operator(.sender)
            for _ in 0..<3 { try other.rotate() }
            return try other.text()
        },
        .init("no key that seals", "none of the 2 keys seals") { place in
            try place.edited { stored in
                stored.metadata.sequence += 1
                for index in stored.metadata.timeline.keys.indices {
                    stored.metadata.timeline.keys[index].lifecycle.retiresAt = Operator.start
                }
            }
        },
        .init("demo keys", "demo keys") { _ in Array(DemoKeys.sharedJSON.utf8) },
        .init("an unknown sort of encryption", "sealed.v is missing or not the number of a version") {
            place in
            let text = String(decoding: try place.text(), as: UTF8.self)
            return Array(withoutDigest(text.replacing(#""keys": ["#, with: #""sealed": ["#)).utf8)
        },
        .init("keys under another passphrase", "the passphrase is wrong", under: .test("mine")) { place in
            try place.edited { stored in
                stored.metadata.sequence += 1
                stored.secret = .test("theirs")
            }
        },
        .init("the same keys in plain text", "is not encrypted", under: .test("mine")) { place in
            try place.edited { stored in
                stored.metadata.sequence += 1
                (stored.protection, stored.secret) = (.plaintext, nil)
            }
        },
        .init("another keyset with the same seq", "has other content with the same seq 2") { _ in
            let other = try Operator()
            try other.rotate()
            return try other.text()
        },
        .init("scrypt parameters out of bounds", "scrypt", under: .test("mine")) { place in
            let text = String(decoding: try place.text(), as: UTF8.self)
            return Array(withoutDigest(text.replacing(#""n": 16,"#, with: #""n": 17,"#)).utf8)
        },
        .init("keys that were moved to another keyset", "damaged or was changed", under: .test("mine")) { place in
            let text = String(decoding: try place.text(), as: UTF8.self)
            return Array(withoutDigest(text.replacing(#""seq": 2"#, with: #""seq": 3"#)).utf8)
        },
    ]

    private static let others: [Spoiling] = [
        .init(
            testDescription: "a file that others can read", reason: "chmod 600",
            spoil: { try $0.folder.setMode(0o640, of: "Keys/push/keyset.json") }),
        .init(
            testDescription: "a folder that others can enter", reason: "chmod 700",
            spoil: { try $0.folder.setMode(0o711, of: "Keys/push") },
            repair: { try $0.folder.setMode(0o700, of: "Keys/push") }),
        .init(
            testDescription: "no file", reason: "No such file",
            spoil: { try FileManager.default.removeItem(atPath: $0.filePath) }),
        .init(
            testDescription: "a link", reason: "symbolic link",
            spoil: { place in
                try Replacement.rename(place.filePath, to: place.filePath + ".moved")
                try FileManager.default.createSymbolicLink(
                    atPath: place.filePath, withDestinationPath: place.filePath + ".moved")
            }),
        .init(
            testDescription: "a folder", reason: "is not a file",
            spoil: { place in
                try FileManager.default.removeItem(atPath: place.filePath)
                try Folder.makeIfMissing(place.filePath)
            },
            repair: { try FileManager.default.removeItem(atPath: $0.filePath) }),
    ]

    private init(
        testDescription: String, reason: String, spoil: @escaping @Sendable (Operator) throws -> Void,
        repair: @escaping @Sendable (Operator) throws -> Void = { _ in }
    ) {
        (self.testDescription, self.reason, self.spoil, self.repair) = (testDescription, reason, spoil, repair)
    }

    private init(
        _ description: String, _ reason: String, under secret: KeysetSecret? = nil,
        text: @escaping @Sendable (Operator) throws -> [UInt8]
    ) {
        self.init(testDescription: description, reason: reason) { place in try place.write(text(place)) }
        self.secret = secret
    }

    private static func withoutDigest(_ text: String) -> String { text.replacing(/,\s+"digest".*"/, with: "") }
}
