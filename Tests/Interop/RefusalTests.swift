import PushCryptCore
import PushCryptExtension
import PushCryptSender
import PushCryptTestSupport
import Testing

/// Both implementations refuse the same payloads with the classes of the protocol.
@Suite(.enabled(if: Python.isAvailable, Python.missing)) struct RefusalTests {
    /// Unsigned to a recipient that pins no sender, and signed to one that does.
    private static let channels = [
        Channel("p256", isSigned: false), Channel("x25519 psk", isSigned: true), Channel("device", isSigned: false),
    ]

    private static func expect(
        _ failure: FailureClass?, _ payload: [UInt8], _ channel: Channel, _ comment: Comment,
        at time: Int64 = Push.now, topic: String = Push.topic, _ location: SourceLocation = #_sourceLocation
    ) throws {
        let reference = try Outcome.python(payload, channel, at: time, topic: topic)
        if let failure {
            #expect(reference == .refused(failure), comment, sourceLocation: location)
        } else {
            #expect(reference.inner != nil, comment, sourceLocation: location)
        }
        for backend in Backends.all {
            let own = try Outcome.swift(payload, channel, backend.backend, at: time, topic: topic)
            #expect(own == reference, comment, sourceLocation: location)
        }
    }

    @Test("both implementations refuse broken payloads with the same class", arguments: channels)
    func brokenPayloads(channel: Channel) throws {
        for broken in BrokenPayload.all(channel) {
            try Self.expect(broken.failure, broken.bytes, channel, "\(broken)")
        }
    }

    /// The messages are encrypted correctly, as an attacker with the public key can do it.
    @Test("both implementations refuse broken messages with the same class", arguments: channels, MessageCase.all)
    func brokenMessages(channel: Channel, message: MessageCase) throws {
        for backend in Backends.all {
            let recipient = try channel.key.recipient(backend.backend)
            let signer = try channel.signer?.sender(backend.backend)
            let sealed = try Envelope.seal(
                message.bytes, to: recipient, signer: signer, topic: try Topic(Push.topic))
            let frame = OuterFrame(
                placeholder: Array("\"x\"".utf8), exposed: [], kid: recipient.kid, skid: signer?.kid)
            try Self.expect(message.failure, frame.payload(sealed: sealed), channel, "\(message)")
        }
    }

    @Test("both implementations treat signatures alike") func signatures() throws {
        let key = JWK.named("x25519")
        let (unsigned, signed) = (Channel("x25519", isSigned: false), Channel("x25519", isSigned: true))
        let backend = Backends.openSSL.backend
        let push = Push(description: "")
        try Self.expect(.undecryptable, push.seal(unsigned, backend), signed, "unsigned, senders pinned")
        try Self.expect(.unknownKey, push.seal(signed, backend), unsigned, "signed, none pinned")
        let stranger = try Sealer(
            topic: Push.topic, signer: .key(JWK.named("other sender").sender(backend)), clock: { UnixTime(Push.now) }
        ).seal(Array(push.inner.utf8), to: key.recipient(backend), placeholder: push.placeholder)
        let payload = Array(stranger.json)
        let another = Channel("pins another", key, trusted: [JWK.named("sender").withoutPrivateKey])
        for channel in [unsigned, another] {
            try Self.expect(.unknownKey, payload, channel, "signed by an unknown sender")
        }
        let (own, other) = (JWK.named("sender")["kid"] ?? "", JWK.named("other sender")["kid"] ?? "")
        let text = try String(decoding: push.seal(signed, backend), as: UTF8.self)
        let renamed = Array(text.replacing(own, with: other).utf8)
        try Self.expect(.undecryptable, renamed, signed, "the skid of another pinned sender")
    }

    /// Seconds after sealing.
    @Test(
        "both implementations refuse stale messages alike",
        arguments: [
            (0, nil), (Push.window - 1, nil), (Push.window, FailureClass.expired), (9 * Push.window, .expired),
            (-600, nil),
            (-601, .notYetValid), (-Push.now, .notYetValid),
        ])
    func freshness(seconds: Int64, failure: FailureClass?) throws {
        for channel in Self.channels {
            let payload = try Push(description: "").seal(channel, Backends.openSSL.backend)
            try Self.expect(failure, payload, channel, "\(channel)", at: Push.now + seconds)
        }
    }

    @Test(
        "both implementations refuse another topic",
        arguments: ["com.example.App", "com.example", "com.example.app.extension", "a"])
    func otherTopic(topic: String) throws {
        for channel in Channel.all {
            let payload = try Push(description: "").seal(channel, Backends.cryptoKit.backend)
            try Self.expect(.undecryptable, payload, channel, "\(channel)", topic: topic)
        }
    }
}
