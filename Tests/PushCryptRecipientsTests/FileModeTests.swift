import Foundation
import PushCryptRecipients
import PushCryptTestSupport
import Testing

@Suite("Modes and owners of directories") struct FileModeTests {
    @Test(
        "a directory or a file to import that other users can open is refused",
        arguments: [0o644, 0o640, 0o604, 0o620, 0o602, 0o610, 0o601], ["jsonl", "sqlite"])
    func loose(_ mode: Int, _ ending: String) throws {
        let place = try Place([Device.make().line])
        try place.importLines()
        try place.folder.setMode(mode, of: "devices.\(ending)")
        let path = place.folder.file("devices.\(ending)").path
        // The group of root may read.
        if mode == 0o640, geteuid() == 0 { return try Self.use(path) }
        let error = #expect(throws: RecipientDirectoryError.self) { try Self.use(path) }
        #expect(error?.code == .looseMode && error?.reason.contains("chmod 600 \(path)") == true)
    }

    @Test(
        "a directory or a file to import that belongs to another user is refused",
        .enabled(if: geteuid() == 0, "only root can give files away"),
        arguments: ["jsonl", "sqlite"])
    func owner(_ ending: String) throws {
        let place = try Place([Device.make().line])
        try place.importLines()
        let path = place.folder.file("devices.\(ending)").path
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        let error = #expect(throws: RecipientDirectoryError.self) { try Self.use(path) }
        #expect(error?.code == .foreignOwner)
        #expect(error?.reason.hasPrefix("\(path) belongs to user 65534") == true)
        #expect(error?.reason.hasSuffix(": work as that user") == true)
    }

    @Test("a database in a folder that others can write is refused", arguments: [0o777, 0o1777, 0o720, 0o702])
    func foldersOfDatabases(_ mode: Int) throws {
        let place = try Place([Device.make().line])
        let path = place.databasePath
        _ = try place.imported()
        try place.folder.setMode(mode, of: ".")
        for body in [
            { _ = try RecipientDirectory(path: path) }, { try place.importLines() },
            { _ = try DirectoryImport(from: place.path, into: place.folder.file("new.sqlite").path) },
        ] {
            let error = #expect(throws: RecipientDirectoryError.self) { try body() }
            #expect(error?.code == .looseMode && error?.reason.hasSuffix("chmod go-w \(place.folder.path)") == true)
        }
    }

    @Test(
        "a missing file is not found, and a folder or pipe in its place is refused without waiting",
        arguments: [("nothing", .notFound), ("pipe", .notADirectory), ("folder", .notADirectory)]
            as [(String, RecipientDirectoryError.Code)])
    func notAFile(_ what: String, _ code: RecipientDirectoryError.Code) throws {
        let place = try Place()
        if what == "pipe" { #expect(unsafe mkfifo(place.path, 0o600) == 0) }
        if what == "folder" {
            try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: false)
        }
        let before = try place.folder.names()
        #expect(directoryError(place.open) == code)
        #expect(directoryError(place.importLines) == code)
        #expect(try place.folder.names() == before)
    }

    private static func use(_ path: String) throws {
        if path.hasSuffix(".sqlite") {
            _ = try RecipientDirectory(path: path)
        } else {
            _ = try DirectoryImport(from: path, into: path + ".new.sqlite")
        }
    }
}
