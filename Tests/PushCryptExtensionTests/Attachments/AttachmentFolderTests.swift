import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct AttachmentFolderTests {
    private static let uuid = "0E5B7B3C-3D51-4C5A-9B52-0C8A5B6A5D10"
    private static let bootAge: Int64 = 100_000

    private let folder = TemporaryFolder.make()

    /// A folder whose process has the id 7. The process 8 is running, and all others have ended.
    private func files(at bootAge: Int64 = bootAge) -> AttachmentFolder {
        AttachmentFolder(path: folder.path, process: 7, bootAge: { bootAge }, isRunning: { $0 == 8 })
    }

    private func remains(_ name: String, dated date: Date = Date()) throws -> Bool {
        try Data("x".utf8).write(to: folder.file(name))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.file(name).path)
        files().removeLeftovers()
        return try folder.names() == [name]
    }

    /// The dates that files may have if the clock is set back or ahead.
    private static let dates = [Date(), .distantPast, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 4e9)]

    @Test("a file of a process that has ended is removed, independent of its date", arguments: dates)
    func deadProcess(date: Date) throws {
        for ending in ["part", "jpg", "m2v"] { #expect(try !remains("9-99999-\(Self.uuid).\(ending)", dated: date)) }
    }

    @Test("a new file of a running process is kept, independent of its date", arguments: dates, [7, 8])
    func runningProcess(date: Date, process: Int) throws {
        #expect(try remains("\(process)-100000-\(Self.uuid).part", dated: date))
    }

    @Test(
        "a running process's file is removed after an hour, and if it is from before the last start", arguments: [7, 8])
    func age(process: Int) throws {
        for (age, isLeft) in [(96_399, false), (96_400, true), (100_001, false)] {
            #expect(try remains("\(process)-\(age)-\(Self.uuid).part") == isLeft)
        }
    }

    @Test(
        "a file whose name isn't one of the folder's is kept",
        arguments: [
            "x.part", "keys.json", uuid, uuid + ".part", "9-1-\(uuid)", "9-1-\(uuid).a.part", "9-1-\(uuid)x.part",
            "a-1-\(uuid).part", "0-1-\(uuid).part", "-9-1-\(uuid).part", "9--1-\(uuid).part", "9-\(uuid).part", ".part",
            "99999999999999999999-1-\(uuid).part", "9-99999999999999999999-\(uuid).part",
        ])
    func notOurs(name: String) throws {
        #expect(try remains(name))
    }

    @Test("a published file of this process is kept for an hour and then removed")
    func inUse() throws {
        let file = try files().makePartFile()
        files(at: Self.bootAge + 15).removeLeftovers()
        try file.write([1])
        let path = try file.publish(extension: "gif")
        files(at: Self.bootAge + 3600).removeLeftovers()
        #expect(FileManager.default.fileExists(atPath: path))
        files(at: Self.bootAge + 3601).removeLeftovers()
        #expect(try folder.names().isEmpty)
    }

    @Test("the default functions find running processes and the time since boot, and keep a new file")
    func system() throws {
        let files = AttachmentFolder(path: folder.path)
        #expect(files.isRunning(getpid()))
        #expect(files.isRunning(1))
        #expect(!files.isRunning(.max))
        #expect(BootSession.ageInSeconds > 0)
        // A missing folder has no leftovers.
        AttachmentFolder(path: "/nowhere/at/all").removeLeftovers()
        _ = try files.makePartFile()
        files.removeLeftovers()
        #expect(try folder.names().count == 1)
    }

    @Test("part files have different names and are published or removed separately")
    func names() throws {
        let parts = try (0..<3).map { _ in try files().makePartFile() }
        #expect(try folder.names().count == 3)
        parts[0].remove()
        let path = try parts[1].publish(extension: "gif")
        #expect(try folder.names().count == 2)
        #expect(FileManager.default.fileExists(atPath: path))
        parts[2].remove()
        #expect(try folder.names() == [URL(fileURLWithPath: path).lastPathComponent])
    }
}
