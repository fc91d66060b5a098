import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct BlobRoundTripTests {
    static let edges = [
        0, 1, 2, 15, 16, 17, 4_096, 65_520, 65_534, 65_535, 65_536, 65_537, 65_552, 65_553, 131_071, 131_072, 131_073,
        196_607, 196_608, 196_609, 300_000,
    ]

    @Test(
        "both backends seal a plaintext of any size to the same blob and open each other's", arguments: edges,
        Backends.pairs.filter { $0.first.name != $0.second.name })
    func everySize(count: Int, pair: BackendPair) throws {
        let purpose = count.isMultiple(of: 2) ? BlobPurpose.attachment : .payload
        let plaintext = TestBlob.plaintext(count)
        let (blob, reference) = try TestBlob.sealed(plaintext, purpose, pair.first)
        #expect(try TestBlob.sealed(plaintext, purpose, pair.second).blob == blob)
        #expect(blob.count == BlobFormat.blobByteCount(size: Int64(count)))
        #expect(reference.size == count)
        #expect(reference.purpose == purpose)
        #expect(try reference.sha256 == pair.second.sha256(blob.bytes))
        #expect(try TestBlob.opened(blob, reference, pair.second) == plaintext)
    }

    static let pieces: [TestBlob.Pieces] =
        [.of(65_535), .of(65_536), .of(65_537), .of(65_552), .of(131_072), .of(1), .of(16), .of(1_000)]
        + (0..<6).map { .random(200_000, seed: $0) } + (6..<10).map { .random(3_000, seed: $0) }

    @Test("a blob doesn't depend on the pieces in which it is sealed or opened", arguments: pieces)
    func anyPieces(pieces: TestBlob.Pieces) throws {
        for count in LongTests.areEnabled ? [0, 1, 65_536, 65_537, 131_072, 200_001] : [0, 1, 65_536, 131_073] {
            let plaintext = TestBlob.plaintext(count)
            let (whole, reference) = try TestBlob.sealed(plaintext)
            let (blob, sameReference) = try TestBlob.sealed(plaintext, pieces: pieces)
            #expect(blob == whole, "\(count)")
            #expect(sameReference == reference)
            #expect(try TestBlob.opened(blob, reference, pieces: pieces) == plaintext, "\(count)")
        }
    }

    @Test("sealer and opener never buffer more than one chunk")
    func nothingPilesUp() throws {
        let plaintext = TestBlob.plaintext(400_000)
        let sealer = BlobSealer(.attachment, key: TestBlob.key, backend: TestBlob.openSSL)
        var (blob, taken) = ([UInt8](), 0)
        for piece in TestBlob.Pieces.of(1_000).split(plaintext) {
            try sealer.seal(piece, appendingTo: &blob)
            taken += piece.count
            #expect(taken - blob.count <= TestBlob.chunk)
        }
        let reference = try sealer.finish(appendingTo: &blob)
        let opener = BlobOpener(reference, backend: TestBlob.openSSL)
        var (opened, given) = ([UInt8](), 0)
        for piece in TestBlob.Pieces.of(1_000).split(blob) {
            try opener.open(piece, appendingTo: &opened)
            given += piece.count
            #expect(given - opened.count < TestBlob.chunk + 10 * TestBlob.tag)
        }
        try opener.finish()
        #expect(opened == plaintext)
    }

    @Test("twenty blobs of one plaintext have twenty keys and twenty ciphertexts, and open", arguments: Backends.all)
    func freshKeys(named: NamedBackend) throws {
        let plaintext = TestBlob.plaintext(100)
        let blobs = try (0..<20).map { _ in try SealedBlob(plaintext, for: .attachment, backend: named.backend) }
        #expect(Set(blobs.map(\.bytes)).count == 20)
        for (index, blob) in blobs.enumerated() {
            #expect(!blobs[..<index].contains { $0.reference.key == blob.reference.key })
            #expect(blob.reference.key.count == 32)
            #expect(blob.reference.blobByteCount == blob.bytes.count)
            #expect(try BlobOpener.plaintext(of: blob.bytes, blob.reference, backend: named.backend) == plaintext)
        }
    }
}
