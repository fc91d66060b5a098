import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

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
        "without write permission a store is unavailable",
        .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
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
