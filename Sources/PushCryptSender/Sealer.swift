public import PushCryptCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Seals notifications: what tells something goes inside, a placeholder stays outside.
///
/// A value is immutable and may be used from any thread; make one per app and keep it.
public struct Sealer: Sendable {
    private let topic: Result<Topic, SealError>
    private let signer: SenderKey?
    private let options: Options
    private let clock: @Sendable () -> UnixTime

    /// - Parameters:
    ///   - topic: the app's bundle identifier, the same that the app's extension is configured with. A wrong one makes
    ///     every push fall back to its placeholder.
    ///   - signer: signs every message, for recipients that pin this sender.
    ///   - options: used where a call doesn't bring its own.
    ///   - clock: tells the time that messages are stamped with.
    public init(
        topic: String, signer: SenderKey? = nil, options: Options = Options(),
        clock: @escaping @Sendable () -> UnixTime = { UnixTime(Int64(Date().timeIntervalSince1970)) }
    ) {
        self.topic = Result { () throws(SealError) in try Self.topic(topic) }
        self.signer = signer
        self.options = options
        self.clock = clock
    }

    /// Seals a payload: a ``PushNotification``, a type of your own that encodes to an APNs payload, or raw JSON as
    /// `Data` or `[UInt8]`.
    ///
    /// Raw JSON is sealed as it is, byte for byte: its numbers, unknown members and order stay.
    ///
    /// - Parameters:
    ///   - attachments: at most 8, which the device fetches, opens and shows; each takes some 250 bytes of the payload.
    ///   - offload: where the whole payload lies that the device shows in place of this one, which is the best attempt
    ///     without a network; see ``offload(_:)``.
    ///   - isSelfTest: has the extension report that it works.
    /// - Returns: the payload to send, with its exact size.
    /// - Throws: `SealError`, or what the value's encoding throws.
    public func seal(
        _ payload: some Encodable, to recipient: Recipient, placeholder: Placeholder,
        attachments: [AttachmentReference] = [], offload: OffloadReference? = nil, isSelfTest: Bool = false,
        options: Options? = nil
    ) throws -> SealedPush {
        let extras = MessageExtras(attachments: attachments, offload: offload, isSelfTest: isSelfTest)
        if let flaw = extras.flaw { throw SealError(.invalidOption, flaw) }
        let options = options ?? self.options
        try options.check()
        return try seal(json: Self.json(payload), extras, to: recipient, placeholder, options)
    }

    static func json(_ payload: some Encodable) throws -> [UInt8] {
        switch payload {
        case let bytes as [UInt8]: return bytes
        case let data as Data: return Array(data)
        default:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(payload))
        }
    }

    private func seal(
        json: [UInt8], _ extras: MessageExtras, to recipient: Recipient, _ placeholder: Placeholder,
        _ options: Options
    ) throws -> SealedPush {
        let (inner, topic) = try (Self.innerPayload(json), topic.get())
        let header = try Self.header(for: recipient, at: clock(), extras, options)
        let frame = try frame(around: inner, for: recipient, placeholder, options)
        do {
            let message = try padded(try inner.message(with: header), in: frame, for: recipient, options)
            let sealed = try Envelope.seal(message, to: recipient, signer: signer, topic: topic)
            return SealedPush(
                bytes: frame.payload(sealed: sealed), id: Base64URL.encode(header.id),
                expiresAt: header.expiresAt)
        } catch let flaw as InnerPayload.Flaw {
            throw SealError(.invalidPayload, flaw.reason)
        } catch let error as SealError {
            throw error
        } catch {
            throw SealError(.backendFailure, "\(error)")
        }
    }

    private static func topic(_ text: String) throws(SealError) -> Topic {
        do {
            return try Topic(text)
        } catch {
            throw SealError(.invalidTopic, error.reason)
        }
    }

    private static func innerPayload(_ json: [UInt8]) throws(SealError) -> InnerPayload {
        do {
            return try InnerPayload(json: json)
        } catch let flaw as InnerPayload.Flaw {
            throw SealError(.invalidPayload, flaw.reason)
        } catch {
            throw SealError(.invalidPayload, "the payload is not strict JSON: \(error)")
        }
    }

    private static func header(
        for recipient: Recipient, at time: UnixTime, _ extras: MessageExtras, _ options: Options
    ) throws(SealError) -> MessageHeader {
        let latest = UnixTime.protocolRange.upperBound - options.expiresAfterInSeconds
        guard (UnixTime.protocolRange.lowerBound...latest).contains(time.seconds) else {
            throw SealError(.invalidOption, "the time \(time.seconds) is not a time the protocol can write")
        }
        let expiresAt = time + options.expiresAfterInSeconds
        do {
            return try MessageHeader.fresh(
                for: recipient, campaign: options.campaign, issuedAt: time, expiresAt: expiresAt, extras: extras)
        } catch {
            throw SealError(.backendFailure, "\(error)")
        }
    }

    private func frame(
        around inner: InnerPayload, for recipient: Recipient, _ placeholder: Placeholder, _ options: Options
    ) throws(SealError) -> OuterFrame {
        guard let alert = placeholder.json else {
            throw SealError(.invalidPlaceholder, "the placeholder has no text: the system wouldn't run the extension")
        }
        let exposed = try ExposedMembers.rawMembers(of: inner.aps, named: options.exposed)
        return OuterFrame(placeholder: alert, exposed: exposed, kid: recipient.kid, skid: signer?.kid)
    }

    private func padded(
        _ message: [UInt8], in frame: OuterFrame, for recipient: Recipient, _ options: Options
    ) throws(SealError) -> [UInt8] {
        let budget = PayloadBudget(
            limitInBytes: options.limitInBytes, fixedByteCount: frame.byteCount,
            overheadByteCount: Envelope.overheadByteCount(recipient.suite, isSigned: signer != nil))
        guard message.count <= budget.messageCapacity else {
            let needed = budget.payloadByteCount(messageByteCount: message.count)
            throw SealError(
                .tooLarge, "the sealed payload takes \(needed) bytes and the limit is \(budget.limitInBytes)",
                bytesNeeded: needed, bytesAvailable: budget.limitInBytes)
        }
        let count = options.padding.paddedCount(message.count, capacity: budget.messageCapacity)
        var padded = message
        padded.append(contentsOf: repeatElement(paddingByte, count: count - message.count))
        return padded
    }
}
