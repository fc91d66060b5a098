import PushCryptCore
import PushCryptPrimitives

extension Resealer {
    /// The message with its padding. The one key of each id is used, in whatever state, and no other is tried.
    func open(_ outer: OuterPayload, _ device: DeviceID?) throws(ResealError) -> [UInt8] {
        guard let entry = keyset.entry(outer.kid) else {
            throw ResealError(.unknownKey, "no key \(outer.kid) is in the shared keyset")
        }
        let key: RecipientKey
        do {
            key = try RecipientKey(entry, device: device)
        } catch {
            throw ResealError(error)
        }
        let sender = try verificationKey(of: outer)
        do {
            return try Envelope.open(outer.sealed, with: key, signedBy: sender, topic: topic)
        } catch {
            guard error != .internalError else {
                throw ResealError(.internalError, "the cryptographic library failed")
            }
            let key = device == nil ? "a device's key and no device named" : "another device's key or the bare one"
            throw ResealError(
                .undecryptable, "key \(outer.kid) doesn't open it: another topic, changed bytes, or \(key)")
        }
    }

    private func verificationKey(
        of outer: OuterPayload
    ) throws(ResealError) -> (skid: KeyID, key: any VerificationKey)? {
        guard let skid = outer.skid else { return nil }
        guard let senders else {
            throw ResealError(.signerMissing, "key \(skid) has signed it: sealing it again needs the sender's keyset")
        }
        guard case .sender(let key, _) = senders.entry(skid)?.record.material else {
            throw ResealError(.unknownKey, "no key \(skid) is in the sender's keyset")
        }
        return (skid, key)
    }
}

extension Keyset.Entry {
    /// Whose own key this is, where it isn't a bare or a master key.
    var device: DeviceID? {
        guard case .shared(_, let device) = record.material else { return nil }
        return device
    }
}
