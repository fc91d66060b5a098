import PushCryptExtension
import PushCryptTestSupport
import Testing

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
