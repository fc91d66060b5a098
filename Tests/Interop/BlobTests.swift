import Foundation
import PushCryptCore
import PushCryptExtension
import PushCryptPrimitives
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Blobs and references: each implementation opens what the other sealed.
@Suite("blobs, against the Python reference", .enabled(if: Python.isAvailable, Python.missing))
struct BlobTests {
    static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 131_073, 200_000]

    private static func plaintext(_ count: Int) -> [UInt8] {
        var generator = SplitMix64(seed: UInt64(count))
        return generator.bytes(count)
    }

    @Test("Python opens a blob that Swift sealed", arguments: sizes, Backends.all)
    func swiftSeals(size: Int, named: NamedBackend) throws {
        let plaintext = Self.plaintext(size)
        for purpose in [BlobPurpose.attachment, .payload] {
            let sealed = try SealedBlob(plaintext, for: purpose, backend: named.backend)
            let reference = Extras.Reference(url: "", sealed.reference)
            func opened(as purpose: String) throws -> Answer {
                try Reference.ask(
                    Request.OpenBlob(purpose: purpose, data: Data(sealed.bytes), reference: reference))
            }
            #expect(try opened(as: "\(purpose)").data == Data(plaintext))
            let other = purpose == .attachment ? "payload" : "attachment"
            #expect(try opened(as: other).error == "undecryptable")
        }
    }

    @Test("Swift opens a blob that Python sealed", arguments: sizes, Backends.all)
    func pythonSeals(size: Int, named: NamedBackend) throws {
        let plaintext = Self.plaintext(size)
        let key = String(decoding: Base64URL.encode(Self.plaintext(32).bytes), as: UTF8.self)
        let answer = try Reference.ask(
            Request.SealBlob(purpose: "attachment", data: Data(plaintext), key: key))
        let blob = Array(try #require(answer.data))
        let reference = try #require(answer.reference)
        let json = #"{"key":"\#(reference.key)","size":\#(reference.size),"sha256":"\#(reference.sha256)"}"#
        let read = try #require(BlobReference(.attachment, JSONText(Array(json.utf8)).root))
        #expect(try BlobOpener.plaintext(of: blob, read, backend: named.backend) == plaintext)
        var changed = blob
        changed[blob.count / 2] ^= 1
        #expect(throws: FailureClass.undecryptable) {
            try BlobOpener.plaintext(of: changed, read, backend: named.backend)
        }
    }

    private static func references() throws -> ([AttachmentReference], OffloadReference) {
        let attachments = try [(nil, "image/png"), ("photo-1", "video/mp4")].map { id, type in
            try AttachmentReference(
                url: "https://cdn.example.com/a/b?c=%20d", blob: SealedBlob([1, 2, 3], for: .attachment).reference,
                type: type, id: id)
        }
        let payload = Array(#"{"aps":{"alert":"long"}}"#.utf8)
        return (attachments, try OffloadReference(url: "https://a.b/c", blob: Sealer.offload(payload).reference))
    }

    @Test("Python reads references that Swift sealed", arguments: Channel.all)
    func swiftSealsReferences(channel: Channel) throws {
        let (attachments, offload) = try Self.references()
        let backend = Backends.openSSL.backend
        let sealer = try Sealer(
            topic: Push.topic, signer: channel.signer.map { try .key($0.sender(backend)) },
            clock: { UnixTime(Push.now) })
        let push = try sealer.seal(
            Array(ReferenceVectors.shared.inner.utf8), to: channel.key.recipient(backend), placeholder: .standard,
            attachments: attachments, offload: offload, isSelfTest: true)
        let answer = try Reference.ask(
            Request.Open(
                keys: [channel.key], topic: Push.topic, payloadB64: push.json, at: Push.now, trust: channel.trusted))
        #expect(answer.inner == ReferenceVectors.shared.inner)
        #expect(answer.extras == Extras(attachments, offload, true))
    }

    @Test("Swift reads references that Python sealed", arguments: Channel.all)
    func pythonSealsReferences(channel: Channel) throws {
        let (attachments, offload) = try Self.references()
        let extras = Extras(attachments, offload, true)
        let inner = ReferenceVectors.shared.inner
        let answer = try Reference.ask(
            Request.Seal(
                to: channel.key.withoutPrivateKey, topic: Push.topic, inner: inner, placeholder: ["title": "t"],
                at: Push.now, signWith: channel.signer, extras: extras))
        let payload = Array(try #require(answer.payload).utf8)
        let backend = Backends.openSSL.backend
        let senders: SenderTrust =
            try channel.trusted.map { jwks in
                .pinned(try TrustedSenders(Keyset(jwks.map { try $0.keyset(backend).entries[0] })))
            } ?? .unsigned
        let keyring = KeysetKeyring(try channel.key.keyset(backend))
        let opener = try Opener(topic: Push.topic, keyring: keyring, senders: senders)
        let push = try opener.open(payload, at: UnixTime(Push.now)).get()
        #expect(Extras(push.attachments, push.offload, push.isSelfTest) == extras)
        #expect(push.attachments == attachments)
        #expect(push.payload == Array(inner.utf8))
    }
}
