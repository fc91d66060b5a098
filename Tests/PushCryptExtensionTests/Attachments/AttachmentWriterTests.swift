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
        expectCode(.wrongType, of: \TransferError.code) { try sink.receive([head[15]]) }
    }

    @Test("a file of fewer than 16 bytes is refused and leaves no file", arguments: [0, 1, 15])
    func tooShort(byteCount: Int) throws {
        let sink = try sink()
        try sink.receive(Array(Self.png[..<byteCount]))
        expectCode(.wrongType, of: \TransferError.code) { try sink.finish() }
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
        expectCode(.tooLarge, of: \TransferError.code) { try sink.receive([1]) }
        let whole = [UInt8](hex: head) + [UInt8](repeating: 1, count: limit - 16)
        expectCode(.tooLarge, of: \TransferError.code) { try self.sink(declared: declared).receive(whole + [1]) }
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
        expectCode(.inputOutput, of: \TransferError.code) { try missing.makePartFile() }
        let file = AttachmentFolder(path: folder.path + "/file")
        try Data().write(to: folder.file("file"))
        expectCode(.inputOutput, of: \TransferError.code) { try file.makePartFile() }
    }

    @Test(
        "writing to a full disk throws noSpace",
        .enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "no /dev/full here"))
    func diskFull() throws {
        let full = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/full"))
        let open = OpenFile(descriptor: full.fileDescriptor, named: "/dev/full")
        let file = PartFile(in: try Folder(folder.path), named: "x", open)
        let sink = AttachmentSink(AttachmentWriter(file))
        expectCode(.noSpace, of: \TransferError.code) { try sink.receive(Self.png) }
    }
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

@Suite struct AttachmentTypeTests {
    struct Head: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let type: AttachmentType?

        /// - Parameter hex: the first bytes; spaces are ignored.
        init(_ name: String, _ hex: String, _ type: AttachmentType? = nil) {
            (testDescription, bytes, self.type) = (name, Array(hex: hex.filter { $0 != " " }), type)
        }
    }

    /// The first bytes of files as encoders write them.
    private static let heads = [
        Head("JFIF", "FFD8FFE0 00104A46 49460001 01010048", .jpeg),
        Head("Exif", "FFD8FFE1 2F224578 69660000 4D4D002A", .jpeg),
        Head("JPEG without application data", "FFD8FFDB 00430003 02020302 02030303", .jpeg),
        Head("GIF 87a", "47494638 37610A00 0A00F700 00FFFFFF", .gif),
        Head("GIF 89a", "47494638 39610A00 0A00F700 00FFFFFF", .gif),
        Head("PNG", "89504E47 0D0A1A0A 0000000D 49484452", .png),
        Head("HEIC of the system's camera", "00000024 66747970 68656963 00000000", .heic),
        Head("HEIC with ten bits", "00000018 66747970 68656978 00000000", .heic),
        Head("HEIF", "00000018 66747970 6D696631 00000000", .heif),
        Head("AIFF", "464F524D 0000AC4A 41494646 434F4D4D", .aiff),
        Head("AIFF-C", "464F524D 0000AC4A 41494643 46564552", .aiff),
        Head("WAV", "52494646 24080000 57415645 666D7420", .wav),
        Head("MP3 with an ID3v2.4 tag", "49443304 00000000 00235453 53450000", .mp3),
        Head("MP3 with an ID3v2.3 tag", "49443303 00000000 0F765449 54320000", .mp3),
        Head("MPEG-1 layer III, 128 kbit/s", "FFFB9064 00000000 00000000 00000000", .mp3),
        Head("MPEG-1 layer III with a checksum", "FFFA9064 00000000 00000000 00000000", .mp3),
        Head("MPEG-2 layer III", "FFF364C4 00000003 48000000 00000000", .mp3),
        Head("MPEG-2.5 layer III", "FFE344C4 00000003 48000000 00000000", .mp3),
        Head("M4A of Apple's encoder", "0000001C 66747970 4D344120 00000000", .m4a),
        Head("MP4 of ffmpeg", "00000020 66747970 69736F6D 00000200", .mp4),
        Head("MP4 version 2", "00000018 66747970 6D703432 00000000", .mp4),
        Head("M4V", "0000001C 66747970 4D345620 00000001", .mp4),
        Head("AVI", "52494646 A8C80100 41564920 4C495354", .avi),
        Head("MPEG-1 program stream", "000001BA 21000100 01800001 000001BB", .mpeg),
        Head("MPEG-2 program stream", "000001BA 44000400 04010089 C3F80000", .mpeg),
        Head("MPEG-1 video", "000001B3 16012013 FFFFE018 000001B8", .mpeg),
        Head("MPEG-2 video", "000001B3 2D02403 3 24 9F23 80 000001B5", .mpeg2),
        Head("MPEG-2 video with a matrix", "000001B3 2D024033 249F2382 10101010", .mpeg),
    ]

    @Test("each file type is recognised from its first bytes, under its own names only", arguments: heads)
    func recognized(head: Head) throws {
        let type = try #require(head.type)
        #expect(AttachmentType.recognize(head.bytes) == type)
        #expect(AttachmentType.recognize(head.bytes + [0, 1, 2]) == type)
        #expect(AttachmentType.recognize(Array(head.bytes.dropLast())) == nil)
        for name in type.mimeTypes + [type.uniformTypeIdentifier] {
            #expect(AttachmentType.recognize(head.bytes, declared: name) == type)
        }
        for other in AttachmentType.all where other != type && Set(other.mimeTypes).isDisjoint(with: type.mimeTypes) {
            for name in other.mimeTypes where !Self.mayBeDeclared([type, other]) {
                #expect(AttachmentType.recognize(head.bytes, declared: name) == nil, "\(name)")
            }
        }
    }

    /// Types whose files may have the same brands.
    private static func mayBeDeclared(_ types: [AttachmentType]) -> Bool {
        types == [.mp4, .m4a] || Set(types) == [.heic, .heif]
    }

    @Test(
        "a file with any bit of its signature flipped is not recognised",
        arguments: [
            (.jpeg, [0..<3]), (.gif, [0..<6]), (.png, [0..<8]), (.heif, [4..<12]),
            (.aiff, [0..<4, 8..<12]), (.wav, [0..<4, 8..<12]), (.m4a, [4..<12]), (.mp4, [4..<12]),
            (.avi, [0..<4, 8..<12]),
        ] as [(AttachmentType, [Range<Int>])])
    func nearMiss(type: AttachmentType, places: [Range<Int>]) throws {
        let head = try #require(Self.heads.first { $0.type == type }).bytes
        for place in places.joined() {
            for bit in 0..<8 {
                var changed = head
                changed[place] ^= 1 << bit
                let found = AttachmentType.recognize(changed, declared: type.mimeTypes[0])
                #expect(found == nil, "byte \(place), bit \(bit)")
            }
        }
    }

    @Test(
        "file types that the system doesn't list are not recognised",
        arguments: [
            Head("zeros", "00000000 00000000 00000000 00000000"),
            Head("ones", "FFFFFFFF FFFFFFFF FFFFFFFF FFFFFFFF"),
            Head("HTML", "3C21444F 43545950 45206874 6D6C3E0A"),
            Head("SVG", "3C737667 20786D6C 6E733D22 68747470"),
            Head("PDF", "25504446 2D312E34 0A25C3A4 C3BCC3B6"),
            Head("WebP", "52494646 24080000 57454250 56503820"),
            Head("BMP", "424D3600 0C000000 00003600 00002800"),
            Head("TIFF", "4D4D002A 00000008 000D0100 00030000"),
            Head("HEIC sequence", "00000018 66747970 68657663 00000000"),
            Head("AVIF", "00000020 66747970 61766966 00000000"),
            Head("QuickTime", "00000014 66747970 71742020 00000200"),
            Head("3GP", "00000018 66747970 33677034 00000300"),
            Head("audio book", "0000001C 66747970 4D344220 00000000"),
            Head("QuickTime without a brand", "00000008 77696465 00000000 6D646174"),
            Head("Matroska", "1A45DFA3 A3428681 0142F781 0142F281"),
            Head("Ogg", "4F676753 00020000 00000000 0000A3C5"),
            Head("FLAC", "664C6143 00000022 10001000 00000E00"),
            Head("AAC, MPEG-4", "FFF15080 2E7FFC21 00000000 00000000"),
            Head("AAC, MPEG-2", "FFF95080 2E7FFC21 00000000 00000000"),
            Head("layer II", "FFFDC4C4 00000000 00000000 00000000"),
            Head("layer I", "FFFFC4C4 00000000 00000000 00000000"),
            Head("reserved version", "FFEB9064 00000000 00000000 00000000"),
            Head("reserved bit rate", "FFFBF064 00000000 00000000 00000000"),
            Head("free bit rate", "FFFB0064 00000000 00000000 00000000"),
            Head("reserved sampling rate", "FFFB9C64 00000000 00000000 00000000"),
            Head("sync of ten bits", "FFDB9064 00000000 00000000 00000000"),
            Head("UTF-16", "FFFE4800 65006C00 6C006F00 20002000"),
            Head("ID3 of version 255", "494433FF 00000000 00235453 53450000"),
            Head("ID3 of revision 255", "494433 04 FF 000000 00235453 53450000"),
            Head("ID3 with a size of eight bits", "49443304 00008000 00235453 53450000"),
            Head("MPEG transport stream", "47401110 0042F025 0001C100 00FF01FF"),
            Head("MPEG pack end", "000001B9 00000000 00000000 00000000"),
            Head("H.264", "00000001 67640028 ACD940A0 2FF96100"),
            Head("RIFF in lower case", "72696666 24080000 57415645 666D7420"),
            Head("RIFX", "52494658 00000824 57415645 666D7420"),
            Head("AVI without its space", "52494646 A8C80100 41564958 4C495354"),
            Head("GIF 88a", "47494638 38610A00 0A00F700 00FFFFFF"),
            Head("PNG through a text transfer", "89504E47 0A1A0A00 00000D49 48445200"),
        ])
    func unsupported(head: Head) {
        #expect(AttachmentType.recognize(head.bytes) == nil)
        for type in AttachmentType.all {
            #expect(AttachmentType.recognize(head.bytes, declared: type.mimeTypes[0]) == nil)
        }
    }

    /// Recorders of other systems give audio files the brands of movies. Such a file has the smaller limit of audio if the
    /// sender declares it as audio.
    @Test(
        "a file with a movie brand is audio only if it is declared as audio, and a HEIC file may be declared as HEIF",
        arguments: [
            ("6D703432", "audio/mp4", .m4a), ("6D703432", "video/mp4", .mp4), ("6D703432", nil, .mp4),
            ("4D344120", "video/mp4", nil), ("68656963", "image/heif", .heif), ("6D696631", "image/heic", .heic),
            ("68656963", "image/avif", nil),
        ] as [(String, String?, AttachmentType?)])
    func brand(_ brand: String, declared: String?, type: AttachmentType?) {
        let head = [UInt8](hex: "0000001866747970" + brand + "00000000")
        #expect(AttachmentType.recognize(head, declared: declared) == type)
    }

    @Test(
        "a JPEG file is named by its MIME types and its uniform type identifier, and isn't recognised by another name",
        arguments: ["image/jpeg", "IMAGE/JPEG", "image/jpeg; charset=x", "image/jpg", "public.jpeg"].map { ($0, true) }
            + ["", "jpg", "image", "image/", "image/jpeg2", "image/png", "text/html", "*/*", "image/*"]
            .map { ($0, false) })
    func names(name: String, isRight: Bool) {
        #expect(AttachmentType.jpeg.isNamed(name) == isRight)
        let head = [UInt8](hex: "FFD8FFE000104A464946000101010048")
        #expect(AttachmentType.recognize(head, declared: name) == (isRight ? .jpeg : nil))
    }

    @Test("the table contains the system's 11 types, HEIC and HEIF once each, and the size limits")
    func table() {
        #expect(AttachmentType.Family.audio.limitInBytes == 5_000_000)
        #expect(AttachmentType.Family.image.limitInBytes == 10_000_000)
        #expect(AttachmentType.Family.movie.limitInBytes == 50_000_000)
        #expect(AttachmentType.all.count == 13)
        #expect(Set(AttachmentType.all.map(\.uniformTypeIdentifier)).count == 13)
        #expect(Set(AttachmentType.all.map(\.fileExtension)).count == 13)
    }
}
