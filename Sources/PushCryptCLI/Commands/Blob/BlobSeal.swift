import ArgumentParser
import PushCryptCore
import PushCryptFiles
import PushCryptKeysets
import PushCryptSender

struct BlobSeal: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seal",
        abstract: "Seal a file as an encrypted blob: plaintext on stdin, the blob to upload on stdout.",
        discussion: """
            Every blob has a key of its own, which only the reference file holds: a secret, a new file for its owner \
            alone, written when the blob is whole. Hand it to seal as --attach or --offload. Without --url it wants a \
            member "url" first: jq -c '.url = "https://…"'.

            A payload is an inner payload of at most 256 KiB and 16,384 JSON values, which is padded to a multiple of 4 \
            KiB. An attachment may \
            have any length, which the length of the blob shows, and is sealed in constant memory.
            """
    )

    @Option(help: ArgumentHelp("What the blob is for; it opens as nothing else.", valueName: "attachment|payload"))
    var purpose: PurposeArgument = .attachment

    @Option(help: ArgumentHelp("An attachment's MIME type in lower case, as image/png.", valueName: "TYPE"))
    var type: String?

    @Option(name: .customLong("id"), help: ArgumentHelp("The app's name for an attachment.", valueName: "ID"))
    var identifier: String?

    @Option(help: ArgumentHelp("Where the blob will lie: https.", valueName: "URL"))
    var url: String?

    @Option(help: ArgumentHelp("Where the reference goes: a new file.", valueName: "FILE"))
    var reference: String

    @Option(name: .customLong("from"), help: ArgumentHelp("The plaintext; - for stdin.", valueName: "FILE|-"))
    var source: String = "-"

    @Option(help: ArgumentHelp("A new file for the blob, in place of stdout.", valueName: "FILE"))
    var output: String?

    func validate() throws {
        try BlobSeal.requireFile(reference, "--reference")
        if let output { try BlobSeal.requireFile(output, "--output") }
        guard reference != output else { throw ValidationError("--reference and --output are one file.") }
        if purpose == .payload {
            guard type == nil, identifier == nil else {
                throw ValidationError("--type and --id belong to attachments.")
            }
        } else {
            guard type != nil else { throw ValidationError("An attachment needs its --type, as image/png.") }
        }
    }

    /// A name for a new file, which - is not.
    static func requireFile(_ path: String, _ option: String) throws {
        guard !path.isEmpty, path != "-" else { throw ValidationError("\(option) names no file.") }
    }

    func run() throws {
        if let url { try AttachmentReference.checkURL(url) }
        if let type { try AttachmentReference.checkType(type) }
        if let identifier { try AttachmentReference.checkID(identifier) }
        let reader = try PieceReader(source)
        let referenceFile = try NewFile(reference)
        let sink = try BlobSink(output)
        let blob = try purpose == .payload ? sealPayload(reader, sink) : sealAttachment(reader, sink)
        // The reference last: whoever finds it finds a whole blob.
        try sink.publish()
        try ReferenceFile(blob, url: url, type: type, id: identifier).write(to: referenceFile)
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

enum PurposeArgument: String, ExpressibleByArgument {
    case attachment, payload
}

/// Where a blob goes: a new file, or stdout unless a person sits there.
private struct BlobSink {
    private let file: NewFile?

    init(_ path: String?) throws {
        if path == nil, StandardStreams.isShown {
            throw Failure(.usage, "a blob is binary, and stdout a terminal: redirect it, or say --output")
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
