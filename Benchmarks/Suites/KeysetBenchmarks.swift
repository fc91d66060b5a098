import Benchmark
import BenchmarkSupport
import PushCryptCore

/// From a file's bytes to keys that are checked and ready: one record, and a published set of eight.
func addKeysetBenchmarks(_ suite: Suite) {
    Benchmark("recipient from a JWK, suite \(suite.rawValue)") { benchmark, jwk in
        for _ in benchmark.scaledIterations { blackHole(try Recipient(jwk: jwk)) }
    } setup: {
        try TestKeys(suite: suite).publicJWK()
    }
    Benchmark("keyset of 8, suite \(suite.rawValue)") { benchmark, json in
        for _ in benchmark.scaledIterations { blackHole(try Keyset(json: json)) }
    } setup: {
        try keysetOfEight(suite)
    }
}

private func keysetOfEight(_ suite: Suite) throws -> [UInt8] {
    let entries = try (0..<8).flatMap { _ in try TestKeys(suite: suite).keyset.entries }
    return try Keyset(entries).jwkSet(withHistory: false)
}
