import Foundation
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

/// A store that can't be used throws the reason.
@Suite struct StoreRefusalTests {
    private let folder: StoreFolder

    init() throws {
        folder = try StoreFolder()
    }

    private func expect(_ code: StoreError.Code, _ store: SharedStore) {
        #expect(storeErrorCode { _ = try store.claim("a", issuedAt: StoreFolder.now, at: StoreFolder.now) } == code)
        #expect(storeErrorCode { try store.markSeen("a") } == code)
        #expect(storeErrorCode { _ = try store.statistics() } == code)
        // A report can't throw, so it is dropped.
        store.count(.sample())
    }

    @Test(
        "a store locked by another process throws busy and works again afterwards", arguments: ["folder", "database"])
    func busy(_ what: String) throws {
        try folder.fill()
        let store = folder.store { $0.busyTimeout = .milliseconds(20) }
        let holder = try ExtensionProcess.start("store-hold", folder.path, what)
        #expect(holder.line() == "held")
        expect(.busy, store)
        holder.process.kill()
        #expect(try holder.process.wait() == .signal(SIGKILL))
        #expect(try store.claim("a", issuedAt: StoreFolder.now, at: StoreFolder.now))
        #expect(try store.statistics().rebuildCount == 0)
    }

    @Test("a store whose parent folder is missing throws unavailable and works when it exists")
    func noFolder() throws {
        let path = folder.path + "/below"
        let store = SharedStore(folder: path, role: .extension)
        expect(.unavailable, store)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: false)
        #expect(try store.replayState() == ReplayState())
    }

    @Test("a file in place of the folder throws unavailable")
    func file() throws {
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder.path))
        expect(.unavailable, folder.store())
    }

    @Test("a folder in place of the store's file throws unavailable")
    func fileIsFolder() throws {
        try FileManager.default.createDirectory(atPath: folder.file.path, withIntermediateDirectories: true)
        expect(.unavailable, folder.store())
    }

    @Test(
        "without write permission a store throws unavailable",
        .enabled(if: Unprivileged.isAvailable, Unprivileged.missing))
    func unwritable() throws {
        let script = "cd / && \(Unprivileged.prefix) \"$EXTENSION\" store-try '\(folder.path)' a"
        try folder.fill()
        try folder.open(mode: 0o555, file: 0o644)
        #expect(try ExtensionProcess.shell(script).lines.first?.hasPrefix("unavailable: ") == true)
        try folder.remove()
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

    @Test(
        "a store on a full disk remembers new messages while its files have room",
        .enabled(if: FullDisk.isAvailable, FullDisk.missing))
    func fullWithRoom() throws {
        let output = try ExtensionProcess.shell(
            FullDisk.script(
                """
                "$EXTENSION" store-try disk/store a
                fill 0
                "$EXTENSION" store-try disk/store b
                "$EXTENSION" store-try disk/store b
                """))
        #expect(output.lines == ["true", "true", "false"])
    }

    /// Without its journal the store can write nothing, not even the later iat of a repeat, but the repeat is refused.
    @Test(
        "a store on a full disk still refuses messages that were shown",
        .enabled(if: FullDisk.isAvailable, FullDisk.missing))
    func fullAndRepeated() throws {
        let output = try ExtensionProcess.shell(
            FullDisk.script(
                """
                "$EXTENSION" store-try disk/store a
                rm disk/store/pushcrypt.sqlite-journal
                fill 0
                "$EXTENSION" store-try disk/store a
                "$EXTENSION" store-try disk/store a 1
                "$EXTENSION" store-try disk/store b
                make_room
                "$EXTENSION" store-try disk/store a 1
                """))
        #expect(
            output.lines.map { $0.hasPrefix("full: ") ? "full" : $0 } == ["true", "false", "false", "full", "false"])
    }

    /// What the process remembers is written after the message was looked for in the file.
    @Test(
        "a process that remembers receipts and releases on a full disk still refuses messages that the file knows",
        .enabled(if: FullDisk.isAvailable, FullDisk.missing))
    func fullAndRemembering() throws {
        let output = try ExtensionProcess.shell(
            FullDisk.script(
                """
                "$EXTENSION" store-try disk/store a
                fill 0
                "$EXTENSION" store-show disk/store b a release:c a c
                """))
        #expect(output.lines == ["true", "true", "false", "true", "false", "true"])
    }

    @Test(
        "a damaged store on a full disk is counted when it is rebuilt",
        .enabled(if: FullDisk.isAvailable, FullDisk.missing))
    func fullAndDamaged() throws {
        let output = try ExtensionProcess.shell(
            FullDisk.script(
                """
                "$EXTENSION" store-try disk/store a
                printf damaged >disk/store/pushcrypt.sqlite
                fill 0
                "$EXTENSION" store-try disk/store a
                "$EXTENSION" store-try disk/store a
                make_room
                "$EXTENSION" store-try disk/store a
                "$EXTENSION" store-try disk/store a
                cat disk/store/pushcrypt.rebuilt && echo
                """))
        #expect(
            output.lines.map { $0.hasPrefix("full: ") ? "full" : $0 } == ["true", "full", "full", "true", "false", "+"])
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
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: parent)
        try files.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        if let file { try files.setAttributes([.posixPermissions: file], ofItemAtPath: self.file.path) }
    }

    fileprivate func remove() throws {
        try FileManager.default.removeItem(atPath: path)
    }
}
