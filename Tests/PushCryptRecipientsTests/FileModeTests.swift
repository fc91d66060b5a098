import Foundation
import PushCryptRecipients
import PushCryptTestSupport
import Testing

@Suite("a directory that can't be opened")
struct FileModeTests {
    @Test("others can reach it", arguments: [0o644, 0o640, 0o604, 0o620, 0o602, 0o610, 0o601], ["jsonl", "sqlite"])
    func loose(_ mode: Int, _ ending: String) throws {
        let place = try Place([Device.make().line])
        _ = try DirectoryImport(place.open().directory, into: place.folder.file("devices.sqlite").path)
        try place.folder.setMode(mode, of: "devices.\(ending)")
        let path = place.folder.file("devices.\(ending)").path
        let isRootsForItsGroup = mode == 0o640 && geteuid() == 0
        let result = Result { try RecipientDirectory(path: path) }
        guard !isRootsForItsGroup else {
            _ = try result.get()
            return
        }
        let error = #expect(throws: RecipientDirectoryError.self) { try result.get() }
        #expect(error?.code == .looseMode && error?.reason.contains("chmod 600 \(path)") == true)
    }

    @Test(
        "it belongs to another user", .enabled(if: geteuid() == 0, "only root can give files away"),
        arguments: ["jsonl", "sqlite"])
    func owner(_ ending: String) throws {
        let place = try Place([Device.make().line])
        _ = try DirectoryImport(place.open().directory, into: place.folder.file("devices.sqlite").path)
        let path = place.folder.file("devices.\(ending)").path
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        let error = #expect(throws: RecipientDirectoryError.self) { try RecipientDirectory(path: path) }
        #expect(error?.code == .foreignOwner)
        #expect(error?.reason.hasPrefix("\(path) belongs to user 65534") == true)
        #expect(error?.reason.hasSuffix("chown 0 \(path)") == true)
    }

    @Test(
        "a database in a folder that others can write is refused, opened or imported into: they could leave a journal there",
        arguments: [0o777, 0o1777, 0o720, 0o702])
    func foldersOfDatabases(_ mode: Int) throws {
        let place = try Place([Device.make().line])
        let path = place.folder.file("devices.sqlite").path
        let lines = try place.open().directory
        _ = try DirectoryImport(lines, into: path)
        _ = try RecipientDirectory(path: path)
        try place.folder.setMode(mode, of: ".")
        for body in [
            { _ = try RecipientDirectory(path: path) }, { _ = try DirectoryImport(lines, into: path) },
            { _ = try DirectoryImport(lines, into: place.folder.file("new.sqlite").path) },
        ] {
            let error = #expect(throws: RecipientDirectoryError.self) { try body() }
            #expect(error?.code == .looseMode && error?.reason.hasSuffix("chmod go-w \(place.folder.path)") == true)
        }
    }

    @Test(
        "an index that belongs to another user is not used but made again",
        .enabled(if: geteuid() == 0, "only root can give files away"))
    func ownerOfTheIndex() throws {
        let place = try Place([Device.make().line])
        _ = try place.open()
        let before = try #require(place.indexInode)
        _ = try place.open()
        #expect(place.indexInode == before)
        try #require(unsafe chown(place.path + ".index", 65_534, 65_534) == 0)
        _ = try place.open()
        #expect(place.indexInode != before)
    }

    @Test("it isn't there")
    func missing() throws {
        let place = try Place()
        let error = #expect(throws: RecipientDirectoryError.self) { try place.open() }
        #expect(error?.code == .notFound)
        #expect(try place.folder.names().isEmpty)
    }

    @Test("it is a folder, or a pipe, which holds nobody up", arguments: [false, true])
    func notAFile(_ isPipe: Bool) throws {
        let place = try Place()
        if isPipe {
            #expect(unsafe mkfifo(place.path, 0o600) == 0)
        } else {
            try FileManager.default.createDirectory(atPath: place.path, withIntermediateDirectories: false)
        }
        let error = #expect(throws: RecipientDirectoryError.self) { try place.open() }
        #expect(error?.code == .notADirectory)
    }
}
