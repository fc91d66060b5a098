import Benchmark
import BenchmarkSupport
import PushCryptCore

/// From a file's bytes to checked keys that are ready for use: one record, and a published set of eight. For a shared
/// key also from the master to the recipient for a device.
func addKeysetBenchmarks(_ suite: Suite) {
    Benchmark("recipient from a JWK, suite \(suite.rawValue)") { benchmark, jwk in
        for _ in benchmark.scaledIterations { blackHole(try Recipient(jwk: jwk)) }
    } setup: {
        try TestKeys(suite: suite).publicJWK()
    }
    Benchmark("keyset of 8, suite \(suite.rawValue)") { benchmark, json in
        for _ in benchmark.scaledIterations { blackHole(try Keyset(json: json)) }
    } setup: {
        try TestKeys.publishedKeyset(suite, count: 8)
    }
    guard suite == .shared else { return }
    Benchmark("recipient from the master, suite 4") { benchmark, master in
        for _ in benchmark.scaledIterations {
            blackHole(try master.keyset.device(master.device).recipient(at: TestMessage.time))
        }
    } setup: {
        (keyset: try TestKeys(suite: suite).keyset, device: try DeviceID("6f1c9a52-0b7e-4a51-9d7c-2f4f6f0e7c11"))
    }
}
