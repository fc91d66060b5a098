import PushCryptPrimitives
import PushCryptTestSupport
import Testing

@testable import PushCryptCore

@Suite struct BlobSealerTests {
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
            (131_072, 2, 131_108), (131_073, 3, 131_125), (1 << 48, 1 << 32, 4 + (1 << 48) + (16 << 32)),
        ] as [(Int64, Int64, Int64)])
    func lengths(size: Int64, chunks: Int64, bytes: Int64) {
        #expect(BlobFormat.chunkCount(size: size) == chunks)
        #expect(BlobFormat.blobByteCount(size: size) == bytes)
    }

    @Test("the longest plaintext has as many chunks as there are counters")
    func longest() {
        #expect(BlobFormat.chunkCount(size: BlobFormat.maximumSize) == BlobFormat.maximumChunkCount)
        #expect(BlobFormat.chunkCount(size: BlobFormat.maximumSize + 1) > BlobFormat.maximumChunkCount)
    }

    @Test(
        "a sealer uses the last counter and refuses a chunk after it",
        arguments: [(1, 65_536, true), (2, 65_537, true), (1, 65_537, false), (0, 0, false), (2, 131_073, false)])
    func counterLimit(chunksLeft: Int64, count: Int, isEnough: Bool) throws {
        let first = BlobFormat.maximumChunkCount - chunksLeft
        let sealer = BlobSealer(.attachment, key: TestBlob.key, firstIndex: first, backend: TestBlob.openSSL)
        var blob: [UInt8] = []
        func seal() throws {
            try sealer.seal(TestBlob.plaintext(count), appendingTo: &blob)
            _ = try sealer.finish(appendingTo: &blob)
        }
        guard isEnough else {
            expectBlobError(.tooLong) { try seal() }
            expectBlobError(.finished) { try sealer.finish(appendingTo: &blob) }
            return
        }
        try seal()
        let last = Array(blob.suffix((count - 1) % TestBlob.chunk + 1 + TestBlob.tag))
        let nonce = [UInt8](hex: "00000000000000 ffffffff 01")
        let aad = BlobFormat.aad(.attachment)
        let plaintext = try TestBlob.openSSL.open(
            .aes256GCM, key: TestBlob.key.bytes, nonce: nonce.bytes, aad: aad.bytes, ciphertext: last.bytes)
        #expect(plaintext.count == (count - 1) % TestBlob.chunk + 1)
    }

    @Test("a sealer that has finished refuses every further call")
    func nothingAfterTheEnd() throws {
        let sealer = try BlobSealer(.payload, backend: TestBlob.openSSL)
        var blob: [UInt8] = []
        _ = try sealer.finish(appendingTo: &blob)
        let before = blob
        expectBlobError(.finished) { try sealer.seal([1], appendingTo: &blob) }
        expectBlobError(.finished) { try sealer.finish(appendingTo: &blob) }
        #expect(blob == before)
    }

    @Test("a sealer that has failed once refuses every further call")
    func failure() throws {
        let backend = StubBackend(TestBlob.openSSL, failing: [.random, .seal])
        expectBlobError(.backendFailure) { try BlobSealer(.payload, backend: backend) }
        let sealer = BlobSealer(.attachment, key: TestBlob.key, backend: backend)
        var blob: [UInt8] = []
        expectBlobError(.backendFailure) { try sealer.seal(TestBlob.plaintext(70_000), appendingTo: &blob) }
        #expect(blob == Array("PCB1".utf8))
        expectBlobError(.finished) { try sealer.finish(appendingTo: &blob) }
    }

    @Test("a failure of the backend in an opener is an internal error")
    func openerFailure() throws {
        let (blob, reference) = try TestBlob.sealed(TestBlob.plaintext(10))
        #expect(throws: FailureClass.internalError) {
            try BlobOpener.plaintext(
                of: blob, reference, backend: StubBackend(TestBlob.openSSL, failing: [.open]))
        }
    }

    @Test("printing references and blobs shows no key, digest or URL")
    func nothingIsPrinted() throws {
        let sealed = try SealedBlob([1], for: .attachment, backend: TestBlob.openSSL)
        let reference = sealed.reference
        #expect("\(reference)" == "BlobReference(attachment, 1 bytes)")
        #expect(String(reflecting: reference) == "BlobReference(attachment, 1 bytes)")
        var dumped = ""
        dump(reference, to: &dumped)
        #expect(dumped == "- BlobReference(attachment, 1 bytes)\n")
        let url = "https://example.com/secret"
        let attachment = try AttachmentReference(url: url, blob: reference, type: "a/b")
        #expect("\(attachment)" == "AttachmentReference(a/b, 1 bytes)")
        let payload = try SealedBlob([1], for: .payload, backend: TestBlob.openSSL).reference
        #expect("\(try OffloadReference(url: url, blob: payload))" == "OffloadReference(1 bytes)")
    }
}
