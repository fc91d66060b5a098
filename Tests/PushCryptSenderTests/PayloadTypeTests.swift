import Foundation
import PushCryptSender
import Testing

/// One function seals raw JSON and values that encode to JSON. It treats `Data` and `[UInt8]` as raw JSON, also behind a
/// generic parameter.
@Suite struct PayloadTypeTests {
    private static let json = #"{"z":1.10,"aps":{"alert":"x"}}"#

    private struct Payload: Encodable {
        struct APS: Encodable {
            let alert: String
        }

        let aps: APS
        let url: String
    }

    @Test("Data, its slices and bytes are sealed byte for byte") func bytes() throws {
        let (sealer, recipient) = (try Channel.simple.sealer(), try Channel.simple.recipient())
        let data = Data(Self.json.utf8)
        let pushes = [
            try sealer.seal(data, to: recipient), try sealer.seal(Array(data), to: recipient),
            try sealer.seal(data, to: recipient) { $0.padding = .none },
            // Part of a longer buffer, whose indices don't begin at 0.
            try sealer.seal(Data("xx\(Self.json)".utf8).dropFirst(2), to: recipient),
        ]
        for push in pushes { #expect(try Reading(push, .simple).payload == Self.json) }
    }

    struct Value: Sendable, CustomStringConvertible {
        let payload: any Encodable & Sendable
        let json: String

        var description: String { "\(type(of: payload))" }
    }

    @Test(
        "behind a generic parameter, bytes and strings are sealed byte for byte, and other values as their JSON",
        arguments: [
            Value(payload: Data(json.utf8), json: json), Value(payload: Array(json.utf8), json: json),
            Value(payload: json, json: json), Value(payload: ContiguousArray(json.utf8), json: json),
            Value(
                payload: Payload(aps: .init(alert: "x"), url: "https://example.com/a"),
                json: #"{"aps":{"alert":"x"},"url":"https://example.com/a"}"#),
            Value(payload: ["aps": ["alert": "x"]], json: #"{"aps":{"alert":"x"}}"#),
            Value(payload: Visit(), json: #"{"aps":{"alert":"x"},"at":"2027-01-15T08:00:00Z"}"#),
        ])
    func generic(value: Value) throws {
        let push = try Channel.simple.sealer().seal(value.payload, to: Channel.simple.recipient())
        #expect(try Reading(push, .simple).payload == value.json)
    }

    private struct Visit: Encodable {
        let aps = ["alert": "x"]
        let at = Date(timeIntervalSince1970: 1_800_000_000)
    }

    @Test("a date is written as the sealer's encoder is set to write it") func encoder() throws {
        let encoder = Sealer.standardEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        let sealer = try Sealer(topic: "com.example.app", encoder: encoder, clock: { Channel.now })
        let push = try sealer.seal(Visit(), to: Channel.simple.recipient(), placeholder: Channel.placeholder)
        #expect(try Reading(push, .simple).payload == #"{"aps":{"alert":"x"},"at":1800000000}"#)
    }

    /// SwiftNIO's ByteBuffer encodes to base64, for example.
    @Test("a buffer that encodes to a JSON string is refused, and the error says what to give") func buffer() throws {
        struct Buffer: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(Data(PayloadTypeTests.json.utf8).base64EncodedString())
            }
        }
        let error = expectSenderError(.invalidPayload) {
            try Channel.simple.sealer().seal(Buffer(), to: Channel.simple.recipient())
        }
        #expect(error?.reason.contains("its bytes") == true)
    }

    @Test("the error of a payload that can't be encoded is thrown") func encodingThatFails() throws {
        struct Unencodable: Encodable {
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(self, .init(codingPath: [], debugDescription: "no"))
            }
        }
        #expect(throws: EncodingError.self) {
            try Channel.simple.sealer().seal(Unencodable(), to: Channel.simple.recipient())
        }
    }
}

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
            expectKeyError(.malformed) { try SenderSetPins(json: json) }
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
            let offload = try OffloadReference(url: "https://a.b/c", blob: SealedBlob(bytes, for: .payload).reference)
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
