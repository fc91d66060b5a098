import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// Who signed the push, and whom the app trusts: as the device reports it, else as --trust says.
enum SenderChecks {
    static let all: [Check] = [setUnusable, notTrusted, signatureInvalid]

    private static func setUnusable(_ facts: Facts) -> Finding? {
        guard let senders = facts.report?.senders, let error = senders.error else { return nil }
        return Finding(
            .senderSetUnusable,
            "The device has no usable set of sender keys, so it trusts no sender and opens no push.",
            ["report: the sender keys can't be used (\(error): \(senders.reason ?? ""))"],
            do: [
                "keyLocked": "Unlock the device once: it wasn't unlocked since its start.",
                "missingResource": "Add sender-pins.json to the resources of the app target.",
            ][error]
                ?? "Ship a signed set with the app, or let it fetch one before its first registration. Publish it "
                + "for this "
                + "app, with the publisher and epoch that the app's sender-pins.json pins, before its validity ends.")
    }

    private static func notTrusted(_ facts: Facts) -> Finding? {
        guard facts.payload.kid != nil, facts.payload.isSealed, let (state, seen) = state(facts) else { return nil }
        func finding(_ cause: String, _ advice: String) -> Finding {
            let signer = facts.payload.skid.map { "payload: signed by key \($0)" } ?? "payload: pushcrypt has no skid"
            return Finding(.senderNotTrusted, cause, [signer, seen], do: advice)
        }
        switch state {
        case .trusted: return nil
        case .notSigned:
            return finding(
                "The push isn't signed, but the app accepts only pushes of the senders that it pins.",
                "Let the backend sign: `pushcrypt seal --sign-with Keys/NAME`, or Sealer(topic:signer:). If it signs, "
                    + "something removed \"skid\": a relay must send all members of \"pushcrypt\".")
        case .notExpected:
            return finding(
                "The push is signed, but the app is set up for unsigned pushes and refuses signed ones.",
                "Pin the backend's sender keys in the app (SenderTrust.pinned), or stop signing.")
        case .unknown:
            return finding(
                "The push is signed by a sender key that the app doesn't pin.",
                "If the key is new, publish it in the set that the app fetches, before the backend signs with it. "
                    + "If it was "
                    + "retired or destroyed, let the backend sign with the current key of the set.")
        case .ambiguous:
            return finding(
                "The push is signed by a key that two sets of sender keys have, so nothing says whose push it is.",
                "Give each sender a key of its own, and pin no key in two sets.")
        case .ended(let failure):
            return finding(
                "The push is signed by a sender key that "
                    + (failure == .keyRevoked
                        ? "was revoked." : "has expired, or the app's set of sender keys is no longer valid."),
                "Sign with the current sender key, and check that the app gets a valid set. If the key was stolen, "
                    + "this "
                    + "push may not be yours.")
        }
    }

    /// How the app sees the signer of the push.
    private enum SignerState {
        case trusted, notSigned, notExpected, unknown, ambiguous
        case ended(FailureClass)
    }

    /// - Returns: nil if nothing says whom the app trusts.
    private static func state(_ facts: Facts) -> (SignerState, seen: String)? {
        let skid = facts.payload.skid
        if let senders = facts.report?.senders, senders.error == nil {
            if senders.unsigned == true {
                return (skid == nil ? .trusted : .notExpected, "report: the app pins no sender")
            }
            let kids = senders.kids ?? []
            let seen = "report: the device pins " + (kids.isEmpty ? "no valid key" : Facts.list(kids))
            guard let skid = skid?.description else { return (.notSigned, seen) }
            if kids.contains(skid) { return (.trusted, seen) }
            guard let refusal = senders.refused?[skid] else { return (.unknown, seen) }
            let failure = FailureClass(rawValue: refusal)
            return (failure == .unknownKey ? .ambiguous : .ended(failure), "report: this key is refused, \(failure)")
        }
        guard let trusted = facts.trusted else { return nil }
        let seen = "trust: the app pins \(Facts.list(trusted.keyIDs.map(\.description)))"
        guard let skid else { return (.notSigned, seen) }
        guard trusted.keyIDs.contains(skid) else { return (.unknown, seen) }
        do throws(FailureClass) { _ = try trusted.verificationKey(skid, at: facts.time) } catch {
            return (error == .unknownKey ? .ambiguous : .ended(error), seen)
        }
        return (.trusted, seen)
    }

    private static func signatureInvalid(_ facts: Facts) -> Finding? {
        guard facts.trial?.hasValidSignature == false else { return nil }
        return Finding(
            .signatureInvalid, "The push opens, but its signature isn't valid, so the device refuses it.",
            ["keys: the push opens", "trust: its signature isn't one of the sender's key"],
            do:
                "Sign with the key that \"skid\" names, as section 4 of docs/protocol.md describes. The signature "
                + "covers "
                + "the topic, both ids of keys, the recipient's key and the message, so it belongs to one recipient.")
    }
}
