public import CoreMetrics
import Foundation
public import PushCryptSender
import Tracing

/// Seals the payloads of deliveries with the signing key of the moment.
public struct PushSealer: Sendable {
    /// What a registration record must have: only this backend can seal to it, and this backend can't open it.
    static let requirements: Registration.Requirements = [.psk, .asymmetric]

    /// What Apple can read of each push.
    public struct VisibleParts: Sendable {
        /// What a device shows that can't open a push.
        public var placeholder = Placeholder.standard
        /// Hides the length of the message.
        public var padding = PaddingPolicy.multiple(of: 128)
        /// The names of members of `aps`, such as `badge`, that each push has unencrypted too if its payload has them.
        public var exposed: [String] = []

        /// Creates the defaults.
        public init() {}
    }

    /// The app's bundle identifier.
    public let topic: String
    private let exposed: [String]
    private let signingKeys: KeysetWatcher
    private let sealer: Sealer
    /// A sealer whose pushes aren't sent, and not counted.
    private let plain: Sealer
    private let milliseconds: @Sendable () -> Int64

    /// - Parameters:
    ///   - signingKeys: follows the keyset's rotation. It chooses the key of each seal.
    ///   - visible: what Apple can read of each push.
    ///   - metrics: gets the duration and the size of each seal, and refusals.
    ///   - milliseconds: the clock, in milliseconds since 1970.
    /// - Throws: `KeyError` with `invalidTopic`, `wrongKind`.
    public init(
        topic: String, signingKeys: KeysetWatcher, visible: VisibleParts = VisibleParts(),
        metrics: any MetricsFactory = MetricsSystem.factory,
        milliseconds: @escaping @Sendable () -> Int64
    ) throws(KeyError) {
        self.topic = topic
        self.signingKeys = signingKeys
        self.milliseconds = milliseconds
        exposed = visible.exposed
        let telemetry = SealingTelemetry(metrics)
        func sealer(_ observer: (@Sendable (SealObservation) -> Void)?) throws(KeyError) -> Sealer {
            try Sealer(
                topic: topic, signer: .watching(signingKeys), placeholder: visible.placeholder,
                options: .init(padding: visible.padding), observer: observer,
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

    /// Checks what Apple can read, at the start of a service.
    ///
    /// - Throws: `SenderError` with `invalidPlaceholder` for a placeholder without text, `invalidOption` for the name of a member that
    ///   can't be exposed.
    func checkVisibleParts() throws {
        let sample = Recipient(try Registration(json: Self.sample, requiring: []))
        do { _ = try plain.seal(Data(#"{"aps":{"alert":"Hi"}}"#.utf8), to: sample) { $0.exposed = exposed } } catch let
            error as SenderError where error.isTemporary || error.code == .notExposable
        {
            // A payload can have a member of this name.
        }
    }

    /// Checks whether a payload can be sealed to some device.
    ///
    /// - Throws: `SenderError` with `invalidPayload`, `notExposable`, `tooLarge`.
    func check(_ payload: Data) throws {
        let encoded = try plain.encode(payload)
        let exposed = exposedMembers(of: payload)
        guard encoded.byteCount > Self.safeLengthInBytes || !exposed.isEmpty else { return }
        do {
            _ = try plain.seal(encoded, to: Recipient(Registration(json: Self.sample, requiring: []))) {
                $0.exposed = exposed
            }
        } catch let error as SenderError where error.isTemporary {
            // No key signs now. The message waits for one.
        }
    }

    private func exposedMembers(of payload: Data) -> [String] {
        guard !exposed.isEmpty, let json = try? StrictJSON(payload) else { return [] }
        let members = json.names(in: "aps")
        return exposed.filter(members.contains)
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
                options.exposed = exposedMembers(of: delivery.payload)
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
