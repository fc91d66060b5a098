import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct BlobFormatTests {
    @Test(
        "a chunk's nonce is its index in 11 bytes and a byte for the last chunk",
        arguments: [
            (0, false, "00000000000000 00000000 00"), (0, true, "00000000000000 00000000 01"),
            (1, false, "00000000000000 00000001 00"), (255, true, "00000000000000 000000ff 01"),
            (256, false, "00000000000000 00000100 00"), (0x0102_0304, false, "00000000000000 01020304 00"),
            (0xffff_ffff, true, "00000000000000 ffffffff 01"),
        ] as [(Int64, Bool, String)])
    func nonce(index: Int64, isLast: Bool, hex: String) {
        #expect(BlobFormat.nonce(index, isLast: isLast) == [UInt8](hex: hex))
    }

    @Test("the aad is the magic and a byte for the purpose")
    func aad() {
        #expect(BlobFormat.aad(.attachment) == [UInt8](hex: "50434231 01"))
        #expect(BlobFormat.aad(.payload) == [UInt8](hex: "50434231 02"))
    }

    @Test(
        "a plaintext's length determines the number of chunks and the blob's length",
        arguments: [
            (0, 1, 20), (1, 1, 21), (65_535, 1, 65_555), (65_536, 1, 65_556), (65_537, 2, 65_573),
            (131_072, 2, 131_108), (131_073, 3, 131_125),
            (1 << 48, 1 << 32, 4 + (1 << 48) + (16 << 32)),
        ] as [(Int64, Int64, Int64)])
    func lengths(size: Int64, chunks: Int64, bytes: Int64) {
        #expect(BlobFormat.chunkCount(size: size) == chunks)
        #expect(BlobFormat.blobByteCount(size: size) == bytes)
    }

    @Test("the longest plaintext has as many chunks as there are counters")
    func longest() {
        #expect(BlobFormat.chunkCount(size: BlobFormat.maximumSize) == BlobFormat.maximumChunkCount)
        #expect(BlobFormat.chunkCount(size: BlobFormat.maximumSize + 1) > BlobFormat.maximumChunkCount)
        let digest = [UInt8](repeating: 0, count: 32)
        let sizes: [(Int64, Bool)] = [(0, true), (1 << 48, true), ((1 << 48) + 1, false), (-1, false), (.max, false)]
        for (size, isOne) in sizes {
            let reference = BlobReference(.attachment, key: TestBlob.key, size: size, sha256: digest)
            #expect((reference != nil) == isOne, "\(size)")
        }
    }

    @Test("a key or digest of another length makes no reference", arguments: [0, 16, 31, 33, 64])
    func otherLengths(count: Int) {
        let (other, right) = ([UInt8](repeating: 1, count: count), [UInt8](repeating: 1, count: 32))
        let key = SecretBytes(copying: other.bytes)
        #expect(BlobReference(.payload, key: key, size: 1, sha256: right) == nil)
        #expect(BlobReference(.payload, key: TestBlob.key, size: 1, sha256: other) == nil)
    }
}
