public import PushCryptCore
package import PushCryptPrimitives

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Seals notifications: encrypts the content and leaves a placeholder visible.
///
/// It is immutable and may be used from any thread. Make one per app and keep it.
///
/// ```swift
/// let sealer = try Sealer(topic: "com.example.app", signer: .watching(keys), options: .init(exposed: ["badge"]))
/// let push = try sealer.seal(notification, to: recipient) { $0.campaign = "order-4711" }
/// ```
public struct Sealer: Sendable {
    let topic: Topic
    let signer: Signer?
    /// The placeholder's JSON; nil if the placeholder has no text.
    private let alert: [UInt8]?
    private let options: Options
    private let encoder: JSONEncoder
    private let observer: (@Sendable (SealObservation) -> Void)?
    let clock: @Sendable () -> UnixTime

    /// Makes a sealer for one app.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle identifier, 1 to 155 characters, as configured in the app's extension. With another topic
    ///     every push shows its placeholder.
    ///   - signer: signs every message, for recipients that pin this sender; nil for unsigned messages.
    ///   - placeholder: the unencrypted text of pushes that are given none.
    ///   - options: the options of every push; a call can change them for its push.
    ///   - encoder: encodes payloads that aren't JSON already; nil for ``standardEncoder()``.
    ///   - observer: called after each push, also a refused one, on the thread that seals.
    ///   - clock: the time of the messages.
    /// - Throws: `KeyError` with `invalidTopic`; `wrongKind` if the signer watches other keys than a sender's.
    public init(
        topic: String, signer: Signer? = nil, placeholder: Placeholder = .standard, options: Options = Options(),
        encoder: JSONEncoder? = nil, observer: (@Sendable (SealObservation) -> Void)? = nil,
        clock: @escaping @Sendable () -> UnixTime = { .now }
    ) throws(KeyError) {
        try signer?.requireSenderKeys()
        self.topic = try Topic(topic)
        self.signer = signer
        alert = placeholder.json
        self.options = options
        self.encoder = encoder ?? Self.standardEncoder()
        self.observer = observer
        self.clock = clock
    }

    /// Seals a payload: a ``PushNotification``, a type of your own that encodes to an APNs payload, or raw JSON as `Data`,
    /// `[UInt8]`, another collection of bytes, or a `String`.
    ///
    /// Raw JSON is sealed byte for byte.
    ///
    /// - Parameters:
    ///   - payload: the notification. Its JSON has at most 256 KiB and 16,384 values; about 2.5 KB fit into a push.
    ///   - recipient: the key to encrypt to.
    ///   - placeholder: the unencrypted text. A device that can't open the push shows it. nil for the sealer's.
    ///   - attachments: at most 8, which the device fetches, opens and shows; each takes about 250 bytes of the payload.
    ///   - offload: the place of the whole payload, which the device shows instead of this one if it has a network
    ///     connection; see ``offload(_:encoder:)``.
    ///   - isSelfTest: whether the extension reports that it works.
    ///   - change: changes the sealer's options for this push.
    /// - Returns: the payload to send, with its exact size.
    /// - Throws: `SenderError` with `invalidPayload`, `invalidPlaceholder`, `invalidOption`, `suiteTooLow`, `deviceMissing`,
    ///   `notAuthenticated`, `notExposable`, `tooLarge`, `noKeySeals`, `noDayKey`, `expiresTooLate`, `backendFailure`; what the encoding of `payload`, `change` and
    ///   ``OversizePlan`` throw.
    public func seal(
        _ payload: some Encodable, to recipient: Recipient, placeholder: Placeholder? = nil,
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, isSelfTest: Bool = false,
        changing change: (inout Options) throws -> Void = { _ in }
    ) throws -> SealedPush {
        try observed(recipient) {
            try parts(placeholder, attachments, offload, isSelfTest: isSelfTest, change)
        } _: {
            try EncodedPayload(payload, encoder)
        }
    }

    /// Seals a payload that was encoded before.
    ///
    /// - Parameters: as for `seal(_:to:)`.
    /// - Throws: as that function.
    public func seal(
        _ payload: EncodedPayload, to recipient: Recipient, placeholder: Placeholder? = nil,
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, isSelfTest: Bool = false,
        changing change: (inout Options) throws -> Void = { _ in }
    ) throws -> SealedPush {
        try observed(recipient) {
            try parts(placeholder, attachments, offload, isSelfTest: isSelfTest, change)
        } _: {
            payload
        }
    }

    /// Encodes and checks a payload once, to seal it to many recipients. The observer is called when it is sealed.
    ///
    /// - Throws: `SenderError` with `invalidPayload`; what the encoding of `payload` throws.
    public func encode(_ payload: some Encodable) throws -> EncodedPayload { try EncodedPayload(payload, encoder) }

    private func parts(
        _ placeholder: Placeholder?, _ attachments: [AttachmentReference], _ offload: OffloadReference?,
        isSelfTest: Bool, _ change: (inout Options) throws -> Void
    ) throws -> MessageParts {
        var options = options
        try change(&options)
        let extras = options.extras(attachments: attachments, offload: offload, isSelfTest: isSelfTest)
        let alert = if let placeholder { placeholder.json } else { alert }
        return MessageParts(alert: alert, extras: extras, options: options)
    }

    /// Seals what the functions return, and tells the observer.
    private func observed(
        _ recipient: Recipient, _ parts: () throws -> MessageParts, _ payload: () throws -> EncodedPayload
    ) throws -> SealedPush {
        guard let observer else {
            let parts = try parts()
            try parts.check()
            return try sealing(recipient, parts).push(payload())
        }
        let start = ContinuousClock.now
        var signer: Signer.Choice?
        let result = Result {
            let parts = try parts()
            try parts.check()
            let sealing = try sealing(recipient, parts)
            signer = sealing.signer
            return try sealing.push(payload())
        }
        observer(
            SealObservation(result, to: recipient, signer, at: clock(), after: ContinuousClock.now - start))
        return try result.get()
    }

    private func sealing(_ recipient: Recipient, _ parts: MessageParts) throws(SenderError) -> MessageSealing {
        do {
            let time = clock()
            return try MessageSealing(
                topic: topic, recipient: recipient, signer: signer?.choice(at: time), parts: parts, time: time)
        } catch {
            throw SenderError(error)
        }
    }
}

extension Sealer {
    /// Seals one notification to several devices, such as all devices of a user. It is encoded once.
    ///
    /// - Parameters: as for `seal(_:to:)`.
    /// - Returns: a push, or why there is none, for each recipient in their order.
    /// - Throws: `SenderError` with `invalidPayload`, what the encoding of `payload` throws, and what `change` throws.
    public func seal(
        _ payload: some Encodable, toEach recipients: [Recipient], placeholder: Placeholder? = nil,
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, isSelfTest: Bool = false,
        changing change: (inout Options) throws -> Void = { _ in }
    ) throws -> [Result<SealedPush, SenderError>] {
        let encoded = Result { try encode(payload) }
        let parts = Result { try self.parts(placeholder, attachments, offload, isSelfTest: isSelfTest, change) }
        // The observer gets an error that all pushes have once for each device.
        let pushes = recipients.map { recipient in
            Result { try observed(recipient, parts.get, encoded.get) }.mapError(SenderError.init(sealing:))
        }
        _ = try (parts.get(), encoded.get())
        return pushes
    }

    /// Seals a payload that is too long for a push as a blob. Upload the blob's bytes, then seal a short alert with an
    /// `OffloadReference`. ``OversizePlan`` does it for payloads that don't fit.
    ///
    /// The payload is padded to a multiple of 4 KiB. The server sees only this length.
    ///
    /// - Parameters:
    ///   - payload: as for `seal(_:to:)`, at most 256 KiB and 16,384
    ///     JSON values (names not counted).
    ///   - encoder: nil for ``standardEncoder()``.
    /// - Throws: `SenderError` with `invalidPayload`, `backendFailure`; or what the encoding of `payload` throws.
    public static func offload(_ payload: some Encodable, encoder: JSONEncoder? = nil) throws -> SealedBlob {
        try offload(payload, encoder: encoder, backend: DefaultBackend.shared)
    }

    package static func offload(
        _ payload: some Encodable, encoder: JSONEncoder? = nil, backend: any CryptoBackend
    ) throws -> SealedBlob {
        try blob(of: EncodedPayload(payload, encoder ?? standardEncoder()).inner.text.bytes, backend)
    }

    static func blob(of json: [UInt8], _ backend: any CryptoBackend) throws(SenderError) -> SealedBlob {
        do {
            return try SealedBlob(OffloadedPayload.plaintext(json: json), for: .payload, backend: backend)
        } catch {
            throw SenderError(error)
        }
    }
}

extension Sealer: CustomStringConvertible, CustomReflectable {
    /// The topic.
    public var description: String { "sealer for \(topic)" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
