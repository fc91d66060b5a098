/// A type of file that the system shows with a notification: the table of `UNNotificationAttachment`'s documentation.
public struct AttachmentType: Hashable, Sendable, CustomStringConvertible {
    /// What a file is to the user, with the size up to which the system takes it.
    public struct Family: Hashable, Sendable, CustomStringConvertible {
        public let description: String
        /// The table says 5, 10 and 50 MB: read as millions, the smaller meaning, since the system takes nothing of a
        /// file that it finds too large.
        public let limitInBytes: Int

        public static let audio = Family(description: "audio", limitInBytes: 5_000_000)
        public static let image = Family(description: "image", limitInBytes: 10_000_000)
        public static let movie = Family(description: "movie", limitInBytes: 50_000_000)

        /// Of all families.
        static let greatestLimitInBytes = movie.limitInBytes
    }

    public let family: Family
    /// The hint that the system wants with a file.
    public let uniformTypeIdentifier: String
    /// Without the dot.
    public let fileExtension: String
    /// In small letters, the registered name first.
    public let mimeTypes: [String]
    let signature: FileSignature

    public var description: String { fileExtension }

    public static func == (left: Self, right: Self) -> Bool {
        left.uniformTypeIdentifier == right.uniformTypeIdentifier
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(uniformTypeIdentifier)
    }

    /// Whether that is one of its names: a MIME type, parameters aside, or the uniform type identifier.
    public func isNamed(_ name: String) -> Bool {
        let essence = name.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        return essence == uniformTypeIdentifier || mimeTypes.contains(essence)
    }
}

extension AttachmentType {
    public static let jpeg = AttachmentType(
        family: .image, uniformTypeIdentifier: "public.jpeg", fileExtension: "jpg",
        mimeTypes: ["image/jpeg", "image/jpg", "image/pjpeg"], signature: .prefix([[0xff, 0xd8, 0xff]]))
    public static let gif = AttachmentType(
        family: .image, uniformTypeIdentifier: "com.compuserve.gif", fileExtension: "gif",
        mimeTypes: ["image/gif"], signature: .prefix([Array("GIF87a".utf8), Array("GIF89a".utf8)]))
    public static let png = AttachmentType(
        family: .image, uniformTypeIdentifier: "public.png", fileExtension: "png",
        mimeTypes: ["image/png", "image/x-png"],
        signature: .prefix([[0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]]))

    public static let aiff = AttachmentType(
        family: .audio, uniformTypeIdentifier: "public.aiff-audio", fileExtension: "aiff",
        mimeTypes: ["audio/aiff", "audio/x-aiff"], signature: .container("FORM", kinds: ["AIFF", "AIFC"]))
    public static let wav = AttachmentType(
        family: .audio, uniformTypeIdentifier: "com.microsoft.waveform-audio", fileExtension: "wav",
        mimeTypes: ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"],
        signature: .container("RIFF", kinds: ["WAVE"]))
    public static let mp3 = AttachmentType(
        family: .audio, uniformTypeIdentifier: "public.mp3", fileExtension: "mp3",
        mimeTypes: ["audio/mpeg", "audio/mp3", "audio/mpeg3", "audio/x-mp3"], signature: .mpegLayer3)
    /// The brands of MPEG-4 in general are those of movies, too: such a file is taken for audio only where it was
    /// declared as that.
    public static let m4a = AttachmentType(
        family: .audio, uniformTypeIdentifier: "public.mpeg-4-audio", fileExtension: "m4a",
        mimeTypes: ["audio/mp4", "audio/x-m4a", "audio/m4a"],
        signature: .brand(["M4A "], whenDeclared: FileSignature.mpeg4Brands))

    /// Of MPEG-1 or MPEG-2: a program stream, or video alone.
    public static let mpeg = AttachmentType(
        family: .movie, uniformTypeIdentifier: "public.mpeg", fileExtension: "mpg",
        mimeTypes: ["video/mpeg"], signature: .prefix([[0, 0, 1, 0xba], [0, 0, 1, 0xb3]]))
    /// Video alone.
    public static let mpeg2 = AttachmentType(
        family: .movie, uniformTypeIdentifier: "public.mpeg-2-video", fileExtension: "m2v",
        mimeTypes: ["video/mpeg", "video/mpeg2"], signature: .mpeg2Video)
    public static let mp4 = AttachmentType(
        family: .movie, uniformTypeIdentifier: "public.mpeg-4", fileExtension: "mp4",
        mimeTypes: ["video/mp4", "video/x-m4v"], signature: .brand(FileSignature.mpeg4Brands))
    public static let avi = AttachmentType(
        family: .movie, uniformTypeIdentifier: "public.avi", fileExtension: "avi",
        mimeTypes: ["video/x-msvideo", "video/avi", "video/vnd.avi", "video/msvideo"],
        signature: .container("RIFF", kinds: ["AVI "]))

    /// The whole table; MPEG-2 before MPEG, which has it among its own.
    public static let all: [AttachmentType] = [jpeg, gif, png, aiff, wav, mp3, m4a, mpeg2, mpeg, mp4, avi]

    /// How many bytes ``recognize(_:declared:)`` needs. No file of a supported type is shorter.
    public static let headByteCount = 16

    /// The type of a file by its first bytes; nothing is decoded.
    ///
    /// - Parameters:
    ///   - head: ``headByteCount`` bytes or more.
    ///   - declared: what the sender calls it: a MIME type or uniform type identifier; nil where nobody said.
    /// - Returns: nil for a file of no supported type, or of another than the declared one.
    public static func recognize(_ head: [UInt8], declared: String? = nil) -> AttachmentType? {
        guard head.count >= headByteCount else { return nil }
        return all.first { type in
            (declared.map(type.isNamed) ?? true) && type.signature.matches(head, isDeclared: declared != nil)
        }
    }

    /// The most bytes that a file declared so may have; nil for a name of no supported type.
    static func limitInBytes(declared name: String) -> Int? {
        all.filter { $0.isNamed(name) }.map(\.family.limitInBytes).max()
    }
}
