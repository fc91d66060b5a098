import Foundation
import PushCryptSQLite
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// The messages that a process remembers while the file can't be used. ``StoreRefusalTests`` have full disks.
@Suite struct InMemoryReplayStoreTests {
    private let folder = StoreFolder { $0.busyTimeout = .zero }
    private var store: SharedStore { folder.first }
    private let now = StoreFolder.now

    private func claim(_ id: String, at time: Int64 = 0, _ other: SharedStore? = nil) throws -> MessageClaim? {
        let answer = try (other ?? store).claim(id, issuedAt: now, expiresAt: now + 86_400, at: now + time)
        return try? answer.get()
    }

    /// A store whose folder's parent is missing.
    private func unusable(messageLimit: Int = 1_000) -> SharedStore {
        var configuration = SharedStore.Configuration()
        configuration.messageLimit = messageLimit
        return SharedStore(folder: folder.path + "/below", role: .app, configuration: configuration)
    }

    @Test("messages shown while the store is locked are shown once and written to the file later")
    func held() async throws {
        try folder.fill()
        try await folder.whileHeld {
            let claim = try #require(try claim("a"))
            #expect(try self.claim("a") == nil)
            try store.markSeen(claim)
            #expect(try self.claim("a", at: 60) == nil)
            #expect(try self.claim("b") != nil)
            #expect(try self.claim("b", at: 60) != nil)
        }
        #expect(try claim("a", at: 61) == nil)
        #expect(store.unwritten.messages.isEmpty)
        let other = folder.store()
        #expect(try claim("a", at: 61, other) == nil && claim("b", at: 61, other) == nil)
        #expect(try claim("b", at: 120, other) != nil)
    }

    /// A session whose claim is late shows its message, although another process has shown it before.
    @Test("a process doesn't show a message twice whose claim was refused after it was shown")
    func refusedLate() async throws {
        let other = folder.store()
        try other.markSeen(try #require(try claim("a", at: 0, other)))
        let late = MessageStamp(name: "a", issuedAt: now, expiresAt: now + 86_400)
        #expect(store.reserve(late, at: now))
        #expect(try store.claim(late, isReserved: true, at: now).refusal == .replayed)
        try store.markSeen(late.claim)
        try await folder.whileHeld {
            let again = try claim("a", at: 1)
            #expect(again == nil)
        }
    }

    @Test("a message that was claimed or shown before the store was locked isn't granted while it is locked")
    func shownBefore() async throws {
        try store.markSeen(try #require(try claim("a")))
        let (inWork, shown) = (try #require(try claim("b")), try #require(try claim("c")))
        try await folder.whileHeld {
            #expect(try claim("a", at: 1) == nil)
            #expect(try claim("b", at: 1) == nil)
            try store.release(inWork)
            try store.markSeen(shown)
        }
        #expect(try claim("b", at: 2) != nil)
        #expect(try claim("c", at: 60, folder.store()) == nil)
    }

    @Test("a second claim of a message is accepted only after the first was released, or forgotten over the limit")
    func twoCopies() throws {
        let claims = ClaimedMessages()
        let copies = [1, 2].map { MessageClaim(name: "a", issuedAt: now, token: $0) }
        #expect(claims.add(copies[0], at: now.seconds) && !claims.add(copies[1], at: now.seconds + 59))
        claims.remove(copies[1])
        #expect(!claims.add(copies[1], at: now.seconds + 59))
        claims.remove(copies[0])
        #expect(claims.add(copies[1], at: now.seconds + 59))
        claims.markSeen(copies[1])
        #expect(!claims.add(copies[0], at: now.seconds + 1_000))
        // Over the limit the oldest claim is forgotten.
        for number in 1...ClaimedMessages.limit {
            #expect(claims.add(MessageClaim(name: "\(number)", issuedAt: now), at: now.seconds))
        }
        #expect(claims.add(copies[0], at: now.seconds))
        #expect(!claims.add(MessageClaim(name: "\(ClaimedMessages.limit)", issuedAt: now), at: now.seconds))
    }

    @Test("a copy of a message that another session has reserved claims nothing, and its later iat is remembered")
    func copyWithoutReservation() throws {
        let first = MessageStamp(name: "a", issuedAt: now, expiresAt: now + 86_400)
        let again = MessageStamp(name: "a", issuedAt: now + 7, expiresAt: now + 86_400)
        #expect(store.reserve(first, at: now) && !store.reserve(again, at: now))
        #expect(try store.claim(again, isReserved: false, at: now).refusal == .replayed)
        #expect(try store.claim(first, isReserved: true, at: now).refusal == nil)
        try store.markSeen(first.claim)
        let iat = try store.transaction { database throws(SQLiteError) in
            try database.integer("SELECT iat FROM message WHERE name = 'a' AND claimed IS NULL")
        }
        #expect(iat == now.seconds + 7)
    }

    @Test("a message that was claimed in memory can be marked as seen or released in the file")
    func heldAtClaim() async throws {
        try folder.fill()
        var claims = [MessageClaim]()
        try await folder.whileHeld {
            for id in ["a", "b", "c"] { claims.append(try #require(try claim(id))) }
            try store.release(claims[0])
            #expect(try claim("a") != nil)
        }
        try store.markSeen(claims[1])
        try store.release(claims[2])
        let other = folder.store()
        #expect(try claim("b", at: 60, other) == nil)
        #expect(try claim("c", at: 1, other) != nil)
    }

    @Test("without a folder a process shows each message once and another process shows it again")
    func noFolder() throws {
        let (store, other) = (unusable(), unusable())
        let shown = try #require(try claim("a", at: 0, store))
        try store.markSeen(shown)
        #expect(try claim("a", at: 1_000, store) == nil)
        #expect(try claim("a", at: 1_000, other) != nil)
    }

    @Test("the memory keeps as many messages as the limit and refuses messages as old as forgotten ones")
    func bounded() throws {
        let store = unusable(messageLimit: 3)
        for number in 0..<10 {
            let answer = try store.claim("\(number)", issuedAt: now + Int64(number), expiresAt: now + 86_400)
            #expect(answer.failure == nil)
        }
        #expect(store.unwritten.messages.map(\.claim.name) == ["7", "8", "9"])
        #expect(try claim("0", at: 60, store) == nil)
    }
}

/// A store that can't be used throws the reason.
@Suite struct StoreRefusalTests {
    private let folder = StoreFolder()

    private func expect(_ code: StoreError.Code, _ store: SharedStore) {
        expectCode(code, of: \StoreError.code) { try store.claim("a") }
        expectCode(code, of: \StoreError.code) { try store.markSeen("a") }
        expectCode(code, of: \StoreError.code) { try store.statistics() }
        // A report can't throw, so it is dropped.
        store.count(.sample())
    }

    @Test("a store locked by another process throws busy and works afterwards", arguments: ["folder", "database"])
    func busy(_ what: String) async throws {
        try folder.fill()
        let store = folder.store { $0.busyTimeout = .milliseconds(20) }
        try await folder.whileHeld(what) { expect(.busy, store) }
        #expect(try store.claim("a"))
        #expect(try store.statistics().rebuildCount == 0)
    }

    @Test("a store whose parent folder is missing throws unavailable and works when it exists")
    func noFolder() throws {
        let store = SharedStore(folder: folder.path + "/below", role: .extension)
        expect(.unavailable, store)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        #expect(try store.replayState() == ReplayState())
    }

    @Test("a file in place of the folder, or a folder in place of the store's file, throws unavailable")
    func exchanged() throws {
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path))
        expect(.unavailable, folder.store())
        let other = StoreFolder()
        try FileManager.default.createDirectory(atPath: other.file.path, withIntermediateDirectories: true)
        expect(.unavailable, other.store())
    }

    @Test(
        "without write permission a store is unavailable", .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
    func unwritable() throws {
        let script = "cd / && \(Unprivileged.prefix) \"$EXTENSION\" store-try '\(folder.path)' a"
        try folder.fill()
        try folder.open(mode: 0o555, file: 0o644)
        #expect(try ExtensionProcess.shell(script).lines.first?.hasPrefix("unavailable: ") == true)
        try FileManager.default.removeItem(atPath: folder.path)
        try folder.open(mode: 0o555)
        #expect(try ExtensionProcess.shell(script).lines.first?.hasPrefix("unavailable: ") == true)
        try folder.open(mode: 0o777)
        #expect(try ExtensionProcess.shell(script).lines == ["true"])
    }

    /// Some free pages are left, so that different writes fail.
    @Test(
        "on a full disk a store throws full and works again when space is free",
        .enabled(if: FullDisk.isAvailable, FullDisk.missing),
        arguments: LongTests.value([0, 1, 2, 4, 8, 16, 30], short: [0, 4, 16]))
    func full(_ pages: Int) throws {
        let output = try ExtensionProcess.shell(
            FullDisk.script(
                """
                fill \(pages)
                for id in a b c d e f g h; do "$EXTENSION" store-try disk/store $id; done
                make_room
                "$EXTENSION" store-try disk/store last
                """))
        #expect(output.lines.count == 9, "\(output.lines)")
        #expect(output.lines.last == "true")
        for line in output.lines { #expect(line == "true" || line.hasPrefix("full: "), "\(line)") }
        if pages == 0 { #expect(!output.lines.dropLast().contains("true")) }
    }

    /// Commands on a full disk, and what they print. `TRY` tries to claim a message in a process of its own, and `SHOW` shows
    /// several messages in one process.
    struct FullCase: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: String
        let lines: String
    }

    private static let fullCases = [
        FullCase(
            testDescription: "while its files have room, new messages are remembered",
            script: "TRY a; fill 0; TRY b; TRY b", lines: "true true false"),
        // Without its journal the store can write nothing, not even the later iat of a repeat, but the repeat is refused.
        FullCase(
            testDescription: "messages that were shown are refused",
            script: "TRY a; rm disk/store/pushcrypt.sqlite-journal; fill 0; TRY a; TRY a 1; TRY b; make_room; TRY a 1",
            lines: "true false false full false"),
        // What the process remembers is written after the message was looked for in the file.
        FullCase(
            testDescription: "a process that remembers receipts and releases refuses messages that the file knows",
            script: "TRY a; fill 0; SHOW b a release:c a c", lines: "true true false true false true"),
        FullCase(
            testDescription: "a process shows no message twice",
            script: "TRY a; fill 0; SHOW b a c b a c; make_room; SHOW a d a",
            lines: "true true false true false false false false true false"),
        FullCase(
            testDescription: "a damaged store is counted when it is rebuilt",
            script: """
                TRY a; printf damaged >disk/store/pushcrypt.sqlite; fill 0; TRY a; TRY a; make_room; TRY a; TRY a
                cat disk/store/pushcrypt.rebuilt && echo
                """, lines: "true full full true false +"),
    ]

    @Test(
        "on a full disk a store refuses what it knows", .enabled(if: FullDisk.isAvailable, FullDisk.missing),
        arguments: fullCases)
    func fullDisk(_ test: FullCase) throws {
        let script = test.script.replacing("TRY", with: "\"$EXTENSION\" store-try disk/store")
            .replacing("SHOW", with: "\"$EXTENSION\" store-show disk/store")
        let output = try ExtensionProcess.shell(FullDisk.script(script))
        let lines = output.lines.map { $0.hasPrefix("full: ") ? "full" : $0 }
        #expect(lines.joined(separator: " ") == test.lines)
    }
}

extension StoreFolder {
    /// Sets the modes of the folder and the store's file, and lets other users reach the folder.
    fileprivate func open(mode: Int, file: Int? = nil) throws {
        let files = FileManager.default
        if !files.fileExists(atPath: path) {
            try files.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        let parent = (path as NSString).deletingLastPathComponent
        for (path, mode) in [(parent, 0o755), (path, mode), (self.file.path, file)] as [(String, Int?)] {
            if let mode { try files.setAttributes([.posixPermissions: mode], ofItemAtPath: path) }
        }
    }
}
