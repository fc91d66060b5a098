import BenchmarkSupport
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import RunnerProtocol

/// The jobs of the library, for each suite that this OpenSSL has: seal1 open1 seal2 ... (the encryption of a message of 256 bytes) and payload1seal
/// payload1open ... (from JSON to JSON, by the public interface). seal1.64 is for a message of 64 bytes.
enum Jobs {
    @Sendable
    static func operation(_ job: String) throws -> Work? {
        guard let parsed = job.wholeMatch(of: #/([a-z]+)([1234])([a-z]*)(?:\.([0-9]{1,4}))?/#),
            let suite = UInt8(parsed.2).flatMap(Suite.init(rawValue:)), suite.isAvailable
        else { return nil }
        let byteCount = parsed.4.flatMap { Int($0) } ?? 256
        switch parsed.1 + parsed.3 {
        case "seal": return try seal(suite, byteCount)
        case "open": return try open(suite, byteCount)
        case "payloadseal": return try payloadSeal(suite)
        case "payloadopen": return try payloadOpen(suite)
        default: return try CostJobs.operation(parsed.1, suite)
        }
    }

    private static func message(_ byteCount: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: "x"), count: byteCount)
    }

    private static func seal(_ suite: Suite, _ byteCount: Int) throws -> Work {
        let (recipient, topic) = (try TestKeys(suite: suite).recipient, try Topic(TestMessage.topic))
        let message = message(byteCount)
        return { _ = try Envelope.seal(message, to: recipient, signer: nil, topic: topic) }
    }

    private static func open(_ suite: Suite, _ byteCount: Int) throws -> Work {
        let (keys, topic) = (try TestKeys(suite: suite), try Topic(TestMessage.topic))
        let sealed = try Envelope.seal(message(byteCount), to: keys.recipient, signer: nil, topic: topic)
        let key = keys.recipientKey
        return { _ = try Envelope.open(sealed, with: key, signedBy: nil, topic: topic) }
    }

    private static func payloadSeal(_ suite: Suite) throws -> Work {
        let (recipient, sealer) = (try TestKeys(suite: suite).recipient, try Sealer(topic: TestMessage.topic))
        let payload = TestMessage.payload
        let sealed = Array(try sealer.seal(payload, to: recipient).json)
        let message = try OuterPayload(JSONText(sealed)).sealed.count - suite.overheadByteCount
        precondition(message == TestMessage.paddedPayloadByteCount, "the library's payload jobs take \(message) bytes")
        return { _ = try sealer.seal(payload, to: recipient) }
    }

    private static func payloadOpen(_ suite: Suite) throws -> Work {
        let keys = try TestKeys(suite: suite)
        let sealer = try Sealer(topic: TestMessage.topic, clock: { TestMessage.time })
        let sealed = Array(try sealer.seal(TestMessage.payload, to: keys.recipient).json)
        let opener = try Opener(topic: TestMessage.topic, keyring: KeysetKeyring(keys.keyset), senders: .unsigned)
        return { _ = try opener.open(sealed, at: TestMessage.time).get() }
    }
}
