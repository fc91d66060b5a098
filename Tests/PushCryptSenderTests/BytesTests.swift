import Foundation
import PushCryptPrimitives
import PushCryptSender
import Testing

/// Bytes go in as any collection of bytes: arrays, `Data`, slices, the UTF-8 of a string.
@Suite struct BytesTests {
    /// The same bytes in collections of several types; the indices of the last two don't begin with 0.
    private static func collections(_ bytes: [UInt8]) -> [any Collection<UInt8> & Sendable] {
        [bytes, Data(bytes), ([0] + bytes).dropFirst(), Data([0] + bytes).dropFirst()]
    }

    @Test("keys, trusted senders and pins are read from arrays, Data and slices") func keys() throws {
        for json in Self.collections(TestKeys.privateJWK("shared")) {
            #expect(try Keyset(json: json).keyIDs.count == 1)
            #expect(try Recipient(jwk: json).suite == .shared)
        }
        for json in Self.collections(TestKeys.publicJWK("sender")) { _ = try TrustedSenders(json: json) }
        for json in Self.collections(TestKeys.privateJWK("sender")) { _ = try SenderKey(jwk: json) }
        for json in Self.collections(Array("{}".utf8)) {
            let error = #expect(throws: KeyError.self) { try SenderSetPins(json: json) }
            #expect(error?.code == .malformed)
        }
    }

    @Test("blobs and their references are made and read from arrays, Data and slices") func blobs() throws {
        let plaintext = Array("a picture".utf8)
        for bytes in Self.collections(plaintext) {
            let blob = try SealedBlob(bytes, for: .attachment)
            for bytes in Self.collections(blob.bytes) {
                #expect(try BlobOpener.plaintext(of: bytes, blob.reference) == plaintext)
            }
            let attachment = try AttachmentReference(url: "https://a.b/c", blob: blob.reference, type: "image/png")
            for json in Self.collections(attachment.json) {
                #expect(try AttachmentReference(json: json) == attachment)
            }
            let offload = try OffloadReference(
                url: "https://a.b/c", blob: SealedBlob(bytes, for: .payload).reference)
            for json in Self.collections(offload.json) { #expect(try OffloadReference(json: json) == offload) }
        }
    }

    @Test("a blob is sealed and opened piece by piece from Data") func pieces() throws {
        let sealer = try BlobSealer(.attachment)
        var (sealed, opened): ([UInt8], [UInt8]) = ([], [])
        for piece in [Data("a pic".utf8), Data("ture".utf8)] { try sealer.seal(piece, appendingTo: &sealed) }
        let opener = try BlobOpener(sealer.finish(appendingTo: &sealed))
        try opener.open(Data(sealed), appendingTo: &opened)
        try opener.finish()
        #expect(opened == Array("a picture".utf8))
    }

    @Test("a queued push is resealed from arrays, Data and slices") func resealing() throws {
        let queued = try Channel.simple.seal(#"{"aps":{"alert":"x"}}"#)
        let resealer = try Resealer(
            topic: "com.example.app", keyset: Keyset(json: TestKeys.privateJWK("shared")), clock: { Channel.now })
        for payload in Self.collections(queued.bytes) {
            #expect(try resealer.reseal(payload).payload == queued.bytes)
        }
    }
}
