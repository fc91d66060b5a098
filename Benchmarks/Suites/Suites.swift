import Benchmark
import BenchmarkSupport
import PushCryptCore

// A benchmark makes its keys and messages before the measurement. `swift package benchmark` prints wall time,
// throughput and, if the system counts them, instructions.

let benchmarks: @Sendable () -> Void = {
    Benchmark.defaultConfiguration = .init(
        metrics: [.wallClock, .instructions, .throughput], timeUnits: .nanoseconds, warmupIterations: 20,
        maxDuration: .milliseconds(400))
    for suite in [Suite.p256, .x25519, .shared] {
        for profile in MessageProfile.all(of: suite) {
            for byteCount in [64, 256, 2_048] {
                addMessageBenchmarks(suite, profile, byteCount: byteCount)
            }
        }
        addPayloadBenchmarks(suite)
        addKeysetBenchmarks(suite)
    }
    addBlobBenchmarks()
}
