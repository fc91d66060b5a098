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

    static let wrong = [
        HandmadeBlob(description: "no last chunk", chunks: [.init(short, 0, flag: 0)]),
        HandmadeBlob(description: "empty, no last chunk", chunks: [.init([], 0, flag: 0)]),
        HandmadeBlob(description: "no chunk", size: 0, chunks: []),
        HandmadeBlob(description: "flag 2", chunks: [.init(short, 0, flag: 2)]),
        HandmadeBlob(description: "flag 0xff", chunks: [.init(short, 0, flag: 0xff)]),
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
        HandmadeBlob(description: "counters from 1", chunks: [.init(short, 1, flag: 1)]),
        HandmadeBlob(description: "a counter twice", chunks: [.init(full, 0, flag: 0), .init(short, 0, flag: 1)]),
        HandmadeBlob(description: "a counter left out", chunks: [.init(full, 0, flag: 0), .init(short, 2, flag: 1)]),
        HandmadeBlob(
            description: "a little-endian counter",
            chunks: [.init(full, 0, flag: 0), .init(short, counter: [1] + zeros, flag: 1)]),
        HandmadeBlob(
            description: "the flag before the counter",
            chunks: [.init(short, counter: [1] + zeros, flag: 0)]),
        HandmadeBlob(
            description: "a counter of 2^32",
            chunks: [.init(short, counter: zeros.dropLast(4) + [1, 0, 0, 0, 0], flag: 1)]),
        HandmadeBlob(description: "another magic", magic: Array("PCB2".utf8), chunks: [.init(short, 0, flag: 1)]),
        HandmadeBlob(description: "no magic", magic: [], chunks: [.init(short, 0, flag: 1)]),
        HandmadeBlob(description: "no aad", aad: [], chunks: [.init(short, 0, flag: 1)]),
        HandmadeBlob(description: "purpose 0", aad: Array("PCB1".utf8) + [0], chunks: [.init(short, 0, flag: 1)]),
        HandmadeBlob(description: "purpose payload", aad: Array("PCB1".utf8) + [2], chunks: [.init(short, 0, flag: 1)]),
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
