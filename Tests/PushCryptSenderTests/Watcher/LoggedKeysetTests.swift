import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

@Suite("KeysetWatcher and a keyset's file")
struct LoggedKeysetTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/push.keyset" }
    private var seenFolder: HistoryFolder { HistoryFolder(folder.path + "/seen") }
    private static let secret = KeysetSecret.test("right")

    init() throws { folder = try TemporaryFolder() }

    private func watch(
        _ keyset: LoggedKeyset, _ secret: KeysetSecret? = nil, _ history: HistoryFolder? = nil
    ) throws -> Watch {
        try keyset.write(to: path)
        return try Watch(KeysetPlace(file: folder.path + "/push", history: history), secret)
    }

    @Test("Each file whose log goes on is taken: a rotation, a publication, a restoration, a corrected clock")
    func taken() throws {
        var keyset = try LoggedKeyset(.shared, Self.secret)
        let watch = try watch(keyset, Self.secret)
        let lost = try keyset.rotated()
        try lost.write(to: path)
        #expect(watch.tick() == .taken(sequence: 2))
        let later = [
            try lost.appending(.published) { $0.issuedAt = LoggedKeyset.start },
            try keyset.rotated().appending(.restored, number: 9) { changes in
                changes.over = try lost.appending(.published) { $0.issuedAt = LoggedKeyset.start }.log.points
            },
        ]
        for (next, number) in zip(later, [3, 9] as [Int64]) {
            try next.write(to: path)
            #expect(watch.tick() == .taken(sequence: number))
            keyset = next
        }
        keyset = try keyset.appending(.clockCorrected, after: -3_600)
        try keyset.write(to: path)
        #expect(watch.tick() == .taken(sequence: 10))
        try keyset.write(to: path)
        #expect(watch.tick() == .unchanged)
        #expect(watch.watcher.current.keyIDs == keyset.kids)
        #expect(watch.errors.isEmpty && watch.notices.count == 4)
    }

    /// A file that may not replace a keyset with two lines.
    enum Forgery: String, CaseIterable, Sendable {
        case oldCopy, otherLine, longerWithOtherLine, otherKeyset, plainKeys, setOfKeys, otherKind, damaged, loose
        case otherPSK

        var isEncrypted: Bool { self != .otherPSK && self != .setOfKeys }
    }

    @Test("A file whose log doesn't go on is refused once; the previous keys stay in use", arguments: Forgery.allCases)
    func refused(_ forgery: Forgery) throws {
        let secret = forgery.isEncrypted ? Self.secret : nil
        let first = try LoggedKeyset(.recipient, secret, psk: true)
        let keyset = try first.rotated()
        let watch = try watch(keyset, secret)
        func replace(with other: LoggedKeyset) throws { try other.write(to: path) }
        switch forgery {
        case .oldCopy: try replace(with: first)
        case .otherLine: try replace(with: first.rotated())
        case .longerWithOtherLine: try replace(with: first.rotated().rotated())
        case .otherKeyset: try replace(with: LoggedKeyset(.recipient, secret).rotated().rotated())
        case .otherKind: try replace(with: LoggedKeyset(.shared, secret).rotated().rotated())
        case .plainKeys:
            let next = try keyset.rotated()
            let material = KeysetMaterial(records: next.material.records, secrets: nil, historyKey: nil)
            try FileSystem.replace(path, with: material.file(next.log))
        case .setOfKeys:
            var set = try Keyset(keyset.rotated().opened)
            (set.sequence, set.updatedAt) = (99, LoggedKeyset.start + 99)
            try FileSystem.replace(path, with: set.publicKeyset(keepingPSK: true).jwkSet(withHistory: true))
        case .damaged: try FileSystem.replace(path, with: Array(keyset.rotated().file.dropLast(9)))
        case .loose: try keyset.rotated().write(to: path, mode: 0o644)
        case .otherPSK:
            var records = keyset.material.records
            guard case .recipient(let publicKey, let privateKey, _)? = records[keyset.kids[0]]?.material else { return }
            records[keyset.kids[0]] = try KeyRecord(
                .recipient(publicKey: publicKey, privateKey: privateKey, psk: SecretBytes(count: 32) { $0[0] = 1 }),
                backend: DefaultBackend.shared)
            let material = KeysetMaterial(records: records, secrets: nil, historyKey: nil)
            try FileSystem.replace(path, with: material.file(keyset.log))
        }
        let reason = try #require(watch.tick()?.reason, "\(watch.outcomes.all)")
        #expect(watch.tick() == .unchanged)
        #expect(try watch.watcher.recipient().kid == keyset.kids[1])
        #expect(watch.errors.map { $0["reason"] } == [reason])
        #expect(watch.watcher.status.refusal == reason)
        try keyset.rotated().write(to: path)
        #expect(watch.tick() == .taken(sequence: 3))
        #expect(watch.errors.count == 1 && watch.notices.count == 1)
    }

    @Test("A revocation is in use at once, also if no other key seals")
    func revoked() throws {
        let keyset = try LoggedKeyset(.sender, Self.secret)
        let watch = try watch(keyset, Self.secret)
        _ = try watch.watcher.senderKey()
        try keyset.setting(.revokedAt, of: keyset.kids[0], to: LoggedKeyset.start + 999).write(to: path)
        #expect(watch.tick() == .taken(sequence: 2))
        let error = #expect(throws: KeyError.self) { try watch.watcher.senderKey() }
        #expect(error?.code == .noKeySeals)
    }

    @Test("A watcher keeps no private halves of recipient keys, and seals to them")
    func recipients() throws {
        let keyset = try LoggedKeyset(.recipient, Self.secret, psk: true)
        let watch = try watch(keyset, Self.secret)
        #expect(!watch.watcher.current.entries.contains { $0.record.isPrivateAsymmetric })
        let push = try watch.seal()
        #expect(try Operator.open(push, with: Keyset(keyset.opened), at: LoggedKeyset.start) == Watch.payload)
    }

    @Test("A watcher with a history remembers what it takes, and refuses what is older than its host has seen")
    func remembered() throws {
        let lines = try (0..<3).reduce(into: [try LoggedKeyset(.sender, Self.secret)]) { lines, _ in
            lines.append(try lines[lines.count - 1].rotated())
        }
        let watch = try watch(lines[0], Self.secret, seenFolder)
        func seen() throws -> Int64? { try seenFolder.history(of: lines[0].id)?.log.state.head.number }
        #expect(try seen() == 1)
        try lines[1].write(to: path)
        #expect(watch.tick() == .taken(sequence: 2))
        #expect(try seen() == 2)
        // Another process of the host has seen line 4.
        try seenFolder.setHistory(lines[3].opened.history(), from: nil)
        try lines[2].write(to: path)
        #expect(watch.tick()?.reason != nil)
        #expect(throws: KeystoreError.self) {
            try KeysetWatcher(file: path, history: seenFolder.path, secret: Self.secret)
        }
        try lines[3].write(to: path)
        #expect(watch.tick() == .taken(sequence: 4))
    }

    @Test("A watcher of one id refuses another keyset at its start")
    func otherID() throws {
        let keyset = try LoggedKeyset(.sender)
        try keyset.write(to: path)
        func start(_ id: KeysetID) throws -> KeyID {
            try KeysetWatcher(file: path, id: id.description, clock: { LoggedKeyset.start }).senderKey().kid
        }
        #expect(try start(keyset.id) == keyset.kids[0])
        let error = #expect(throws: KeystoreError.self) { try start(LoggedKeyset().id) }
        #expect(error?.code == .otherKeyset)
    }

    /// The kubelet exchanges the link `..data` by a rename and removes the old folder.
    @Test("A changed secret of Kubernetes is taken, and an old one is refused")
    func mounted() throws {
        let first = try LoggedKeyset(.sender)
        let second = try first.rotated()
        let manager = FileManager.default
        func mount(_ keyset: LoggedKeyset, as name: String) throws {
            try Folder.makeIfMissing(folder.path + "/..\(name)")
            try keyset.write(to: folder.path + "/..\(name)/push.keyset", mode: 0o400)
            try manager.createSymbolicLink(atPath: folder.path + "/..data_tmp", withDestinationPath: "..\(name)")
            try Replacement.rename(folder.path + "/..data_tmp", to: folder.path + "/..data")
        }
        try mount(first, as: "1")
        try manager.createSymbolicLink(atPath: path, withDestinationPath: "..data/push.keyset")
        let watch = try Watch(KeysetPlace(file: path))
        try mount(second, as: "2")
        try manager.removeItem(atPath: folder.path + "/..1")
        #expect(watch.tick() == .taken(sequence: 2))
        try mount(first, as: "3")
        #expect(watch.tick()?.reason != nil)
        #expect(try watch.watcher.senderKey().kid == second.kids[1])
    }
}
