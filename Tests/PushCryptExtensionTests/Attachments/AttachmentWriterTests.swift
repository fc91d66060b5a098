import Foundation
import PushCryptFiles
import PushCryptTestSupport
import Testing

@testable import PushCryptExtension

@Suite struct AttachmentWriterTests {
    private let folder = TemporaryFolder.make()
    private var files: AttachmentFolder { AttachmentFolder(path: folder.path + "/attachments") }
    private static let png = [UInt8](hex: "89504E470D0A1A0A0000000D49484452")

    private func sink(declared: String? = nil) throws -> AttachmentSink {
        AttachmentSink(AttachmentWriter(try files.makePartFile(), declaredType: declared))
    }

    private func names() throws -> [String] { try folder.names(in: "attachments") }

    @Test("an attachment in pieces of any size is written and named by its type", arguments: [1, 3, 15, 16, 17, 1000])
    func writes(pieceByteCount: Int) throws {
        let body = Self.png + [UInt8](repeating: 0x55, count: 984)
        let sink = try sink(declared: "image/png")
        for start in stride(from: 0, to: body.count, by: pieceByteCount) {
            try sink.receive(Array(body[start..<min(start + pieceByteCount, body.count)]))
            let name = try #require(try names().first)
            #expect(name.hasSuffix(".part"))
            #expect(try folder.mode(of: "attachments/" + name) == 0o600)
        }
        let (path, type) = try sink.finish()
        #expect(type == .png)
        #expect(path.hasSuffix(".png"))
        #expect(try names() == [URL(fileURLWithPath: path).lastPathComponent])
        #expect(try folder.mode(of: "attachments/" + names()[0]) == 0o600)
        #expect(try folder.mode(of: "attachments") == 0o700)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(body))
        sink.remove()
        #expect(try names().count == 1)
    }

    @Test("a file of the wrong type is refused at its 16th byte", arguments: [nil, "image/jpeg", "video/mp4"])
    func wrongType(declared: String?) throws {
        let sink = try sink(declared: declared)
        let head = declared == nil ? Array("<!DOCTYPE html><".utf8) : Self.png
        try sink.receive(Array(head[..<15]))
        expectFailure(.wrongType) { try sink.receive([head[15]]) }
    }

    @Test("a file of fewer than 16 bytes is refused and leaves no file", arguments: [0, 1, 15])
    func tooShort(byteCount: Int) throws {
        let sink = try sink()
        try sink.receive(Array(Self.png[..<byteCount]))
        expectFailure(.wrongType) { try sink.finish() }
        #expect(try names().isEmpty)
    }

    @Test(
        "a file is refused with the first byte over the limit of its type, in many pieces or in one",
        arguments: [
            ("FFD8FFE000104A464946000101010048", nil, 10_000_000), ("464F524D0000AC4A41494646434F4D4D", nil, 5_000_000),
            ("000001BA2100010001800001000001BB", nil, 50_000_000),
            // A movie brand that is declared as audio.
            ("00000018667479706D70343200000000", "audio/mp4", 5_000_000),
        ] as [(String, String?, Int)])
    func cap(head: String, declared: String?, limit: Int) throws {
        let sink = try sink(declared: declared)
        try sink.receive(Array(hex: head))
        var rest = limit - 16
        while rest > 0 {
            let count = min(rest, 1_000_000)
            try sink.receive([UInt8](repeating: 1, count: count))
            rest -= count
        }
        expectFailure(.tooLarge) { try sink.receive([1]) }
        let whole = [UInt8](hex: head) + [UInt8](repeating: 1, count: limit - 16)
        expectFailure(.tooLarge) { try self.sink(declared: declared).receive(whole + [1]) }
        let allowed = try self.sink(declared: declared)
        try allowed.receive(whole)
        _ = try allowed.finish()
    }

    @Test("a sink that is removed, or released before its end, leaves no file, and ignores further pieces")
    func removed() throws {
        do {
            let sink = try sink()
            try sink.receive(Self.png)
            #expect(try names().count == 1)
        }
        #expect(try names().isEmpty)
        let sink = try sink()
        try sink.receive(Self.png)
        sink.remove()
        #expect(try names().isEmpty)
        try sink.receive(Self.png)
        #expect(throws: TransferError.self) { try sink.finish() }
        #expect(try names().isEmpty)
    }

    @Test("a missing parent folder, or a file in place of the folder, throws inputOutput")
    func noFolder() throws {
        let missing = AttachmentFolder(path: folder.path + "/a/b")
        expectFailure(.inputOutput) { try missing.makePartFile() }
        let file = AttachmentFolder(path: folder.path + "/file")
        try Data().write(to: folder.file("file"))
        expectFailure(.inputOutput) { try file.makePartFile() }
    }

    @Test(
        "writing to a full disk throws noSpace",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "no /dev/full here"))
    func diskFull() throws {
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let open = OpenFile(descriptor: full.fileDescriptor, named: "/dev/full")
        let file = PartFile(in: try Folder(folder.path), named: "x", open)
        let sink = AttachmentSink(AttachmentWriter(file))
        expectFailure(.noSpace) { try sink.receive(Self.png) }
    }
}

private func expectFailure(
    _ code: TransferError.Code, location: SourceLocation = #_sourceLocation, _ body: () throws -> some Any
) {
    expectCode(code, of: \TransferError.code, location: location, body)
}

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
