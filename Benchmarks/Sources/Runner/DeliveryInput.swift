import BenchmarkSupport
import PushCryptCore
import PushCryptExtension
import PushCryptFiles
import PushCryptPrimitives
import PushCryptSender

/// The files of an installed app, and pushes for it.
///
/// ```
/// keys/           the recipient's key and the accepted set of senders, as an app stores them
/// key.json        the same key
/// pins.json       the pinned publisher
/// senders.json    the signed set
/// pushes.jsonl    sealed and signed pushes, each another message
/// film.json       a push whose attachment is `film`
/// film            50 MB, encrypted
/// ```
struct DeliveryInput {
    private static let filmByteCount = 50_000_000

    private let suite: Suite
    private let count: Int
    private let folder: String

    init(suite: String, count: String, folder: String) throws {
        guard let suite = UInt8(suite).flatMap(Suite.init(rawValue:)), let count = Int(count) else {
            throw UsageError()
        }
        (self.suite, self.count, self.folder) = (suite, count, folder)
    }

    func write() throws {
        let keys = try TestKeys(suite: suite)
        let device = try DeviceKey(keys.record, KeyLifecycle(activatesAt: UnixTime(0)), writtenAt: UnixTime(0))
        try FileKeyring(folder: path("keys")).add(device)
        try replace("key.json", device.jwkSet())
        let sender = try TestSender()
        try writeSenders(sender)
        let sealer = try Sealer(topic: TestMessage.topic, signer: .key(sender.key))
        var lines = [UInt8]()
        for _ in 0..<count { lines += try sealed(sealer, keys) + [UInt8(ascii: "\n")] }
        try replace("pushes.jsonl", lines)
        try replace("film.json", sealed(sealer, keys, attachments: [film()]))
    }

    private func writeSenders(_ sender: TestSender) throws {
        let (publisher, pins) = try SenderSets.publisher()
        let document = try SenderSets.documents(of: sender.record, pins, signedBy: publisher, count: 1)[0]
        try replace("pins.json", pins.json)
        try replace("senders.json", document)
        try SenderPins(folder: path("keys"), publishers: pins, topic: TestMessage.topic).accept(document)
    }

    private func sealed(
        _ sealer: Sealer, _ keys: TestKeys, attachments: [AttachmentReference] = []
    ) throws -> [UInt8] {
        let payload = TestMessage.payload
        return Array(
            try sealer.seal(payload, to: keys.recipient, attachments: attachments).json)
    }

    /// Writes the film, whose first bytes say that it is one.
    private func film() throws -> AttachmentReference {
        let head: [UInt8] = [0, 0, 0, 0x20, 0x66, 0x74, 0x79, 0x70, 0x69, 0x73, 0x6F, 0x6D, 0, 0, 2, 0]
        let blob = try SealedBlob(
            head + [UInt8](repeating: 7, count: Self.filmByteCount - head.count), for: .attachment)
        try replace("film", blob.bytes)
        return try AttachmentReference(url: "https://files.example/film", blob: blob.reference, type: "video/mp4")
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }
    private func replace(_ name: String, _ bytes: [UInt8]) throws { try FileSystem.replace(path(name), with: bytes) }
}
