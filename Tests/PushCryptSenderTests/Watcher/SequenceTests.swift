import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptKeystore
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// Every change by pushcrypt increases `seq`, so other content with the same `seq` has another origin.
@Suite("KeysetWatcher and a file with the seq of the keyset in use")
struct SequenceTests {
    /// Other content for a recipient's keyset with a pre-shared key.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (inout StoredKeyset) throws -> Void

        static let all = [
            Change(testDescription: "one more key that seals") { stored in try add(to: &stored) },
            Change(testDescription: "another key in the place of the one that seals") { stored in
                let old = stored.metadata.timeline.keys.removeFirst().kid
                stored.records[old] = nil
                try add(to: &stored)
            },
            Change(testDescription: "another pre-shared key") { stored in
                stored.records = try stored.records.mapValues { record in
                    guard case .recipient(let publicKey, let privateKey, _) = record.material else { return record }
                    let psk = SecretBytes(count: 32) { $0[0] = 1 }
                    return try KeyRecord(
                        .recipient(publicKey: publicKey, privateKey: privateKey, psk: psk),
                        backend: DefaultBackend.shared)
                }
            },
            Change(testDescription: "a later expiry of a key") { stored in
                stored.metadata.timeline.keys[0].lifecycle.expiresAt = Operator.start + 1_000_000
            },
            Change(testDescription: "a revoked key that is no longer revoked") { stored in
                stored.metadata.timeline.keys[1].lifecycle.revokedAt = nil
            },
            Change(testDescription: "a later updatedAt") { stored in
                stored.metadata.timeline.updatedAt = Operator.start + 100
            },
        ]

        private static func add(to stored: inout StoredKeyset) throws {
            let record = try KeyRecord.generate(.recipient, psk: true, backend: DefaultBackend.shared)
            stored.records[record.kid] = record
            stored.metadata.traits[record.kid] = .init(suite: record.algorithm, demandsPSK: true)
            stored.metadata.timeline.keys.append(.init(record.kid, KeyLifecycle(activatesAt: Operator.start)))
        }
    }

    @Test(
        "other content with the same seq is refused, whether it is encrypted or not", arguments: Change.all,
        [true, false])
    func otherContent(_ change: Change, _ isEncrypted: Bool) throws {
        let place = try Operator(
            .recipient, psk: true, under: isEncrypted ? .cheap : .plaintext, isEncrypted ? .test("right") : nil)
        let first = try #require(try place.keyset().keyIDs.first)
        try place.rotate()
        try place.change { try $0.revoke(first) }
        // The revoked key is the second, so that each change has one to work on.
        let good = try place.edited { $0.metadata.timeline.keys.reverse() }
        try place.write(good)
        let watch = try Watch(place)
        let kid = try watch.watcher.recipient().kid
        try place.write(place.edited(change.make))
        let reason = try #require(watch.check()?.reason, "\(watch.outcomes.all)")
        #expect(reason.contains("has other content with the same seq 3"), "\(reason)")
        #expect(try watch.watcher.recipient().kid == kid)
        #expect(watch.errors.map { $0["seq"] } == ["3"])
        try place.write(good)
        #expect(watch.check() == .taken(sequence: 3))
    }

    /// `keys passwd` increases `seq`. A tool of the operator may encrypt the same content without that.
    @Test("the same content encrypted again with other salts is no change")
    func encryptedAgain() throws {
        let place = try Operator(.recipient, psk: true, under: .cheap, .test("right"))
        try place.rotate()
        let watch = try Watch(place)
        for _ in 0..<2 {
            let text = try place.edited { $0.metadata.timeline.keys.reverse() }
            #expect(try text != place.text())
            try place.write(text)
            #expect(watch.check() == .unchanged)
        }
        #expect(watch.errors.isEmpty && watch.notices.isEmpty)
    }

    @Test("a touched file, or one with another private mode, is no change")
    func touched() throws {
        let place = try Operator(.sender, under: .cheap, .test("right"))
        let watch = try Watch(place)
        try place.folder.setMode(0o400, of: "Keys/push/keyset.json")
        #expect(watch.check() == .unchanged)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: place.filePath)
        #expect(watch.check() == .unchanged)
        #expect(watch.errors.isEmpty && watch.notices.isEmpty)
    }

    @Test("every kind of change by the keystore increases seq and is taken")
    func everyChange() throws {
        let place = try Operator(.sender, under: .cheap, .test("right"))
        let watch = try Watch(place)
        let first = try watch.watcher.senderKey().kid
        let changes: [(inout KeysetEditor) throws -> Void] = [
            { editor in try editor.add(activatesAt: nil) },
            { editor in
                let pending = try #require(editor.metadata.timeline.keys(in: .pending, at: editor.now).first)
                try editor.promote(pending.kid, force: true)
            },
            { editor in
                try editor.adopt(
                    RotationPolicy(
                        rotateEveryInSeconds: 86_400, publishLeadInSeconds: 0, overlapInSeconds: 0, keep: 5))
            },
            { editor in editor.protect(.cheap, .test("right")) },
            { editor in try editor.revoke(first) },
            { editor in try editor.destroy(first, force: true) },
        ]
        for (index, change) in changes.enumerated() {
            place.clock.now = place.clock.now + 1
            try place.change(change)
            #expect(watch.check() == .taken(sequence: Int64(index) + 2))
        }
        #expect(watch.errors.isEmpty)
    }

    @Test("another JWK or set without a seq is taken, because such files have no order")
    func unnumbered() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/key.jwk"
        func write(_ text: [UInt8]) throws { try FileSystem.replace(path, with: text) }
        let keys = ["p256", "x25519"].map(TestKeys.publicJWK)
        try write(keys[0])
        let watch = try Watch(KeysetPlace(file: path))
        #expect(try watch.watcher.recipient().suite == .p256)
        try write(keys[1])
        #expect(watch.check() == .taken(sequence: 0))
        #expect(try watch.watcher.recipient().suite == .x25519)
        try write(Array(#"{"keys":["#.utf8) + keys[1] + Array("]}".utf8))
        #expect(watch.check() == .unchanged)
        try write(Array(#"{"keys":["#.utf8) + keys[0] + Array("]}".utf8))
        #expect(watch.check() == .taken(sequence: 0))

        // From a file without a seq to one with it, and not back.
        let numbered = try Operator(.recipient)
        try write(FileSystem.readFile(numbered.path + "/public.jwks.json"))
        #expect(watch.check() == .taken(sequence: 1))
        try write(keys[0])
        #expect(watch.check()?.reason?.contains("went back from seq 1 to seq 0") == true)
    }
}
