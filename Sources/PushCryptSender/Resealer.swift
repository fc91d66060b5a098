public import PushCryptCore
import PushCryptPrimitives

/// Seals payloads that are still queued at the sender under the primary of a shared keyset, after a rotation (suite 4).
///
/// Old keys open here whatever their state: after a leaked master was revoked, what is queued under it is exactly what
/// no device opens any more.
///
/// Feed it from the sender's own queue and nothing else. Anybody who has the old key can seal with it, and what is sealed
/// again here bears the new key, and your signature, as if you had written it.
public struct Resealer: Sendable {
    private let topic: Topic
    private let keyset: Keyset
    private let senders: Keyset?
    private let clock: @Sendable () -> UnixTime

    /// - Parameters:
    ///   - topic: the app's bundle identifier, the same that the payloads were sealed with.
    ///   - keyset: bare shared keys, or masters that devices' keys are derived from, old and new.
    ///   - senders: for signed payloads. The primary signs; each key, in whatever state, verifies what it has signed.
    ///   - clock: tells the time at which the primary is chosen and messages expire.
    /// - Throws: `KeyError` with `invalidTopic`, `wrongKind` for keys that are no shared or no sender's private keys,
    ///   `wrongDevice` for the own keys of several devices, `noKeySeals`.
    public init(
        topic: String, keyset: Keyset, senders: Keyset? = nil,
        clock: @escaping @Sendable () -> UnixTime = { .now }
    ) throws {
        guard keyset.kind == .shared else {
            throw KeyError(
                .wrongKind,
                "the set holds \(keyset.kind.rawValue) keys: a sender opens, and seals again, with shared keys only")
        }
        guard Set(keyset.entries.map(\.device)).count == 1 else {
            throw KeyError(.wrongDevice, "the set mixes keys of several devices, or of devices and their masters")
        }
        self.topic = try Topic(topic)
        self.keyset = keyset
        self.senders = senders
        self.clock = clock
        let now = clock()
        _ = try keyset.recipient(at: now)
        _ = try senders?.senderKey(at: now)
    }

    /// Opens a payload with the key that it names and seals the message again, as it is, with the primary.
    ///
    /// The message keeps its id, its times and its padding. A signed one is verified and signed again, because the
    /// signature covers the key's id. Of the outer payload only `kid`, `sealed` and `skid` change, and their lengths
    /// don't. A payload that is under the primary keys already is opened and verified all the same.
    ///
    /// - Parameters:
    ///   - payload: the outer payload, UTF-8 JSON.
    ///   - device: the device whose key, derived from the master, it was sealed with; nil for the bare shared key.
    /// - Throws: `SenderError` with `notSealed`, `malformed`, `unsupportedVersion`, `unknownKey`, `undecryptable`, `expired`,
    ///   `signerMissing`, `wrongDevice`, `noKeySeals`, `backendFailure`.
    public func reseal(_ payload: [UInt8], device: DeviceID? = nil) throws(SenderError) -> ResealedPush {
        let now = clock()
        let text = try Self.text(payload)
        let outer = try Self.outerPayload(text)
        do {
            let message = try open(outer, device)
            try Self.check(message, at: now)
            let recipient = try Recipient(keyset.sealingEntry(at: now), device: device)
            // Signed stays signed, unsigned unsigned: a recipient that pins no sender refuses what is signed.
            let signer = outer.skid == nil ? nil : try senders?.senderKey(at: now)
            guard outer.kid != recipient.kid || outer.skid != signer?.kid else {
                return ResealedPush(payload: payload, isChanged: false)
            }
            let sealed = try Envelope.seal(message, to: recipient, signer: signer, topic: topic)
            let resealed = OuterPayload.replacingEnvelope(
                of: text, kid: recipient.kid, skid: signer?.kid, sealed: sealed)
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

    private static func outerPayload(_ text: JSONText) throws(SenderError) -> OuterPayload {
        do {
            return try OuterPayload(text)
        } catch {
            switch error {
            case .notSealed: throw SenderError(.notSealed, "the payload has no pushcrypt member: it wasn't sealed")
            case .unsupportedVersion:
                throw SenderError(.unsupportedVersion, "the payload is of a later version of the protocol")
            default:
                throw SenderError(.malformed, "a member of the outer payload is missing or of the wrong type")
            }
        }
    }

    /// The message with its padding. The one key of each id is used, in whatever state, and no other is tried.
    private func open(_ outer: OuterPayload, _ device: DeviceID?) throws -> [UInt8] {
        guard let entry = keyset.entry(outer.kid) else {
            throw SenderError(.unknownKey, "no key \(outer.kid) is in the shared keyset")
        }
        let key = try RecipientKey(entry, device: device)
        let sender = try verificationKey(of: outer)
        do throws(FailureClass) {
            return try Envelope.open(outer.sealed, with: key, signedBy: sender, topic: topic)
        } catch {
            guard error != .internalError else {
                throw SenderError(.backendFailure, "the cryptographic library failed")
            }
            let key = device == nil ? "a device's key and no device named" : "another device's key or the bare one"
            throw SenderError(
                .undecryptable, "key \(outer.kid) doesn't open it: another topic, changed bytes, or \(key)")
        }
    }

    private func verificationKey(
        of outer: OuterPayload
    ) throws(SenderError) -> (skid: KeyID, key: any VerificationKey)? {
        guard let skid = outer.skid else { return nil }
        guard let senders else {
            throw SenderError(.signerMissing, "key \(skid) has signed it: sealing it again needs the sender's keyset")
        }
        guard case .sender(let key, _) = senders.entry(skid)?.record.material else {
            throw SenderError(.unknownKey, "no key \(skid) is in the sender's keyset")
        }
        return (skid, key)
    }

    /// Refuses what no recipient would show. The error doesn't say when it expired, because that was encrypted.
    private static func check(_ message: [UInt8], at time: UnixTime) throws(SenderError) {
        guard let header = try? InnerPayload(message: message).header else {
            throw SenderError(.malformed, "what was sealed is not a message: every recipient would refuse it")
        }
        guard header.expiresAt > time else { throw SenderError(.expired, "its time is over") }
    }
}

/// A queued payload under the primary key.
public struct ResealedPush: Hashable, Sendable {
    /// The request body for APNs, UTF-8 JSON.
    public let payload: [UInt8]
    /// False if the primary keys had sealed, and if signed, signed it already: then `payload` is what came in.
    public let isChanged: Bool
}

extension Keyset.Entry {
    /// The device of a device's own key; nil for a bare or a master key.
    fileprivate var device: DeviceID? {
        guard case .shared(_, let device) = record.material else { return nil }
        return device
    }
}
