public import PushCryptCore
import PushCryptPrimitives

/// Reseals payloads that are queued at the sender with the new primary of a shared keyset, after a rotation (suite 4).
///
/// It opens payloads with old keys in every state, including revoked, because devices no longer open these payloads.
///
/// Use it only for the sender's own queue. An attacker with a leaked key can seal payloads with it. Resealing such a
/// payload would give it the new key and your signature.
public struct Resealer: Sendable {
    private let topic: Topic
    private let keyset: Keyset
    private let senders: Keyset?
    private let places: EnvelopePlaces
    private let clock: @Sendable () -> UnixTime

    /// - Parameters:
    ///   - topic: the app's bundle identifier with which the payloads were sealed.
    ///   - keyset: the old and new shared keys or masters of device keys.
    ///   - senders: for signed payloads. The primary signs; keys in every state verify.
    ///   - carrier: for which the payloads were sealed.
    ///   - clock: the time for choosing the primary and for expiry.
    /// - Throws: `KeyError` with `invalidTopic`, `wrongKind` for other keys than shared keys and private sender keys,
    ///   `wrongDevice` for device keys of several devices, `noKeySeals`.
    public init(
        topic: String, keyset: Keyset, senders: Keyset? = nil, carrier: Carrier = .apns,
        clock: @escaping @Sendable () -> UnixTime = { .now }
    ) throws {
        guard keyset.kind == .shared else {
            throw KeyError(.wrongKind, "the set contains \(keyset.kind.rawValue) keys; resealing needs shared keys")
        }
        guard Set(keyset.entries.map(\.device)).count == 1 else {
            throw KeyError(.wrongDevice, "the set mixes keys of several devices, or of devices and their masters")
        }
        self.topic = try Topic(topic)
        self.keyset = keyset
        self.senders = senders
        places = EnvelopePlaces([carrier])
        self.clock = clock
        let now = clock()
        _ = try keyset.recipient(at: now)
        _ = try senders?.senderKey(at: now)
    }

    /// Opens a payload with its key and seals the message with the primary.
    ///
    /// The message keeps its id, times and padding. A signed message is verified and signed again, because the signature
    /// covers the key's id. Only `kid`, `sealed` and `skid` of the outer payload change; their lengths stay the same. A
    /// payload that already uses the primary keys is also opened and verified.
    ///
    /// - Parameters:
    ///   - payload: the outer payload, UTF-8 JSON.
    ///   - device: the device whose derived key the payload uses; nil for the shared key itself.
    /// - Throws: `SenderError` with `notSealed`, `malformed`, `unsupportedVersion`, `unknownKey`, `undecryptable`, `expired`,
    ///   `signerMissing`, `wrongDevice`, `noKeySeals`, `backendFailure`.
    public func reseal(
        _ payload: some Collection<UInt8>, device: DeviceID? = nil
    ) throws(SenderError) -> ResealedPush {
        let now = clock()
        let payload = Array(payload)
        let text = try Self.text(payload)
        let outer = try outerPayload(text)
        do {
            let message = try open(outer, device)
            try Self.check(message, at: now)
            let recipient = try Recipient(keyset.sealingEntry(at: now), device: device)
            // An unsigned message isn't signed: a recipient that pins no sender refuses signed messages.
            let signer = outer.skid == nil ? nil : try senders?.senderKey(at: now)
            guard outer.kid != recipient.kid || outer.skid != signer?.kid else {
                return ResealedPush(payload: payload, isChanged: false)
            }
            let sealed = try Envelope.seal(message, to: recipient, signer: signer, topic: topic)
            let resealed = try OuterPayload.replacingEnvelope(
                of: text, at: places, kid: recipient.kid, skid: signer?.kid, sealed: sealed)
            return ResealedPush(payload: resealed, isChanged: true)
        } catch {
            throw SenderError(error)
        }
    }

    private static func text(_ payload: [UInt8]) throws(SenderError) -> JSONText {
        do {
            return try JSONText(payload)
        } catch {
            throw SenderError(.malformed, "the payload is not strict JSON: \(error)")
        }
    }

    private func outerPayload(_ text: JSONText) throws(SenderError) -> OuterPayload {
        do {
            return try OuterPayload(text, at: places)
        } catch {
            switch error {
            case .notSealed: throw SenderError(.notSealed, "the payload has no pushcrypt member: it wasn't sealed")
            case .unsupportedVersion:
                throw SenderError(.unsupportedVersion, "the payload uses a later version of the protocol")
            default:
                throw SenderError(.malformed, "a member of the outer payload is missing or has the wrong type")
            }
        }
    }

    /// Returns the message with its padding. Uses only the key with the payload's kid, in any state.
    private func open(_ outer: OuterPayload, _ device: DeviceID?) throws -> [UInt8] {
        guard let entry = keyset.entry(outer.kid) else {
            throw SenderError(.unknownKey, "the shared keyset has no key \(outer.kid)")
        }
        let key = try RecipientKey(entry, device: device)
        let sender = try verificationKey(of: outer)
        do throws(FailureClass) {
            return try Envelope.open(outer.sealed, with: key, signedBy: sender, topic: topic)
        } catch {
            guard error != .internalError else {
                throw SenderError(.backendFailure, "the cryptographic library failed")
            }
            let key = device == nil ? "a device key, and no device was given" : "another device's key or the shared key"
            throw SenderError(
                .undecryptable,
                "key \(outer.kid) doesn't open the payload: it has another topic, was changed, or uses \(key)")
        }
    }

    private func verificationKey(
        of outer: OuterPayload
    ) throws(SenderError) -> (skid: KeyID, key: any VerificationKey)? {
        guard let skid = outer.skid else { return nil }
        guard let senders else {
            throw SenderError(.signerMissing, "key \(skid) signed the payload: resealing needs the sender's keyset")
        }
        guard case .sender(let key, _) = senders.entry(skid)?.record.material else {
            throw SenderError(.unknownKey, "the sender's keyset has no key \(skid)")
        }
        return (skid, key)
    }

    /// Refuses messages that no recipient would show. Only shared keys are resealed, so the proof is always a secret. The error doesn't contain the time, which was encrypted.
    private static func check(_ message: [UInt8], at time: UnixTime) throws(SenderError) {
        guard let header = try? InnerPayload(message: message).header(proof: .secret) else {
            throw SenderError(.malformed, "the decrypted content is not a message: every recipient would refuse it")
        }
        guard header.expiresAt > time else { throw SenderError(.expired, "the message has expired") }
    }
}

/// A queued payload that is sealed with the primary key.
public struct ResealedPush: Hashable, Sendable {
    /// The request body for APNs, UTF-8 JSON.
    public let payload: [UInt8]
    /// False if the payload already used the primary keys and is returned unchanged.
    public let isChanged: Bool
}

extension ResealedPush: CustomStringConvertible, CustomReflectable {
    /// The length, as in `resealed push of 720 bytes` or `unchanged push of 720 bytes`.
    public var description: String { "\(isChanged ? "resealed" : "unchanged") push of \(payload.count) bytes" }
    /// Nothing, so that `dump` shows only the description.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Keyset.Entry {
    /// The device of a device key; nil for a shared or master key.
    fileprivate var device: DeviceID? {
        guard case .shared(_, let device) = record.material else { return nil }
        return device
    }
}
