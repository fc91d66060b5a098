/// A file type that the system shows with a notification, from the table in `UNNotificationAttachment`'s documentation, and
/// HEIC. If a system refuses a HEIC file, the notification is shown without it.
public struct AttachmentType: Hashable, Sendable, CustomStringConvertible {
    /// Audio, image or movie, with the largest size that the system accepts.
    public struct Family: Hashable, Sendable, CustomStringConvertible {
        /// The name of the family.
        public let description: String
        /// The size of the largest file. The table gives 5, 10 and 50 MB. Here 1 MB is 1,000,000 bytes, the smaller of its two
        /// meanings, because the system refuses a file that is too large.
        public let limitInBytes: Int

        /// At most 5,000,000 bytes.
        public static let audio = Family(description: "audio", limitInBytes: 5_000_000)
        /// At most 10,000,000 bytes.
        public static let image = Family(description: "image", limitInBytes: 10_000_000)
        /// At most 50,000,000 bytes.
        public static let movie = Family(description: "movie", limitInBytes: 50_000_000)
    }

    /// Audio, image or movie.
    public let family: Family
    /// The type hint that the system requires with a file.
    public let uniformTypeIdentifier: String
    /// The file extension without the dot.
    public let fileExtension: String
    /// The MIME types in lower case; the registered one is the first.
    public let mimeTypes: [String]
    let signature: FileSignature

    private init(
        _ family: Family, _ identifier: String, _ fileExtension: String, _ mimeTypes: [String],
        _ signature: FileSignature
    ) {
        self.family = family
        uniformTypeIdentifier = identifier
        self.fileExtension = fileExtension
        self.mimeTypes = mimeTypes
        self.signature = signature
    }

    /// The file extension.
    public var description: String { fileExtension }

    /// Whether the name is one of this type's MIME types, without parameters, or its uniform type identifier.
    public func isNamed(_ name: String) -> Bool {
        let essence = name.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        return essence == uniformTypeIdentifier || mimeTypes.contains(essence)
    }
}

extension AttachmentType {
    /// JPEG.
    public static let jpeg = AttachmentType(
        .image, "public.jpeg", "jpg", ["image/jpeg", "image/jpg", "image/pjpeg"], .prefix([[0xff, 0xd8, 0xff]]))
    /// GIF, both versions.
    public static let gif = AttachmentType(
        .image, "com.compuserve.gif", "gif", ["image/gif"], .prefix([Array("GIF87a".utf8), Array("GIF89a".utf8)]))
    /// PNG.
    public static let png = AttachmentType(
        .image, "public.png", "png", ["image/png", "image/x-png"],
        .prefix([[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]]))
    /// HEIC, the format of the system's camera.
    public static let heic = AttachmentType(
        .image, "public.heic", "heic", ["image/heic"],
        .brand(FileSignature.heicBrands, whenDeclared: FileSignature.heifBrands))
    /// HEIF with a general brand. A HEIC file is such a file too, so a sender may declare either type.
    public static let heif = AttachmentType(
        .image, "public.heif", "heif", ["image/heif"],
        .brand(FileSignature.heifBrands, whenDeclared: FileSignature.heicBrands))

    /// AIFF and AIFF-C.
    public static let aiff = AttachmentType(
        .audio, "public.aiff-audio", "aiff", ["audio/aiff", "audio/x-aiff"],
        .container("FORM", kinds: ["AIFF", "AIFC"]))
    /// Waveform audio.
    public static let wav = AttachmentType(
        .audio, "com.microsoft.waveform-audio", "wav", ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"],
        .container("RIFF", kinds: ["WAVE"]))
    /// MPEG layer III audio, with an ID3 tag or without.
    public static let mp3 = AttachmentType(
        .audio, "public.mp3", "mp3", ["audio/mpeg", "audio/mp3", "audio/mpeg3", "audio/x-mp3"], .mpegLayer3)
    /// MPEG-4 audio. Movies use the general MPEG-4 brands too, so a file with such a brand is audio only if the sender
    /// declares it.
    public static let m4a = AttachmentType(
        .audio, "public.mpeg-4-audio", "m4a", ["audio/mp4", "audio/x-m4a", "audio/m4a"],
        .brand(["M4A "], whenDeclared: FileSignature.mpeg4Brands))

    /// MPEG-1 or MPEG-2: a program stream, or video only.
    public static let mpeg = AttachmentType(
        .movie, "public.mpeg", "mpg", ["video/mpeg"], .prefix([[0, 0, 1, 0xba], [0, 0, 1, 0xb3]]))
    /// MPEG-2 video without a program stream.
    public static let mpeg2 = AttachmentType(
        .movie, "public.mpeg-2-video", "m2v", ["video/mpeg", "video/mpeg2"], .mpeg2Video)
    /// MPEG-4, recognised by its major brand.
    public static let mp4 = AttachmentType(
        .movie, "public.mpeg-4", "mp4", ["video/mp4", "video/x-m4v"], .brand(FileSignature.mpeg4Brands))
    /// Audio video interleave.
    public static let avi = AttachmentType(
        .movie, "public.avi", "avi", ["video/x-msvideo", "video/avi", "video/vnd.avi", "video/msvideo"],
        .container("RIFF", kinds: ["AVI "]))

    /// All types. MPEG-2 is before MPEG, whose signature also matches MPEG-2.
    public static let all: [AttachmentType] = [jpeg, gif, png, heic, heif, aiff, wav, mp3, m4a, mpeg2, mpeg, mp4, avi]

    /// How many bytes ``recognize(_:declared:)`` needs. No file of a supported type is shorter.
    public static let headByteCount = 16

    /// Detects the type of a file from its first bytes; nothing is decoded.
    ///
    /// - Parameters:
    ///   - head: ``headByteCount`` bytes or more.
    ///   - declared: the MIME type or uniform type identifier that the sender declares; nil if it declares none.
    /// - Returns: nil for a file that is of no supported type, or not of the declared type.
    public static func recognize(_ head: [UInt8], declared: String? = nil) -> AttachmentType? {
        guard head.count >= headByteCount else { return nil }
        return all.first { type in
            (declared.map(type.isNamed) ?? true) && type.signature.matches(head, isDeclared: declared != nil)
        }
    }

    /// The largest size of a file of the declared type; nil if the type isn't supported.
    static func limitInBytes(declared name: String) -> Int? {
        all.filter { $0.isNamed(name) }.map(\.family.limitInBytes).max()
    }
}

/// The first bytes of the files of a type.
enum FileSignature: Hashable, Sendable {
    case prefix([[UInt8]])
    /// ```
    /// name(4) ‖ size(4) ‖ kind(4)      IFF and RIFF
    /// ```
    case container(String, kinds: [String])
    /// ```
    /// size(4) ‖ "ftyp" ‖ major brand(4)      ISO/IEC 14496-12, section 4.3
    /// ```
    /// `whenDeclared` are ambiguous brands: they match only if the sender declares this type.
    case brand([String], whenDeclared: [String] = [])
    /// An ID3 tag or a layer III frame.
    case mpegLayer3
    /// A sequence header followed by a sequence extension, which MPEG-1 doesn't have (ISO/IEC 13818-2, section 6.2.2).
    case mpeg2Video

    /// ISO/IEC 23008-12: a still image in HEVC, and an image in any coding.
    static let heicBrands = ["heic", "heix", "heim", "heis"]
    static let heifBrands = ["mif1"]

    /// The system's table doesn't list the brands of QuickTime (`qt  `), of AV1 images (`avif`) and of phones (`3gp4`).
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
    /// Reserved values are refused, because AAC frames, JPEG and a UTF-16 byte order mark begin with similar bytes.
    private static func isLayer3Frame(_ head: [UInt8]) -> Bool {
        let version = head[1] >> 3 & 0b11
        let layer = head[1] >> 1 & 0b11
        let bitRate = head[2] >> 4
        let samplingRate = head[2] >> 2 & 0b11
        return head[0] == 0xff && head[1] >> 5 == 0b111 && version != 0b01 && layer == 0b01
            && bitRate != 0b0000 && bitRate != 0b1111 && samplingRate != 0b11
    }

    /// The sequence header is 12 bytes long if its last two bits are 0: then it contains no matrix. A file with a matrix is
    /// recognised as MPEG.
    private static func isMPEG2Video(_ head: [UInt8]) -> Bool {
        head.starts(with: [0, 0, 1, 0xb3]) && head[11] & 0b11 == 0 && head[12..<16].elementsEqual([0, 0, 1, 0xb5])
    }
}
