import Foundation
import PushCryptFiles
import PushCryptKeysets
import PushCryptTestSupport
import Testing

@testable import PushCryptSender

/// What a watcher compares without reading the file.
@Suite("the stamp of a keyset's file") struct FileStampTests {
    private let place: TemporaryFolder
    private let keyset: KeysetPlace

    init() throws {
        place = try TemporaryFolder()
        try Folder.makeIfMissing(place.path + "/ios")
        try FileSystem.replace(place.path + "/ios/keyset.json", with: [1, 2, 3])
        keyset = KeysetPlace(folder: place.path + "/ios")
    }

    private var path: String { place.path + "/ios/keyset.json" }

    @Test("the stamp stays the same while only other files change")
    func same() throws {
        let stamp = FileStamp(keyset)
        _ = try FileSystem.readFile(path)
        try FileSystem.replace(place.path + "/ios/audit.jsonl", with: [9])
        #expect(FileStamp(keyset) == stamp)
        #expect(FileStamp(KeysetPlace(folder: place.path + "/ios/")) == stamp)
    }

    @Test("the stamp changes with the file's identity, size, times and modes, and with the folder's")
    func changed() throws {
        var stamps: Set<FileStamp> = [FileStamp(keyset)]
        func expectChange(_ what: Comment, _ body: () throws -> Void) rethrows {
            try body()
            #expect(stamps.insert(FileStamp(keyset)).inserted, what)
        }
        try expectChange("another file of the same length") { try FileSystem.replace(path, with: [4, 5, 6]) }
        try expectChange("the time of the last write") {
            let long = Date(timeIntervalSince1970: 1_000_000_000)
            try FileManager.default.setAttributes([.modificationDate: long], ofItemAtPath: path)
        }
        try expectChange("the length") {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.truncate(atOffset: 2)
            try file.close()
        }
        try expectChange("the mode") { try place.setMode(0o640, of: "ios/keyset.json") }
        try expectChange("the folder's mode") { try place.setMode(0o750, of: "ios") }
        try expectChange("no file") { try FileManager.default.removeItem(atPath: path) }
        try expectChange("no folder") { try FileManager.default.removeItem(atPath: place.path + "/ios") }
    }

    @Test(
        "the stamp changes with the owner of the keyset's folder",
        .enabled(if: geteuid() == 0, "only root can give files away"))
    func owner() throws {
        let before = FileStamp(keyset)
        try #require(unsafe chown(place.path + "/ios", 65_534, 65_534) == 0)
        #expect(FileStamp(keyset) != before)
    }

    @Test("the stamp of a link is that of its target")
    func link() throws {
        let link = place.path + "/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let stamp = FileStamp(KeysetPlace(file: link))
        try FileSystem.replace(path, with: [4, 5, 6])
        #expect(FileStamp(KeysetPlace(file: link)) != stamp)
    }
}
