import Foundation
import PushCryptCore
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct AttachmentFolderTests {
    private static let now = UnixTime(1_800_000_000)
    private static let stem = "0E5B7B3C-3D51-4C5A-9B52-0C8A5B6A5D10"

    private func remains(_ name: String, ageInSeconds: Int64) throws -> Bool {
        let folder = try TemporaryFolder()
        try Data("x".utf8).write(to: folder.file(name))
        let date = Date(timeIntervalSince1970: Double(Self.now.seconds - ageInSeconds))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.file(name).path)
        AttachmentFolder(path: folder.path).removeLeftovers(at: Self.now)
        return try folder.names() == [name]
    }

    @Test(arguments: ["part", "jpg", "m2v"])
    func leftovers(ending: String) throws {
        #expect(try !remains(Self.stem + "." + ending, ageInSeconds: 3601))
    }

    /// Another process may be writing it.
    @Test(arguments: [3600, 10, 0, -100])
    func young(ageInSeconds: Int64) throws {
        #expect(try remains(Self.stem + ".part", ageInSeconds: ageInSeconds))
    }

    @Test(arguments: ["x.part", "keys.json", stem, stem + ".a.part", "a" + stem + ".part", ".part"])
    func notOurs(name: String) throws {
        #expect(try remains(name, ageInSeconds: 1_000_000))
    }

    @Test func noFolder() {
        AttachmentFolder(path: "/nowhere/at/all").removeLeftovers(at: Self.now)
    }

    /// A file of its own name each time.
    @Test func names() throws {
        let folder = try TemporaryFolder()
        let files = try (0..<3).map { _ in try AttachmentFolder(path: folder.path).makePartFile() }
        #expect(try folder.names().count == 3)
        files[0].remove()
        let path = try files[1].publish(extension: "gif")
        #expect(try folder.names().count == 2)
        #expect(FileManager.default.fileExists(atPath: path))
        files[2].remove()
        #expect(try folder.names() == [URL(fileURLWithPath: path).lastPathComponent])
    }
}
