/// How the files of a type begin.
enum FileSignature: Sendable {
    /// Any of these.
    case prefix([[UInt8]])
    /// ```
    /// name(4) ‖ size(4) ‖ kind(4)      IFF and RIFF
    /// ```
    case container(String, kinds: [String])
    /// ```
    /// size(4) ‖ "ftyp" ‖ major brand(4)      ISO/IEC 14496-12, section 4.3
    /// ```
    /// `whenDeclared` are brands that tell less: they are taken if the sender says that the file is of this type.
    case brand([String], whenDeclared: [String] = [])
    /// An ID3 tag, or a frame of layer III at once.
    case mpegLayer3
    /// A sequence header with a sequence extension behind it (ISO/IEC 13818-2, section 6.2.2): MPEG-1 has none.
    case mpeg2Video

    /// QuickTime's (`qt  `), those of images (`heic`, `avif`) and of telephones (`3gp4`) aren't among them: the system
    /// doesn't list them.
    static let mpeg4Brands = [
        "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "avc1", "M4V ", "M4VH",
        "M4VP", "MSNV", "dash",
    ]

    /// - Parameter head: 16 bytes or more.
    func matches(_ head: [UInt8], isDeclared: Bool) -> Bool {
        switch self {
        case .prefix(let prefixes): prefixes.contains { head.starts(with: $0) }
        case .container(let name, let kinds):
            head.starts(with: name.utf8) && kinds.contains { head[8..<12].elementsEqual($0.utf8) }
        case .brand(let brands, let whenDeclared):
            head[4..<8].elementsEqual("ftyp".utf8)
                && (brands + (isDeclared ? whenDeclared : [])).contains { head[8..<12].elementsEqual($0.utf8) }
        case .mpegLayer3: Self.isTag(head) || Self.isLayer3Frame(head)
        case .mpeg2Video: Self.isMPEG2Video(head)
        }
    }

    /// ```
    /// "ID3" ‖ version(2), neither byte 0xff ‖ flags(1) ‖ size(4), every byte below 0x80      id3.org, section 3.1
    /// ```
    private static func isTag(_ head: [UInt8]) -> Bool {
        head.starts(with: "ID3".utf8) && head[3] < 0xff && head[4] < 0xff && head[6..<10].allSatisfy { $0 < 0x80 }
    }

    /// ```
    /// sync(11 bits, all 1) ‖ version(2) ‖ layer(2) ‖ protection(1) ‖ bit rate(4) ‖ sampling rate(2) ‖ …
    /// ```
    /// The reserved values are refused: AAC frames, a UTF-16 byte order mark and JPEG begin nearly so.
    private static func isLayer3Frame(_ head: [UInt8]) -> Bool {
        let version = head[1] >> 3 & 0b11
        let layer = head[1] >> 1 & 0b11
        let bitRate = head[2] >> 4
        let samplingRate = head[2] >> 2 & 0b11
        return head[0] == 0xff && head[1] >> 5 == 0b111 && version != 0b01 && layer == 0b01
            && bitRate != 0b0000 && bitRate != 0b1111 && samplingRate != 0b11
    }

    /// The header is 12 bytes long if neither of its last two bits announces a matrix; with one, MPEG has the file.
    private static func isMPEG2Video(_ head: [UInt8]) -> Bool {
        head.starts(with: [0, 0, 1, 0xb3]) && head[11] & 0b11 == 0 && head[12..<16].elementsEqual([0, 0, 1, 0xb5])
    }
}
