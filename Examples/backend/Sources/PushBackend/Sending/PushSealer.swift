import Foundation
import PushCryptSender

/// Seals the payloads of deliveries with the signing key of the moment, and makes challenges for registrations.
struct PushSealer: Sendable {
    /// What a registration record must have: only this backend can seal to it, and this backend can't open it.
    static let requirements: Registration.Requirements = [.psk, .asymmetric]

    /// The app's bundle identifier.
    let topic: String
    /// The host of this service's address, as the app knows it: a device's answer to a challenge contains it.
    let host: String
    private let signingKeys: KeysetWatcher
    private let sealer: Sealer
    private let milliseconds: @Sendable () -> Int64

    /// - Parameters:
    ///   - signingKeys: follows the keyset's rotation. It chooses the key of each seal.
    ///   - placeholder: what a device shows that can't open a push. Apple can read it.
    ///   - milliseconds: the clock, in milliseconds since 1970.
    /// - Throws: `ConfigurationError` for a value that no push can have.
    init(
        topic: String, host: String, signingKeys: KeysetWatcher, placeholder: Placeholder = .standard,
        milliseconds: @escaping @Sendable () -> Int64
    ) throws(ConfigurationError) {
        self.topic = topic
        self.host = host
        self.signingKeys = signingKeys
        self.milliseconds = milliseconds
        do {
            // The padding hides the length of the message.
            sealer = try Sealer(
                topic: topic, signer: .watching(signingKeys), placeholder: placeholder,
                options: .init(padding: .multiple(of: 128)), clock: { UnixTime(milliseconds() / 1_000) })
        } catch { throw ConfigurationError(error.code == .invalidTopic ? "topic" : "signing-keys", error.reason) }
        try Self.require("registration-host") { _ = try challenge(Self.sample) }
        try Self.require("placeholder-title") { try check(Data(#"{"aps":{"alert":"Hi"}}"#.utf8)) }
    }

    private static func require(_ option: String, _ body: () throws -> Void) throws(ConfigurationError) {
        do { try body() } catch let error as SenderError where error.isTemporary {
            // The host and the placeholder are checked before a key is chosen.
        } catch { throw ConfigurationError(option, OptionFile.reason(error)) }
    }

    /// A public key that belongs to no device, to find faults before there is a receiver: messages to keys of its kind are the
    /// shortest that a registration can have.
    private static var sample: Registration {
        get throws(SenderError) {
            let record = #"""
                {"kty":"OKP","crv":"X25519","x":"CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","alg":"HPKE-3","kid":"mtr3IeKcdvs"}
                """#
            return try Registration(json: Data(record.utf8), requiring: [])
        }
    }

    /// Checks whether a payload can be sealed to some device.
    ///
    /// - Throws: `SenderError` with `invalidPayload`, `tooLarge`.
    func check(_ payload: Data) throws {
        let encoded = try sealer.encode(payload)
        do { _ = try sealer.seal(encoded, to: Recipient(Self.sample)) } catch let error as SenderError
            where error.isTemporary
        {
            // No key signs now. The message waits for one.
        }
    }

    /// The state of the keyset that signs.
    var signingKeyStatus: KeysetWatcher.Status { signingKeys.status }

    /// Makes a challenge for an uploaded record.
    ///
    /// - Throws: `SenderError`
    func challenge(_ registration: Registration) throws(SenderError) -> PossessionChallenge {
        try sealer.challenge(registration, host: host)
    }

    /// Seals a delivery. The message's id derives from the queue's message and the recipient: a repeated seal has the same one, so
    /// the device shows the push once.
    ///
    /// - Throws: `SenderError`, also for a record that can't be used.
    func seal(_ delivery: ClaimedDelivery) throws -> SealedPush {
        let recipient = Recipient(try Registration(json: delivery.record, requiring: Self.requirements))
        return try sealer.seal(delivery.payload, to: recipient) { options in
            options.campaign = delivery.messageID
            let rest = Duration.seconds(max((delivery.expiresAt - milliseconds()) / 1_000, 1))
            options.expiresAfter = min(rest, recipient.longestLifetime)
        }
    }
}

extension SenderError {
    /// Whether the same call can succeed later: when the operator has added a signing key, or the system has memory again.
    var isTemporary: Bool { code == .noKeySeals || code == .backendFailure }
}
