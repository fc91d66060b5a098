import Foundation
public import PushCryptSender
import Tracing

/// Seals the payloads of deliveries with the current signing key.
public struct PushSealer: Sendable {
    /// What a registration record must have, so that only this backend can seal to it, and this backend can't open what it has
    /// sealed.
    static let requirements: Registration.Requirements = [.psk, .asymmetric]

    /// The app's bundle identifier.
    public let topic: String
    private let signingKeys: KeysetWatcher
    private let sealer: Sealer

    /// - Parameters:
    ///   - signingKeys: follows the keyset's rotation. It chooses the key of each seal.
    ///   - placeholder: the text that a device shows if it can't open a push.
    /// - Throws: `KeyError` with `invalidTopic`, `wrongKind`.
    public init(
        topic: String, signingKeys: KeysetWatcher, placeholder: Placeholder = .standard
    ) throws(KeyError) {
        self.topic = topic
        self.signingKeys = signingKeys
        let telemetry = SealingTelemetry()
        sealer = try Sealer(
            topic: topic, signer: .watching(signingKeys), placeholder: placeholder, observer: telemetry.observe)
    }

    /// Whether the keyset's file is in use, and a key of it signs.
    var isHealthy: Bool { signingKeys.status.isHealthy }

    /// Makes a challenge for an uploaded record.
    ///
    /// - Throws: `SenderError`
    func challenge(_ registration: Registration, host: String) throws(SenderError) -> PossessionChallenge {
        try sealer.challenge(registration, host: host)
    }

    /// Seals a delivery. The message's id derives from the queue's message and the recipient. A repeated seal has the same id, so the
    /// device shows the push once.
    ///
    /// - Parameter time: in milliseconds since 1970.
    /// - Throws: `SenderError`, also for a record that can't be used.
    func seal(_ delivery: ClaimedDelivery, at time: Int64) throws -> SealedPush {
        try withSpan("seal") { span in
            let recipient = Recipient(try Registration(json: delivery.record, requiring: Self.requirements))
            let push = try sealer.seal(delivery.payload, to: recipient) { options in
                options.campaign = delivery.messageID
                options.expiresAfterInSeconds = min(max((delivery.expiresAt - time) / 1_000, 1), 30 * 86_400)
            }
            span.attributes["push.bytes"] = push.byteCount
            return push
        }
    }
}
