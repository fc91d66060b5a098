import Foundation
import Logging
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// A watcher rejects an invalid file, keeps the previous keyset and logs one error.
@Suite("KeysetWatcher refuses a new file") struct RefusalTests {
    @Test(
        "a file that may not replace the keyset is refused once, and the previous keys stay in use",
        arguments: Spoiling.all)
    func keepsTheOldKeyset(spoiling: Spoiling) throws {
        let place = try Operator(.recipient, spoiling.secret, psk: true)
        let before = try place.rotate()
        let watch = try Watch(place)

        try spoiling.spoil(place)
        let reason = try #require(watch.tick()?.reason, "\(watch.outcomes.all)")
        #expect(reason.contains(spoiling.reason), "\(reason)")
        // A key may begin to seal later.
        #expect(watch.tick() == .unchanged || spoiling.reason.contains("keys seals"))
        #expect(watch.check()?.sequence == nil)
        let line = ["keyset": place.path, "seq": "2", "primary": before.description, "reason": reason]
        #expect(watch.errors == [line])
        #expect(watch.watcher.status.refusal?.contains(spoiling.reason) == true)
        #expect(try place.open(watch.seal()) == Watch.payload)

        try spoiling.repair(place)
        let after = try place.rotate()
        #expect(watch.tick() == .taken(sequence: 3))
        #expect(try watch.watcher.recipient().kid == after)
        #expect(watch.errors.count == 1)
        #expect(watch.notices.count == 1)
    }

    /// A wrong passphrase doesn't become right by itself, and trying it costs a third of a second.
    @Test("each refused file is logged once, and not read again while it stays the same")
    func eachBadFileHasItsLine() throws {
        let place = try Operator()
        let watch = try Watch(place)
        for (index, text) in ["{", "[]", "{}", #"{"keys":[]}"#].enumerated() {
            try place.write(Array(text.utf8))
            #expect(watch.check()?.reason != nil)
            #expect(watch.check() == .unchanged)
            #expect(watch.errors.count == index + 1)
        }
        // The return of the keyset in use is logged too, because the last line reported an error.
        try place.write(place.files.file)
        #expect(watch.check() == .taken(sequence: 1))
        #expect(watch.check() == .unchanged)
        #expect(watch.notices.count == 1)
    }

    /// A key server can recover without a change of the file.
    @Test("a temporary failure is retried at the next check") func whatMayPassIsTriedAgain() throws {
        let keyServer = try KeyServer()
        let place = try Operator(.sender, keyServer.secret)
        let reloader = try reloader(place)
        let kid = try place.rotate()
        try keyServer.stop()
        #expect(reloader.check(.request).reason?.contains("unwrap") == true)
        #expect(reloader.check(.time).reason?.contains("unwrap") == true)
        try keyServer.start()
        #expect(reloader.check(.time) == .taken(sequence: 2))
        #expect(reloader.choice.withLock { $0 }.entry.record.kid == kid)
        try keyServer.stop()
        #expect(reloader.check(.time) == .unchanged)
    }

    @Test("a watcher with a history remembers what it takes, and refuses what is older than its host has seen")
    func history() throws {
        let place = try Operator(.sender, .test("right"))
        let seen = HistoryFolder(place.folder.path + "/seen")
        let watch = try Watch(KeysetPlace(file: place.path, history: seen), place.secret, clock: place.clock)
        func line() throws -> Int64? { try seen.history(of: place.files.id)?.log.state.head.number }
        #expect(try line() == 1)
        try place.rotate()
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(try line() == 2)
        // Another process of the host has seen line 4.
        let third = try place.files.rotated()
        let fourth = try third.rotated()
        try seen.setHistory(fourth.opened.history(), from: nil)
        try place.change { _ in third }
        #expect(watch.tick()?.reason?.contains("line 4") == true)
        let error = #expect(throws: KeystoreError.self) {
            try KeysetWatcher(file: place.path, history: seen.path, secret: place.secret)
        }
        #expect(error?.code == .olderThanHistory)
        try place.change { _ in fourth }
        #expect(watch.tick() == .taken(sequence: 4))
    }

    @Test("a watcher of one id refuses another keyset at its start and later")
    func otherID() throws {
        let (place, other) = (try Operator(.sender), try Operator(.sender))
        func watcher(_ id: KeysetID) throws -> KeysetWatcher {
            try KeysetWatcher(file: place.path, id: id.description, clock: { Operator.start })
        }
        expectKeystoreError(.otherKeyset) { try watcher(other.files.id) }
        let own = try watcher(place.files.id)
        try place.write(other.files.file)
        own.checkNow()
        #expect(own.status.refusal?.contains("\(place.files.id) is expected") == true)
        #expect(try own.senderKey().kid == place.files.kids[0])
    }

    private func reloader(_ place: Operator) throws -> KeysetReloader {
        try KeysetReloader(
            WatchedKeyset(place: KeysetPlace(file: place.path), secret: place.secret, allowsDemoKeys: false),
            clock: { place.clock.now }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
}

extension KeysetReloader.Outcome {
    var reason: String? {
        if case .refused(let reason) = self { reason } else { nil }
    }

    /// The sequence number of an accepted keyset.
    var sequence: Int64? {
        if case .taken(let sequence) = self { sequence } else { nil }
    }
}

/// A command that wraps data keys while it is up: it turns the highest bit of each byte.
private struct KeyServer {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try start()
    }

    /// The verb that is appended lands in the script's arguments.
    var secret: KeysetSecret {
        .command(#"test -e '\#(folder.path)/up' || exit 1; LC_ALL=C tr '\000-\377' '\200-\377\000-\177'; :"#)
    }

    func start() throws { try FileSystem.replace(folder.path + "/up", with: []) }

    func stop() throws { try Folder(folder.path).remove("up") }
}

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
