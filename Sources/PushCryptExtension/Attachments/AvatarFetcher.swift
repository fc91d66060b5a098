public import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives

/// Fetches the picture of a message's sender, ``OpenedPush/avatar``, and keeps it: a picture is fetched once, because the
/// message names it by its digest (PROTOCOL section 11).
///
/// ```
/// FOLDER/NAME    the opened picture; NAME is the SHA-256 of all that was verified when it was fetched, base64url:
///                the blob's key, size and digest, and the type
/// ```
/// So a reference gets a kept picture only if it would get the same one from the server.
/// The server learns when a device fetches a picture for the first time, and its address. So only hosts that the app lists
/// are asked, whatever the message says.
public struct AvatarFetcher: Sendable {
    /// The largest picture, in bytes. It is opened in memory, of which an extension has little.
    public static let limitInBytes = 1_048_576
    /// How many pictures are kept. Over the limit, others are removed.
    public static let maximumCount = 64

    private let folder: String
    private let policy: TransferPolicy
    private let transport: any HTTPTransport

    /// Creates a fetcher.
    ///
    /// - Parameters:
    ///   - folder: where pictures are kept. It is created if its parent exists. Use it for nothing else.
    ///   - hosts: the hosts that pictures are fetched from, in lower case, without port. Give the transport's policy the same
    ///     hosts: it decides about redirects.
    public init(folder: String, hosts: Set<String>, transport: any HTTPTransport) {
        self.folder = folder
        policy = TransferPolicy(allowedHosts: hosts)
        self.transport = transport
    }

    /// Returns the content of the image file, kept or fetched.
    ///
    /// - Throws: `TransferError` with `addressRefused`, `tooLarge`, `wrongType` for a file that isn't an image, `damaged`, an
    ///   error of the transport, or `cancelled` as soon as the task is cancelled. A picture that can't be kept is no error.
    public func picture(_ reference: AttachmentReference) async throws -> [UInt8] {
        // First, so that a message learns nothing of what is kept by naming a host that the app doesn't ask.
        try policy.check(reference.url)
        let name = try Self.name(of: reference)
        if let kept = try? Folder(folder, followingLinks: true).read(name, limitInBytes: Self.limitInBytes).bytes {
            return kept
        }
        guard reference.blob.size <= Self.limitInBytes else { throw TransferError.tooLarge(Self.limitInBytes) }
        let sink = PayloadSink(reference.blob)
        try await transport.get(reference.url) { piece in try sink.receive(piece) }
        let picture = try sink.finish()
        let head = Array(picture.prefix(AttachmentType.headByteCount))
        guard AttachmentType.recognize(head, declared: reference.type)?.family == .image else {
            throw TransferError(.wrongType, "the picture is not an image of its declared type")
        }
        try? keep(picture, as: name)
        return picture
    }

    private static func name(of reference: AttachmentReference) throws -> String {
        var verified: [UInt8] = []
        defer { wipe(&verified) }
        reference.blob.appendMembers(to: &verified)
        verified += reference.type.utf8
        return Base64URL.encode(try DefaultBackend.shared.sha256(verified.bytes))
    }

    private func keep(_ picture: [UInt8], as name: String) throws(FileError) {
        try Folder.makeIfMissing(folder, isProtected: true)
        let folder = try Folder(folder, followingLinks: true)
        // Includes what killed processes have left.
        let others = try folder.names().filter { $0 != name }
        for other in others.prefix(max(0, others.count - Self.maximumCount + 1)) { try? folder.remove(other) }
        let temporary = "\(name).\(FileSystem.randomName())"
        do throws(FileError) {
            try folder.makeFile(temporary, isProtected: true).write(picture)
            try folder.rename(temporary, to: name, isLasting: false)
        } catch {
            try? folder.remove(temporary)
            throw error
        }
    }
}
