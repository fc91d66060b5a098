import Foundation
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@Suite("A program reads a keyset's file")
struct KeysetReadingTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/senders.keyset" }
    private static let secret = KeysetSecret.passphrase(SecretBytes(copying: Array("right".utf8).bytes))
    private static let wrong = KeysetSecret.passphrase(SecretBytes(copying: Array("wrong".utf8).bytes))

    init() throws { folder = try TemporaryFolder() }

    private func code(_ body: () throws -> Keyset) -> KeystoreError.Code? { KeystoreError.Code.thrown(by: body) }

    @Test("Keys/senders stands for Keys/senders.keyset, also beside a folder, and not if there is a file of this name")
    func names() throws {
        let keyset = try KeysetFiles()
        try keyset.write(to: path)
        let short = folder.path + "/senders"
        #expect(try Keyset(file: path).keyIDs == keyset.kids)
        #expect(try Keyset(file: short).keyIDs == keyset.kids)
        try Folder.makeIfMissing(short)
        #expect(try Keyset(file: short).keyIDs == keyset.kids)
        try FileManager.default.removeItem(atPath: short)
        let other = try KeysetFiles()
        try other.write(to: short)
        #expect(try Keyset(file: short).keyIDs == other.kids)
        #expect(code { try Keyset(file: folder.path + "/others") } == .notFound)
    }

    @Test("The content decides what a file is: a keyset and a JWK are read under each other's names")
    func content() throws {
        let keyset = try KeysetFiles()
        try keyset.write(to: folder.path + "/key.jwk")
        #expect(try Keyset(file: folder.path + "/key.jwk").sequence == 1)
        var jwk = [UInt8]()
        try keyset.material.records.values.first?.appendJWK(to: &jwk)
        try FileSystem.replace(path, with: jwk + Array("\n".utf8))
        #expect(try Keyset(file: path).keyIDs == keyset.kids)
        #expect(try Keyset(file: path).sequence == 0)
    }

    @Test("A keyset has the lifecycles as they count, the last line's number and time, and no lost or destroyed keys")
    func keys() throws {
        var keyset = try KeysetFiles(.recipient, psk: true).rotated().rotated().rotated()
        let kids = keyset.kids
        keyset = try keyset.setting(.revokedAt, of: kids[0], to: KeysetFiles.start + 1_000)
            .setting(.destroyedAt, of: kids[1], to: KeysetFiles.start, .destroyed)
            .appending(.restored, number: 20) { changes in
                var key = KeysetChanges.Key(kids[2])
                key.isLost = true
                changes.keys = [key]
            }
        try keyset.write(to: path)
        let read = try Keyset(file: path)
        #expect(read.keyIDs == [kids[0], kids[3]])
        #expect(read.sequence == 20)
        #expect(read.updatedAt == keyset.log.state.at)
        // The time was to come, and the revocation counts.
        #expect(read.state(of: kids[0], at: KeysetFiles.start) == .revoked)
        #expect(read.entries.map(\.demandsPSK) == [true, false])
        #expect(read.primary(at: KeysetFiles.start)?.record.kid == kids[3])
    }

    @Test("The id of the keyset is accepted; another id, a text that is no id, and a JWK in its place are refused")
    func ids() throws {
        let keyset = try KeysetFiles()
        try keyset.write(to: path)
        #expect(try Keyset(file: path, id: keyset.id.description).keyIDs == keyset.kids)
        for id in [try KeysetFiles().id.description, "", String(keyset.id.description.dropLast())] {
            #expect(code { try Keyset(file: path, id: id) } == .otherKeyset, "\(id)")
        }
        let jwk = try Keyset(file: path).jwkSet(withHistory: true)
        try FileSystem.replace(path, with: jwk)
        #expect(try Keyset(file: path).keyIDs == keyset.kids)
        #expect(code { try Keyset(file: path, id: keyset.id.description) } == .otherKeyset)
    }

    @Test("An encrypted keyset opens with its passphrase, and not without one, with another one or with a command")
    func passphrase() throws {
        let keyset = try KeysetFiles(.shared, Self.secret).rotated()
        try keyset.write(to: path)
        #expect(try Keyset(file: path, secret: Self.secret).keyIDs == keyset.kids)
        #expect(code { try Keyset(file: path) } == .secretNeeded)
        #expect(code { try Keyset(file: path, secret: Self.wrong) } == .wrongSecret)
        #expect(code { try Keyset(file: path, secret: .command("true")) } == .secretNeeded)
    }

    @Test("An encrypted keyset opens with the command that wraps its key, and not if the command fails")
    func command() throws {
        let script = try HelperScript()
        try KeysetFiles(.sender, script.secret).write(to: path)
        #expect(try Keyset(file: path, secret: script.secret).kind == .sender)
        #expect(code { try Keyset(file: path, secret: .command("exit 1;")) } == .wrapCommandFailed)
    }

    @Test("Plain keys are refused if a secret is given, before a command runs")
    func plain() throws {
        try KeysetFiles().write(to: path)
        #expect(code { try Keyset(file: path, secret: Self.secret) } == .notEncrypted)
        #expect(code { try Keyset(file: path, secret: .command("exit 1;")) } == .notEncrypted)
    }

    @Test(
        "A JWK set beside a given secret is refused, except a public one if the caller allows that",
        arguments: [KeyKind.recipient, .shared, .sender])
    func jwkSets(_ kind: KeyKind) throws {
        let own = try KeysetFiles(kind).keyset
        func code(_ keyset: Keyset, allowsPublic: Bool) throws -> KeystoreError.Code? {
            try FileSystem.replace(path, with: keyset.jwkSet(withHistory: false))
            return KeystoreError.Code.thrown {
                try KeysetPlace(file: path).read().unlocked(Self.secret, allowsPublic: allowsPublic)
            }
        }
        for allows in [true, false] { #expect(try code(own, allowsPublic: allows) == .notEncrypted) }
        guard kind != .shared else { return }
        let others = try own.publicKeyset(keepingPSK: false)
        #expect(try code(others, allowsPublic: false) == .notEncrypted)
        #expect(try code(others, allowsPublic: true) == nil)
    }

    @Test("A line that somebody without the secret appended is refused, and the host doesn't remember it")
    func appended() throws {
        let keyset = try KeysetFiles(.sender, Self.secret)
        let (file, longer) = (try keyset.file, try keyset.rotated())
        try FileSystem.replace(path, with: longer.log.bytes + file[keyset.log.bytes.count...])
        let history = folder.path + "/seen"
        #expect(code { try Keyset(file: path, history: history, secret: Self.secret) } == .damaged)
        #expect(!FileSystem.exists(history))
        try FileSystem.replace(path, with: Array(file.dropLast(3)))
        #expect(code { try Keyset(file: path, secret: Self.secret) } == .damaged)
    }

    @Test("A file of another user, or one that others can read, is refused; root's group may read; links are followed")
    func access() throws {
        let keyset = try KeysetFiles(.sender, Self.secret)
        try keyset.write(to: path)
        let link = folder.path + "/link.keyset"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "senders.keyset")
        let isRoot = FileSystem.ownUser == 0
        let group: KeystoreError.Code? = isRoot ? nil : .looseMode
        let modes: [Int: KeystoreError.Code?] = [0o600: nil, 0o640: group, 0o660: .looseMode, 0o644: .looseMode]
        for (mode, expected) in modes {
            try folder.setMode(mode, of: "senders.keyset")
            for place in [path, link] { #expect(code { try Keyset(file: place, secret: Self.secret) } == expected) }
        }
        guard isRoot else { return }
        try folder.setMode(0o600, of: "senders.keyset")
        try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
        #expect(code { try Keyset(file: link, secret: Self.secret) } == .foreignOwner)
    }

    @Test("The public keys of a log need no secret; shared keys have none")
    func publicKeys() throws {
        let keyset = try KeysetFiles(.recipient, Self.secret, psk: true).rotated()
        let log = try KeysetRows(keyset.file).log
        let read = try Keyset(unauthenticatedPublicKeysOf: log)
        #expect(read.hasSameContent(as: try Keyset(keyset.opened).publicKeyset(keepingPSK: false)))
        #expect(!read.entries.contains { $0.record.isPrivateAsymmetric })
        let shared = try KeysetFiles(.shared).log
        #expect(KeyError.Code.thrown { try Keyset(unauthenticatedPublicKeysOf: shared) } == .wrongKind)
    }
}

@Suite("A program compares a keyset's file with what its host has seen")
struct KeysetHistoryTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/senders.keyset" }
    private var history: String { folder.path + "/seen" }

    init() throws { folder = try TemporaryFolder() }

    /// nil if the file is accepted.
    private func code(_ secret: KeysetSecret? = nil) -> KeystoreError.Code? {
        KeystoreError.Code.thrown { try Keyset(file: path, history: history, secret: secret) }
    }

    private func seen(_ id: KeysetID) throws -> Int64? {
        try HistoryFolder(history).history(of: id)?.log.state.head.number
    }

    @Test("What is read is remembered; an old copy is refused, and the newer file is accepted again")
    func old() throws {
        let first = try KeysetFiles()
        let second = try first.rotated()
        for keyset in [first, second] {
            try keyset.write(to: path)
            #expect(code() == nil)
            #expect(try seen(first.id) == keyset.log.state.head.number)
        }
        try first.write(to: path)
        #expect(code() == .olderThanHistory)
        #expect(KeystoreError.Code.thrown { try Keyset(file: path) } == nil)
        try second.write(to: path)
        #expect(code() == nil)
        #expect(try seen(first.id) == 2)
    }

    @Test("A copy that another host has changed is refused, also a longer one; one that gives up the other lines isn't")
    func parted() throws {
        let first = try KeysetFiles()
        let (ours, theirs) = (try first.rotated(), try first.rotated())
        try ours.write(to: path)
        #expect(code() == nil)
        for other in [theirs, try theirs.rotated()] {
            try other.write(to: path)
            #expect(code() == .twoHistories)
        }
        #expect(try seen(first.id) == 2)
        try theirs.appending(.restored, number: 9) { $0.over = [ours.log.state.head] }.write(to: path)
        #expect(code() == nil)
        #expect(try seen(first.id) == 9)
    }

    @Test("Another keyset has its own history")
    func others() throws {
        for keyset in [try KeysetFiles().rotated(), try KeysetFiles()] {
            try keyset.write(to: path)
            #expect(code() == nil)
            #expect(try seen(keyset.id) == keyset.log.state.head.number)
        }
    }

    @Test("A program that can't write the history, because another one has its lock, compares all the same")
    func readOnly() throws {
        let first = try KeysetFiles()
        let second = try first.rotated()
        try second.write(to: path)
        #expect(code() == nil)
        let lock = try HistoryFolder(history).lock(.none)
        defer { lock.unlock() }
        let third = try second.rotated()
        try third.write(to: path)
        #expect(code() == nil)
        #expect(try seen(first.id) == 2)
        try first.write(to: path)
        #expect(code() == .olderThanHistory)
    }

    @Test("A damaged history, that of another keyset, and a folder of others are refused")
    func unusable() throws {
        let keyset = try KeysetFiles()
        try keyset.write(to: path)
        #expect(code() == nil)
        let name = history + "/\(keyset.id)"
        let file = try FileSystem.readFile(name)
        for text in [Array(file.dropLast()), try KeysetFiles().opened.history().file] {
            try FileSystem.replace(name, with: text)
            #expect(code() == .damaged)
        }
        try FileSystem.replace(name, with: file)
        try folder.setMode(0o755, of: "seen")
        #expect(code() == .looseMode)
    }

    @Test("A change between the reading of the file and of the history is no old copy")
    func changedMeanwhile() throws {
        let prepared = folder.path + "/prepared"
        try Folder.makeIfMissing(prepared)
        let script = try HelperScript(
            unwrap: "if test -e '\(prepared)/file'; then cp -p '\(prepared)/file' '\(path)'; "
                + "cp -pR '\(prepared)/seen' '\(folder.path)'; fi; \(HelperScript.unwrap)")
        let first = try KeysetFiles(.sender, script.secret)
        let second = try first.rotated()
        try Folder.makeIfMissing(prepared + "/seen")
        try FileSystem.replace(prepared + "/seen/\(first.id)", with: second.opened.history().file)
        try second.write(to: prepared + "/file")
        try first.write(to: path)
        #expect(try Keyset(file: path, history: history, secret: script.secret).sequence == 2)
    }
}
