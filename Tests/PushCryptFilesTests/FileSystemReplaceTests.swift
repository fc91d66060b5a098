import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

@Suite("FileSystem.replace")
struct FileSystemReplaceTests {
    @Test("replace writes a file with mode 0600 and leaves no temporary file", arguments: [0, 1, 65_536, 3_000_000])
    func replace(_ count: Int) throws {
        let folder = try TemporaryFolder()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        try FileSystem.replace(folder.path + "/file", with: bytes)
        #expect(try FileSystem.readFile(folder.path + "/file") == bytes)
        #expect(try folder.mode(of: "file") == 0o600)
        #expect(try folder.names() == ["file"])
    }

    @Test("replace replaces a longer file with mode 0644 by one with mode 0600")
    func old() throws {
        let folder = try TemporaryFolder()
        try FileSystem.replace(folder.path + "/file", with: [UInt8](repeating: 1, count: 1_000))
        try folder.setMode(0o644, of: "file")
        try FileSystem.replace(folder.path + "/file", with: [2])
        #expect(try FileSystem.readFile(folder.path + "/file") == [2])
        #expect(try folder.mode(of: "file") == 0o600)
        #expect(try folder.names() == ["file"])
    }

    @Test("a reader that opened the file before replace reads the old content")
    func reader() throws {
        let folder = try TemporaryFolder()
        try FileSystem.replace(folder.path + "/file", with: [1, 1, 1])
        let reader = try #require(FileHandle(forReadingAtPath: folder.path + "/file"))
        try FileSystem.replace(folder.path + "/file", with: [2])
        #expect(try reader.readToEnd() == Data([1, 1, 1]))
    }

    @Test("replace replaces a link and leaves its target unchanged")
    func link() throws {
        let folder = try TemporaryFolder()
        try FileSystem.replace(folder.path + "/target", with: [1])
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link", withDestinationPath: folder.path + "/target")
        try FileSystem.replace(folder.path + "/link", with: [2])
        #expect(try FileSystem.readFile(folder.path + "/target") == [1])
        #expect(try FileSystem.readFile(folder.path + "/link") == [2])
    }

    @Test("checkReplaceable leaves the folder and an existing file unchanged, and refuses a folder and a missing one")
    func check() throws {
        let folder = try TemporaryFolder()
        try FileSystem.replace(folder.path + "/file", with: [1])
        try FileSystem.checkReplaceable(folder.path + "/file")
        try FileSystem.checkReplaceable(folder.path + "/new")
        #expect(try folder.names() == ["file"] && FileSystem.readFile(folder.path + "/file") == [1])
        #expect { try FileSystem.checkReplaceable(folder.path) } throws: { ($0 as? FileError)?.code == .cannotCreate }
        #expect { try FileSystem.checkReplaceable(folder.path + "/none/file") } throws: {
            ($0 as? FileError)?.code == .cannotCreate
        }
    }

    @Test("a failed replace leaves no temporary file")
    func failure() throws {
        let folder = try TemporaryFolder()
        try Folder.makeIfMissing(folder.path + "/taken")
        #expect(throws: FileError.self) { try FileSystem.replace(folder.path + "/taken", with: [1]) }
        #expect(try folder.names() == ["taken"])
        let missing = #expect(throws: FileError.self) {
            try FileSystem.replace(folder.path + "/none/file", with: [1])
        }
        #expect(missing?.code == .cannotCreate)
        #expect(try folder.names() == ["taken"])
    }
}
