import PushCryptPrimitives
import Testing

@testable import PushCryptCore

/// The rules of the format, against an attacker who has the key and writes any chunk.
@Suite struct HandmadeBlobTests {
    private static let full = TestBlob.plaintext(65_536)
    private static let short = TestBlob.plaintext(10)
    private static let zeros = [UInt8](repeating: 0, count: 10)

    static let right = [
        HandmadeBlob(description: "empty", chunks: [.init([], 0, flag: 1)]),
        HandmadeBlob(description: "one chunk", chunks: [.init(short, 0, flag: 1)]),
        HandmadeBlob(description: "one full chunk", chunks: [.init(full, 0, flag: 1)]),
        HandmadeBlob(description: "two chunks", chunks: [.init(full, 0, flag: 0), .init(short, 1, flag: 1)]),
        HandmadeBlob(description: "two full chunks", chunks: [.init(full, 0, flag: 0), .init(full, 1, flag: 1)]),
    ]

    @Test("a blob that the test writes by the grammar opens", arguments: right)
    func accepted(blob: HandmadeBlob) throws {
        let (bytes, reference) = try blob.make()
        let plaintext = blob.chunks.flatMap(\.plaintext)
        #expect(try TestBlob.opened(bytes, #require(reference)) == plaintext)
        #expect(try TestBlob.sealed(plaintext).blob == bytes)
    }

    /// Deviations of more than one chunk. `BlobVectorTests` has those of a single chunk.
    static let wrong = [
        HandmadeBlob(
            description: "flag 2 before the last", chunks: [.init(full, 0, flag: 2), .init(short, 1, flag: 1)]),
        HandmadeBlob(
            description: "every chunk has the flag of the last",
            chunks: [.init(full, 0, flag: 1), .init(short, 1, flag: 1)]),
        HandmadeBlob(
            description: "only the first chunk has the flag of the last",
            chunks: [.init(full, 0, flag: 1), .init(short, 1, flag: 0)]),
        HandmadeBlob(description: "the end is missing", chunks: [.init(full, 0, flag: 0), .init(full, 1, flag: 0)]),
        HandmadeBlob(
            description: "an empty chunk at the end", chunks: [.init(full, 0, flag: 0), .init([], 1, flag: 1)]),
        HandmadeBlob(
            description: "an empty chunk at the end, and a size of one byte more", size: 65_537,
            chunks: [.init(full, 0, flag: 0), .init([], 1, flag: 1)]),
        HandmadeBlob(description: "a short chunk first", chunks: [.init(short, 0, flag: 0), .init(full, 1, flag: 1)]),
        HandmadeBlob(description: "a long chunk", chunks: [.init(full + [1], 0, flag: 1)]),
        HandmadeBlob(description: "two short chunks", chunks: [.init(short, 0, flag: 0), .init(short, 1, flag: 1)]),
        HandmadeBlob(description: "a counter twice", chunks: [.init(full, 0, flag: 0), .init(short, 0, flag: 1)]),
        HandmadeBlob(description: "a counter left out", chunks: [.init(full, 0, flag: 0), .init(short, 2, flag: 1)]),
        HandmadeBlob(
            description: "a little-endian counter",
            chunks: [.init(full, 0, flag: 0), .init(short, counter: [1] + zeros, flag: 1)]),
        HandmadeBlob(description: "the flag before the counter", chunks: [.init(short, counter: [1] + zeros, flag: 0)]),
        HandmadeBlob(
            description: "purpose in two bytes", aad: Array("PCB1".utf8) + [0, 1], chunks: [.init(short, 0, flag: 1)]),
    ]

    @Test("a blob that the test writes with one deviation from the grammar is undecryptable", arguments: wrong)
    func refused(blob: HandmadeBlob) throws {
        let (bytes, made) = try blob.make()
        let reference = try #require(made)
        for pieces in [TestBlob.Pieces.whole, .of(1_000)] {
            #expect(TestBlob.failure(bytes, reference, pieces: pieces) == .undecryptable)
        }
    }
}

/// A blob of single chunks with valid tags, as an attacker with the key can make it.
struct HandmadeBlob: Sendable, CustomStringConvertible {
    struct Chunk: Sendable {
        let plaintext: [UInt8]
        /// The first 11 bytes of the nonce.
        let counter: [UInt8]
        let flag: UInt8

        init(_ plaintext: [UInt8], _ index: UInt8, flag: UInt8) {
            self.init(plaintext, counter: [UInt8](repeating: 0, count: 10) + [index], flag: flag)
        }

        init(_ plaintext: [UInt8], counter: [UInt8], flag: UInt8) {
            (self.plaintext, self.counter, self.flag) = (plaintext, counter, flag)
        }
    }

    let description: String
    var aad = Array("PCB1".utf8) + [1]
    var size: Int64?
    let chunks: [Chunk]

    /// The reference with the blob's digest and, without a `size`, with the blob's size.
    func make() throws -> (blob: [UInt8], reference: BlobReference?) {
        let (key, backend) = (TestBlob.key, TestBlob.openSSL)
        var blob = Array("PCB1".utf8)
        for chunk in chunks {
            let nonce = chunk.counter + [chunk.flag]
            try backend.seal(
                .aes256GCM, key: key.bytes, nonce: nonce.bytes, aad: aad.bytes, plaintext: chunk.plaintext.bytes,
                appendingTo: &blob)
        }
        let count = chunks.reduce(0) { $0 + $1.plaintext.count }
        let digest = try backend.sha256(blob.bytes)
        return (blob, BlobReference(.attachment, key: key, size: size ?? Int64(count), sha256: digest))
    }
}
