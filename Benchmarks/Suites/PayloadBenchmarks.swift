import Benchmark
import BenchmarkSupport
import PushCryptCore
import PushCryptExtension
import PushCryptSender

/// From JSON to JSON, by the public interface.
func addPayloadBenchmarks(_ suite: Suite) {
    Benchmark("seal, suite \(suite.rawValue), payload of \(TestMessage.payload.count) bytes") { benchmark, keys in
        let sealer = try Sealer(topic: TestMessage.topic)
        for _ in benchmark.scaledIterations {
            blackHole(try sealer.seal(TestMessage.payload, to: keys.recipient))
        }
    } setup: {
        try TestKeys(suite: suite)
    }
    Benchmark("open, suite \(suite.rawValue), payload of \(TestMessage.payload.count) bytes") { benchmark, received in
        for _ in benchmark.scaledIterations {
            blackHole(try received.opener.open(received.payload, at: TestMessage.time).get())
        }
    } setup: {
        try ReceivedPayload(suite)
    }
}

private struct ReceivedPayload {
    let opener: Opener
    let payload: [UInt8]

    init(_ suite: Suite) throws {
        let keys = try TestKeys(suite: suite)
        let sealer = try Sealer(topic: TestMessage.topic, clock: { TestMessage.time })
        let sealed = try sealer.seal(TestMessage.payload, to: keys.recipient)
        payload = Array(sealed.json)
        opener = try Opener(topic: TestMessage.topic, keyring: KeysetKeyring(keys.keyset), senders: .unsigned)
    }
}
