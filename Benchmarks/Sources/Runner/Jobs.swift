import BenchmarkSupport
import PushCryptCore
import PushCryptExtension
import PushCryptSender
import RunnerProtocol

/// The jobs of the library: seal1 open1 seal2 ... (256 bytes, what a message's encryption goes through) and
/// payload1seal payload1open ... (JSON in, JSON out, by the public interface).
enum Jobs {
    @Sendable
    static func operation(_ job: String) throws -> Work? {
        if job.hasPrefix("payload"), let suite = suite(job.dropFirst(7).prefix(1)) {
            switch job.dropFirst(8) {
            case "seal": return try payloadSeal(suite)
            case "open": return try payloadOpen(suite)
            default: return nil
            }
        }
        guard let suite = suite(job.dropFirst(4)) else { return nil }
        switch job.prefix(4) {
        case "seal": return try seal(suite)
        case "open": return try open(suite)
        default: return nil
        }
    }

    private static func suite(_ digit: Substring) -> Suite? {
        UInt8(digit).flatMap(Suite.init(rawValue:))
    }

    private static let message = [UInt8](repeating: UInt8(ascii: "x"), count: 256)

    private static func seal(_ suite: Suite) throws -> Work {
        let (recipient, topic, message) = (try TestKeys(suite: suite).recipient, try Topic(TestMessage.topic), message)
        return { _ = try Envelope.seal(message, to: recipient, signer: nil, topic: topic) }
    }

    private static func open(_ suite: Suite) throws -> Work {
        let (keys, topic) = (try TestKeys(suite: suite), try Topic(TestMessage.topic))
        let sealed = try Envelope.seal(message, to: keys.recipient, signer: nil, topic: topic)
        let key = keys.recipientKey
        return { _ = try Envelope.open(sealed, with: key, signedBy: nil, topic: topic) }
    }

    private static func payloadSeal(_ suite: Suite) throws -> Work {
        let (recipient, sealer) = (try TestKeys(suite: suite).recipient, Sealer(topic: TestMessage.topic))
        let payload = TestMessage.payload
        let sealed = Array(try sealer.seal(payload, to: recipient, placeholder: .standard).json)
        let message = try OuterPayload(JSONText(sealed)).sealed.count - suite.overheadByteCount
        precondition(message == TestMessage.paddedPayloadByteCount, "the library's payload jobs take \(message) bytes")
        return { _ = try sealer.seal(payload, to: recipient, placeholder: .standard) }
    }

    private static func payloadOpen(_ suite: Suite) throws -> Work {
        let keys = try TestKeys(suite: suite)
        let sealer = Sealer(topic: TestMessage.topic, clock: { TestMessage.time })
        let sealed = Array(try sealer.seal(TestMessage.payload, to: keys.recipient, placeholder: .standard).json)
        let opener = try Opener(topic: TestMessage.topic, keyring: KeysetKeyring(keys.keyset))
        return { _ = try opener.open(sealed, at: TestMessage.time).get() }
    }
}
