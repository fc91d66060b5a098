import Foundation
public import PushCryptSender
import Tracing

/// Seals the payloads of deliveries with the signing key of the moment.
public struct PushSealer: Sendable {
    /// What a registration record must have: only this backend can seal to it, and this backend can't open it.
    static let requirements: Registration.Requirements = [.psk, .asymmetric]

    /// The app's bundle identifier.
    public let topic: String
    private let signingKeys: KeysetWatcher
    private let sealer: Sealer
    private let milliseconds: @Sendable () -> Int64

    /// - Parameters:
    ///   - signingKeys: follows the keyset's rotation. It chooses the key of each seal.
    ///   - placeholder: what a device shows that can't open a push.
    ///   - milliseconds: the clock, in milliseconds since 1970.
    /// - Throws: `KeyError` with `invalidTopic`, `wrongKind`.
    public init(
        topic: String, signingKeys: KeysetWatcher, placeholder: Placeholder = .standard,
        milliseconds: @escaping @Sendable () -> Int64
    ) throws(KeyError) {
        self.topic = topic
        self.signingKeys = signingKeys
        self.milliseconds = milliseconds
        let telemetry = SealingTelemetry()
        sealer = try Sealer(
            topic: topic, signer: .watching(signingKeys), placeholder: placeholder, observer: telemetry.observe,
            clock: { UnixTime(milliseconds() / 1_000) })
    }

    /// Whether the keyset's file is in use, and a key of it signs.
    var isHealthy: Bool { signingKeys.status.isHealthy }

    /// Makes a challenge for an uploaded record.
    ///
    /// - Throws: `SenderError`
    func challenge(_ registration: Registration, host: String) throws(SenderError) -> PossessionChallenge {
        try sealer.challenge(registration, host: host)
    }

    /// Seals a delivery. The message's id derives from the queue's message and the recipient: a repeated seal has the same one, so
    /// the device shows the push once.
    ///
    /// - Throws: `SenderError`, also for a record that can't be used.
    func seal(_ delivery: ClaimedDelivery) throws -> SealedPush {
        try withSpan("seal") { span in
            let recipient = Recipient(try Registration(json: delivery.record, requiring: Self.requirements))
            let push = try sealer.seal(delivery.payload, to: recipient) { options in
                options.campaign = delivery.messageID
                options.expiresAfterInSeconds = min(max((delivery.expiresAt - milliseconds()) / 1_000, 1), 30 * 86_400)
            }
            span.attributes["push.bytes"] = push.byteCount
            return push
        }
    }
}
