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
public struct Sealer: Sendable {
    let topic: Topic
    let signer: SenderKey?
    private let options: Options
    let clock: @Sendable () -> UnixTime

    /// Makes a sealer for one app.
    ///
    /// - Parameters:
    ///   - topic: the app's bundle identifier, 1 to 155 characters, as configured in the app's extension. With another topic
    ///     every push shows its placeholder.
    ///   - signer: signs every message, for recipients that pin this sender; nil for unsigned messages.
    ///   - options: used for calls without options.
    ///   - clock: the time of the messages.
    /// - Throws: `KeyError` with `invalidTopic`.
    public init(
        topic: String, signer: SenderKey? = nil, options: Options = Options(),
        clock: @escaping @Sendable () -> UnixTime = { .now }
    ) throws(KeyError) {
        self.topic = try Topic(topic)
        self.signer = signer
        self.options = options
        self.clock = clock
    }

    /// Seals a payload: a ``PushNotification``, a type of your own that encodes to an APNs payload, or raw JSON as
    /// `Data` or `[UInt8]`.
    ///
    /// Raw JSON is sealed byte for byte.
    ///
    /// - Parameters:
    ///   - payload: the notification. Its JSON has at most 256 KiB and 16,384 values; about 2.5 KB fit into a push.
    ///   - recipient: the key to encrypt to.
    ///   - placeholder: the unencrypted text. A device that can't open the push shows it.
    ///   - attachments: at most 8, which the device fetches, opens and shows; each takes about 250 bytes of the payload.
    ///   - offload: the place of the whole payload, which the device shows instead of this one if it has a network
    ///     connection; see ``offload(_:)``.
    ///   - isSelfTest: whether the extension reports that it works.
    ///   - options: nil for the sealer's options.
    /// - Returns: the payload to send, with its exact size.
    /// - Throws: `SenderError` with `invalidPayload`, `invalidPlaceholder`, `invalidOption`, `notAuthenticated`,
    ///   `notExposable`, `tooLarge`, `backendFailure`; or what the encoding of `payload` throws.
    public func seal(
        _ payload: some Encodable, to recipient: Recipient, placeholder: Placeholder,
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, isSelfTest: Bool = false,
        options: Options? = nil
    ) throws -> SealedPush {
        let options = options ?? self.options
        let extras = options.extras(attachments: attachments, offload: offload, isSelfTest: isSelfTest)
        if let flaw = extras.flaw { throw SenderError(.invalidOption, flaw) }
        try options.check()
        return try seal(json: Self.json(payload), extras, to: recipient, placeholder, options)
    }

    private static func json(_ payload: some Encodable) throws -> [UInt8] {
        switch payload {
        case let bytes as [UInt8]: return bytes
        case let data as Data: return Array(data)
        default:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(payload))
        }
    }

    /// PROTOCOL sections 2 to 5:
    /// ```
    /// header  = id, iat, exp, extras
    /// message = inner payload with header || padding
    /// sealed  = Envelope.seal(message)
    /// payload = frame with sealed
    /// ```
    private func seal(
        json: [UInt8], _ extras: MessageExtras, to recipient: Recipient, _ placeholder: Placeholder,
        _ options: Options
    ) throws(SenderError) -> SealedPush {
        do {
            let inner = try InnerPayload(json: json)
            let header = try header(for: recipient, extras, options)
            let frame = try frame(around: inner, for: recipient, placeholder, options)
            var message = try inner.message(with: header)
            try pad(&message, toFit: frame, for: recipient, options)
            let sealed = try Envelope.seal(message, to: recipient, signer: signer, topic: topic)
            return SealedPush(
                bytes: frame.payload(sealed: sealed), id: Base64URL.encode(header.id), expiresAt: header.expiresAt)
        } catch {
            throw SenderError(error)
        }
    }

    /// The message's id and times.
    private func header(for recipient: Recipient, _ extras: MessageExtras, _ options: Options) throws -> MessageHeader {
        let time = clock()
        let latest = UnixTime.protocolRange.upperBound - options.expiresAfterInSeconds
        guard (UnixTime.protocolRange.lowerBound...latest).contains(time.seconds) else {
            throw SenderError(.invalidOption, "the protocol can't represent the time \(time.seconds)")
        }
        guard !extras.hasInstructions || !recipient.proof(isSigned: signer != nil).isEmpty else {
            throw SenderError(
                .notAuthenticated,
                "only a signed push, or one to a recipient with a psk or a shared key, can retract others, be quiet, add to "
                    + "the badge or have an avatar: everyone has key \(recipient.kid)")
        }
        let header = try MessageHeader.fresh(
            for: recipient, campaign: options.campaign, issuedAt: time,
            expiresAt: time + options.expiresAfterInSeconds, extras: extras)
        if let flaw = header.flaw { throw SenderError(.invalidOption, flaw) }
        return header
    }

    /// The outer payload without the characters of `sealed`.
    private func frame(
        around inner: InnerPayload, for recipient: Recipient, _ placeholder: Placeholder, _ options: Options
    ) throws(SenderError) -> OuterFrame {
        guard let alert = placeholder.json else {
            throw SenderError(.invalidPlaceholder, "the placeholder has no text; iOS wouldn't run the extension")
        }
        let exposed = try ExposedMembers.rawMembers(
            of: inner.aps, named: options.exposed, isQuiet: options.isQuiet)
        return OuterFrame(placeholder: alert, exposed: exposed, kid: recipient.kid, skid: signer?.kid)
    }

    private func pad(
        _ message: inout [UInt8], toFit frame: OuterFrame, for recipient: Recipient, _ options: Options
    ) throws(SenderError) {
        let budget = PayloadBudget(
            limitInBytes: options.limitInBytes, fixedByteCount: frame.byteCount,
            overheadByteCount: Envelope.overheadByteCount(recipient.suite, isSigned: signer != nil))
        guard message.count <= budget.messageCapacity else {
            let needed = budget.payloadByteCount(messageByteCount: message.count)
            throw SenderError(
                .tooLarge, "the sealed payload takes \(needed) bytes and the limit is \(budget.limitInBytes)",
                bytesNeeded: needed, bytesAvailable: budget.limitInBytes)
        }
        let count = options.padding.paddedCount(message.count, capacity: budget.messageCapacity)
        message.append(contentsOf: repeatElement(paddingByte, count: count - message.count))
    }
}

extension Sealer {
    /// Seals a payload that is too long for a push as a blob. Upload the blob's bytes, then seal a short alert with an
    /// `OffloadReference`.
    ///
    /// The payload is padded to a multiple of 4 KiB. The server sees only this length.
    ///
    /// - Parameter payload: as for ``seal(_:to:placeholder:attachments:offload:isSelfTest:options:)``, at most 256
    ///   KiB and 16,384 JSON values (names not counted).
    /// - Throws: `SenderError` with `invalidPayload`, `backendFailure`; or what the encoding of `payload` throws.
    public static func offload(_ payload: some Encodable) throws -> SealedBlob {
        try offload(payload, backend: DefaultBackend.shared)
    }

    package static func offload(_ payload: some Encodable, backend: any CryptoBackend) throws -> SealedBlob {
        let json = try json(payload)
        do {
            return try SealedBlob(OffloadedPayload.plaintext(json: json), for: .payload, backend: backend)
        } catch {
            throw SenderError(error)
        }
    }
}

/// A payload ready for APNs.
public struct SealedPush: Hashable, Sendable {
    /// The request body for APNs, UTF-8 JSON.
    public var json: Data { Data(bytes) }
    /// The request body without a copy.
    package let bytes: [UInt8]
    /// The message's id, 16 bytes as 22 characters of base64url, for logs and for ``Sealer/Options/retractedIDs`` of a later
    /// push. It is never sent unencrypted.
    public let id: String
    /// The time from which the recipient refuses the message. Send an `apns-expiration` that is no later.
    public let expiresAt: UnixTime

    /// The length of the request body.
    public var byteCount: Int { bytes.count }
}
