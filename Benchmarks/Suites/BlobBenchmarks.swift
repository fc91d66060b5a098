import Benchmark
import PushCryptCore

/// Attachments: encryption and decryption of one mebibyte. The throughput in blobs a second is also in MiB a second.
func addBlobBenchmarks() {
    let plaintext = [UInt8](repeating: 0x5a, count: 1 << 20)
    Benchmark("seal, blob of 1 MiB") { benchmark in
        for _ in benchmark.scaledIterations { blackHole(try SealedBlob(plaintext, for: .attachment)) }
    }
    Benchmark("open, blob of 1 MiB") { benchmark, blob in
        for _ in benchmark.scaledIterations { blackHole(try BlobOpener.plaintext(of: blob.bytes, blob.reference)) }
    } setup: {
        try SealedBlob(plaintext, for: .attachment)
    }
}
