import PushCryptCore
import PushCryptExtension
import PushCryptSender
import RunnerProtocol

/// The jobs of the library: seal1 open1 seal2 ... (256 bytes, what a message's encryption goes through) and
/// payload1seal payload1open ... (JSON in, JSON out, by the public interface).
enum Jobs {
    static let topic = "com.example.app"
    static let now = UnixTime(1_800_000_000)

    /// A chat message of 400 bytes, which is padded to 512.
    static let payload = Array(
        """
        {"aps":{"alert":{"title":"Ada Lovelace","subtitle":"Analytical Engine","body":"The Engine might compose \
        elaborate and scientific pieces of music of any degree of complexity or extent."},"badge":3,\
        "sound":"message.caf","thread-id":"conversation-71c2","category":"MESSAGE","interruption-level":"active"},\
        "conversation":"71c2b9f0-8d2e-4f0c-9a54-1f3b7f9f3a10","message":918273645,"sender":{"id":"ada","avatar":null}}
        """.utf8)

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
        let (recipient, topic, message) = (try TestKeys(suite: suite).recipient, try Topic(topic), message)
        return { _ = try Envelope.seal(message, to: recipient, signer: nil, topic: topic) }
    }

    private static func open(_ suite: Suite) throws -> Work {
        let (keys, topic) = (try TestKeys(suite: suite), try Topic(topic))
        let sealed = try Envelope.seal(message, to: keys.recipient, signer: nil, topic: topic)
        let key = keys.recipientKey
        return { _ = try Envelope.open(sealed, with: key, signedBy: nil, topic: topic) }
    }

    private static func payloadSeal(_ suite: Suite) throws -> Work {
        let (recipient, sealer) = (try TestKeys(suite: suite).recipient, Sealer(topic: topic))
        let payload = payload
        let sealed = Array(try sealer.seal(payload, to: recipient, placeholder: .standard).json)
        let message = try OuterPayload(JSONText(sealed)).sealed.count - suite.overheadByteCount
        precondition(message == 512, "the floor's payload jobs take 512 bytes, the library's \(message)")
        return { _ = try sealer.seal(payload, to: recipient, placeholder: .standard) }
    }

    private static func payloadOpen(_ suite: Suite) throws -> Work {
        let keys = try TestKeys(suite: suite)
        let sealer = Sealer(topic: topic, clock: { now })
        let sealed = Array(try sealer.seal(payload, to: keys.recipient, placeholder: .standard).json)
        let opener = try Opener(topic: topic, keyring: KeysetKeyring(keys.keyring))
        return { _ = try opener.open(sealed, at: now).get() }
    }
}
