import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

@Suite("FileSystem.readFile")
struct FileSystemReadTests {
    static let limit = 16 << 20

    @Test("readFile reads 16 MiB and refuses one byte more")
    func size() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/file"
        #expect(FileManager.default.createFile(atPath: path, contents: Data(count: Self.limit)))
        #expect(try FileSystem.readFile(path).count == Self.limit)
        #expect(FileManager.default.createFile(atPath: path, contents: Data(count: Self.limit + 1)))
        let error = #expect(throws: FileError.self) { try FileSystem.readFile(path) }
        #expect(error?.code == .tooLong)
        #expect(error?.reason.contains(path) == true)
    }

    @Test(
        "readFile of an endless device stops at the limit",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/zero")))
    func device() {
        let error = #expect(throws: FileError.self) { try FileSystem.readFile("/dev/zero") }
        #expect(error?.code == .tooLong)
    }

    @Test("readFile refuses a folder, a missing file and a path through a file")
    func kinds() throws {
        let folder = try TemporaryFolder()
        try FileSystem.replace(folder.path + "/file", with: [])
        let paths: [(String, FileError.Code)] = [
            ("", .notAFile), ("/none", .notFound), ("/file/none", .notFound),
        ]
        for (name, code) in paths {
            let error = #expect(throws: FileError.self) { try FileSystem.readFile(folder.path + name) }
            #expect(error?.code == code, "\(name)")
            #expect(error?.reason.contains(folder.path + name) == true)
        }
    }

    @Test("readFile follows a link to a file")
    func link() throws {
        let folder = try TemporaryFolder()
        try FileSystem.replace(folder.path + "/file", with: [1])
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "file")
        #expect(try FileSystem.readFile(folder.path + "/link") == [1])
    }

    @Test(
        "parent(of:) returns the path without its last component",
        arguments: [("a", ""), ("a/b", "a"), ("/a", "/"), ("/a/b/c", "/a/b"), ("./a", "."), ("../a", "..")])
    func parent(_ path: String, _ parent: String) {
        #expect(FileSystem.parent(of: path) == parent)
    }
}
