import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptPrimitives
import PushCryptSender

struct Blob: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blob",
        abstract: "Seal and open blobs: attachments and long payloads, which a push refers to.",
        subcommands: [BlobSeal.self, BlobOpen.self])

    func run() throws { throw ValidationError("Name a command of blob.") }
}

struct BlobSeal: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: "Seal a file as an encrypted blob: plaintext on stdin, the blob to upload on stdout.",
        discussion: """
            Every blob has its own key, which only the reference contains. The reference is a secret: it is written to a \
            new file that only its owner can read, when the blob is complete. Give it to seal with --attach or --offload. \
            Without --url, first add the member "url" to it: jq -c '.url = "https://…"'.

            A payload is an inner payload of at most 256 KiB and 16,384 JSON values, padded to a multiple of 4 KiB. An \
            attachment may have any length and is sealed in constant memory. The length of the blob reveals its length.

            Example: pushcrypt blob seal --reference scan.json --type image/png --url https://example.com/scan.blob < scan.png > scan.blob
            """)

    @Option(help: .init("A new file for the reference.", "FILE")) var reference: String
    @Option(help: .init("The blob's purpose. The blob can't be opened for another one.", "attachment|payload"))
    var purpose: PurposeArgument = .attachment
    @Option(help: .init("The MIME type of an attachment in lower case, such as image/png.", "TYPE")) var type: String?
    @Option(name: .customLong("id"), help: .init("The id of an attachment in the app.", "ID")) var identifier: String?
    @Option(
        help: .init(
            "What the device does with an attachment: it shows it, or gives it to the app's extension as the sender's "
                + "picture. (default: shown)", "shown|avatar"))
    var use: UseArgument?
    @Option(help: .init("The https URL where the blob will be stored.", "URL")) var url: String?
    @Option(name: .customLong("from"), help: .init("The plaintext; - is stdin.", "FILE|-")) var source: String = "-"
    @Option(help: .init("A new file for the blob, instead of stdout.", "FILE")) var output: String?
    @OptionGroup var messages: MessageOptions

    func validate() throws {
        try BlobSeal.requireFile(reference, "--reference")
        if let output { try BlobSeal.requireFile(output, "--output") }
        guard reference != output else { throw ValidationError("--reference and --output are the same file.") }
        if purpose == .payload {
            guard type == nil, identifier == nil, use == nil else {
                throw ValidationError("--type, --id and --use are only for attachments, and not for --purpose payload.")
            }
        } else {
            guard type != nil else { throw ValidationError("An attachment requires --type, such as image/png.") }
        }
    }

    static func requireFile(_ path: String, _ option: String) throws {
        guard path != "-" else { throw ValidationError("\(option) requires a file name.") }
    }

    func run() throws {
        if let url { try Failure.naming("--url") { try AttachmentReference.checkURL(url) } }
        if let type { try Failure.naming("--type") { try AttachmentReference.checkType(type) } }
        if let identifier { try Failure.naming("--id") { try AttachmentReference.checkID(identifier) } }
        let reader = try PieceReader(source)
        let referenceFile = try NewFile(reference)
        let sink = try BlobSink(output)
        let blob = try purpose == .payload ? sealPayload(reader, sink) : sealAttachment(reader, sink)
        // The reference is written last, so that it never exists without a complete blob.
        try sink.publish()
        try ReferenceFile(blob: blob, url: url, type: type, id: identifier, isAvatar: use == .avatar).write(
            to: referenceFile)
    }

    private func sealAttachment(_ reader: PieceReader, _ sink: BlobSink) throws -> BlobReference {
        let sealer = try BlobSealer(.attachment)
        var sealed: [UInt8] = []
        while let piece = try reader.next() {
            try sealer.seal(Array(piece), appendingTo: &sealed)
            try sink.write(sealed)
            sealed.removeAll(keepingCapacity: true)
        }
        let reference = try sealer.finish(appendingTo: &sealed)
        try sink.write(sealed)
        return reference
    }

    private func sealPayload(_ reader: PieceReader, _ sink: BlobSink) throws -> BlobReference {
        var payload: [UInt8] = []
        while payload.count <= OffloadReference.maximumSize, let piece = try reader.next() { payload += piece }
        let blob = try Sealer.offload(payload)
        try sink.write(blob.bytes)
        return blob.reference
    }
}

enum PurposeArgument: String, ExpressibleByArgument { case attachment, payload }

enum UseArgument: String, ExpressibleByArgument { case shown, avatar }

/// The destination of a blob: a new file, or stdout unless it is a terminal.
private struct BlobSink {
    private let file: NewFile?

    init(_ path: String?) throws {
        if path == nil, StandardStreams.isTerminal {
            throw Failure(.usage, "a blob is binary and stdout is a terminal; redirect stdout or use --output")
        }
        file = try path.map { path in try NewFile(path) }
    }

    func write(_ bytes: [UInt8]) throws {
        guard let file else { return try StandardStreams.write(bytes) }
        try file.append(bytes)
    }

    func publish() throws {
        file?.markWhole()
        try file?.publish()
    }
}

struct BlobOpen: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open an encrypted blob: read the blob from stdin, write the plaintext to a new file.",
        discussion: """
            The plaintext is never written to stdout: only the end of a blob proves that it is complete and authentic, \
            and the next program in a pipe would have read the rest by then. The file gets its final name when everything is \
            verified. A payload keeps its padding: spaces at its end.

            Example: pushcrypt blob open --reference scan.json --output scan.png < scan.blob
            """)

    @Option(help: .init("The reference that blob seal wrote.", "FILE")) var reference: String
    @Option(help: .init("A new file for the plaintext.", "FILE")) var output: String
    @Option(name: .customLong("from"), help: .init("The blob; - is stdin.", "FILE|-")) var source: String = "-"
    @OptionGroup var messages: MessageOptions

    func validate() throws {
        try BlobSeal.requireFile(reference, "--reference")
        try BlobSeal.requireFile(output, "--output")
    }

    func run() throws {
        let opener = BlobOpener(try ReferenceFile(reference).blob)
        let reader = try PieceReader(source)
        let file = try NewFile(output)
        var plaintext: [UInt8] = []
        do {
            while let piece = try reader.next() {
                try opener.open(Array(piece), appendingTo: &plaintext)
                try file.append(plaintext)
                plaintext.removeAll(keepingCapacity: true)
            }
            try opener.finish()
        } catch let failure as FailureClass {
            let advice =
                failure == .undecryptable
                ? ": it is not the whole blob of \(reference), or one of the two was changed" : ""
            throw Failure(
                failure == .internalError ? .software : .dataError,
                "\(source == "-" ? "stdin" : source) is not opened: \(failure)\(advice)")
        }
        file.markWhole()
        try file.publish()
    }
}

/// The file with a blob's reference: the JSON object that a message will contain.
///
/// ```
/// {["url": "https://..."], "key", "size", "sha256", ["type": "image/png"], ["id": "photo"], ["use": "avatar"]}
/// ```
/// A reference with a type refers to an attachment, a reference without one to a payload.
struct ReferenceFile {
    let blob: BlobReference
    let url: String?
    let type: String?
    let id: String?
    let isAvatar: Bool

    func write(to file: NewFile) throws {
        var json = Array("{".utf8)
        // Enough for every reference: an array that grows leaves copies of the key in freed memory.
        json.reserveCapacity(4_096)
        defer { wipe(&json) }
        if let url { json += #""url":"\#(url)","#.utf8 }
        blob.appendMembers(to: &json)
        if let type { json += #","type":"\#(type)""#.utf8 }
        if let id { json += #","id":"\#(id)""#.utf8 }
        if isAvatar { json += #","use":"avatar""#.utf8 }
        json += "}\n".utf8
        try file.append(json)
        file.markWhole()
        try file.publish()
    }
}

extension ReferenceFile {
    init(_ path: String) throws {
        var bytes = try FileSystem.readFile(path)
        defer { wipe(&bytes) }
        do { try self.init(bytes) } catch { throw Failure(.dataError, "\(path) is not a reference from blob seal") }
    }

    private struct Malformed: Error {}

    private init(_ bytes: [UInt8]) throws {
        let root = try JSONText(bytes).root
        let strings = try ["url", "type", "id"].map { name -> String? in
            guard let value = root[name] else { return nil }
            guard let string = value.string else { throw Malformed() }
            return string
        }
        let type = strings[1]
        guard let blob = BlobReference(type == nil ? .payload : .attachment, root) else { throw Malformed() }
        let use = root["use"]
        guard use == nil || type != nil && use?.isString("avatar") == true else { throw Malformed() }
        self.init(blob: blob, url: strings[0], type: type, id: strings[2], isAvatar: use != nil)
    }

    fileprivate func requireURL(_ path: String) throws -> String {
        guard let url else { throw Failure(.dataError, "\(path) has no url; add it with jq -c '.url = \"https://…\"'") }
        return url
    }
}

extension AttachmentReference {
    init(file path: String) throws {
        let file = try ReferenceFile(path)
        guard let type = file.type else {
            throw Failure(.dataError, "\(path) is the reference of a payload; use --offload")
        }
        let url = try file.requireURL(path)
        do {
            try self.init(
                url: url, blob: file.blob, type: type, id: file.id, use: file.isAvatar ? .avatar : .shown)
        } catch {
            throw Failure(.dataError, "\(path): \(error.reason)")
        }
    }
}

extension OffloadReference {
    init(file path: String) throws {
        let file = try ReferenceFile(path)
        guard file.type == nil else {
            throw Failure(.dataError, "\(path) is the reference of an attachment; use --attach")
        }
        let url = try file.requireURL(path)
        do { try self.init(url: url, blob: file.blob) } catch { throw Failure(.dataError, "\(path): \(error.reason)") }
    }
}
