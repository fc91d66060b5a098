public import PushCryptCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Seals payloads that are still queued at the sender under the primary of a shared keyset, after a rotation (suite 4).
///
/// Old keys open here whatever their state: after a leaked master was revoked, what is queued under it is exactly what
/// no device opens any more.
///
/// Feed it from the sender's own queue and nothing else. Whoever has the old key can seal with it, and what is sealed
/// again here bears the new key, and your signature, as if you had written it.
public struct Resealer: Sendable {
    let topic: Topic
    let keyset: Keyset
    let senders: Keyset?
    private let clock: @Sendable () -> UnixTime

    /// - Parameters:
    ///   - topic: the app's bundle identifier, the same that the payloads were sealed with.
    ///   - keyset: bare shared keys, or masters that devices' keys are derived from, old and new.
    ///   - senders: for signed payloads. The primary signs, each key verifies what it has signed before, whatever its
    ///     state.
    ///   - clock: tells the time at which the primary is chosen and messages expire.
    /// - Throws: `KeyError` with `invalidTopic`, `wrongKind` for keys that are no shared or no sender's private keys,
    ///   `wrongDevice` for the own keys of several devices, `noKeySeals`.
    public init(
        topic: String, keyset: Keyset, senders: Keyset? = nil,
        clock: @escaping @Sendable () -> UnixTime = { UnixTime(Int64(Date().timeIntervalSince1970)) }
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
    ///   - device: whose key of the master it was sealed with; nil for the bare shared key.
    /// - Throws: `ResealError` with any of its codes.
    public func reseal(_ payload: [UInt8], device: DeviceID? = nil) throws(ResealError) -> ResealedPush {
        let now = clock()
        let text = try Self.text(payload)
        let outer = try Self.outerPayload(text)
        let message = try open(outer, device)
        try Self.check(message, at: now)
        let (recipient, signer) = try primaries(for: outer, device, at: now)
        guard outer.kid != recipient.kid || outer.skid != signer?.kid else {
            return ResealedPush(payload: payload, isChanged: false)
        }
        do {
            let sealed = try Envelope.seal(message, to: recipient, signer: signer, topic: topic)
            let resealed = OuterPayload.replacingEnvelope(
                of: text, kid: recipient.kid, skid: signer?.kid, sealed: sealed)
            return ResealedPush(payload: resealed, isChanged: true)
        } catch {
            throw ResealError(.internalError, "\(error)")
        }
    }

    /// Signed stays signed, unsigned unsigned: a recipient that pins no sender refuses what is signed.
    private func primaries(
        for outer: OuterPayload, _ device: DeviceID?, at time: UnixTime
    ) throws(ResealError) -> (Recipient, SenderKey?) {
        do {
            let recipient = try Recipient(keyset.sealingEntry(at: time), device: device)
            return (recipient, outer.skid == nil ? nil : try senders?.senderKey(at: time))
        } catch {
            throw ResealError(error)
        }
    }
}
