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
    /// A sealer whose pushes aren't sent, and not counted.
    private let plain: Sealer
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
        func sealer(_ observer: (@Sendable (SealObservation) -> Void)?) throws(KeyError) -> Sealer {
            try Sealer(
                topic: topic, signer: .watching(signingKeys), placeholder: placeholder, observer: observer,
                clock: { UnixTime(milliseconds() / 1_000) })
        }
        self.sealer = try sealer(telemetry.observe)
        plain = try sealer(nil)
    }

    /// A public key that belongs to no device, to find faults before there is a receiver: messages to keys of its kind are the
    /// shortest that a registration can have.
    private static let sample = Data(
        """
        {"kty":"OKP","crv":"X25519","x":"CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","alg":"HPKE-3","kid":"mtr3IeKcdvs"}
        """.utf8)
    /// Each payload up to this length fits into a push.
    private static let safeLengthInBytes = 2_048

    /// Checks what a registration's answer depends on, at the start of a service.
    ///
    /// - Throws: `SenderError` with `invalidOption` for a host of another form.
    func check(host: String) throws {
        do { _ = try challenge(Registration(json: Self.sample, requiring: []), host: host) } catch
            where error.isTemporary
        {
            // The host was checked before the key was chosen.
        }
    }

    /// Checks whether a payload can be sealed to some device.
    ///
    /// - Throws: `SenderError` with `invalidPayload`, `tooLarge`.
    func check(_ payload: Data) throws {
        let encoded = try plain.encode(payload)
        guard encoded.byteCount > Self.safeLengthInBytes else { return }
        do {
            _ = try plain.seal(encoded, to: Recipient(Registration(json: Self.sample, requiring: [])))
        } catch let error as SenderError where error.isTemporary {
            // No key signs now. The message waits for one.
        }
    }

    /// The state of the keyset that signs.
    var signingKeyStatus: KeysetWatcher.Status { signingKeys.status }

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

extension SenderError {
    /// Whether the same call can succeed later: when the operator has added a signing key, or the system has memory again.
    var isTemporary: Bool { code == .noKeySeals || code == .backendFailure }
}
