import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// Who signed the push, and whom the app trusts: its pins as given, or as the device reports them.
enum SenderFaults {
    static let all: [Detector] = [
        contradiction, setRefused, setUnavailable, notSigned, signatureUnexpected, senderEnded, senderUnknown,
        senderAmbiguous, signatureInvalid,
    ]

    /// Whether the push is sealed, and its signature isn't the effect of damage.
    private static func isSealed(_ evidence: Evidence) -> Bool { evidence.payload.kid != nil }

    /// `the app pins keys A, B`, in the words of --trust.
    private static func pinned(_ senders: TrustedSenders) -> String {
        "trust: the app pins \(KeyFaults.list(senders.keyIDs.map(\.description)))"
    }

    /// The same in the words of the report.
    private static func pinned(_ kids: [String]) -> String {
        "report: the device pins " + (kids.isEmpty ? "no valid key" : KeyFaults.list(kids))
    }

    /// --trust names other senders than the device's report. About the sender of this push the device's answer counts.
    private static func contradiction(_ evidence: Evidence) -> Fault? {
        guard let given = evidence.senders, let reported = evidence.report?.senders else { return nil }
        let skid = evidence.payload.skid
        let onDevice = reported.kids.map { Set($0).union((reported.refused ?? [:]).keys) } ?? []
        guard reported.unsigned == true || !onDevice.isEmpty else { return nil }
        let opensOnDevice =
            skid.map { reported.kids?.contains($0.description) == true } ?? (reported.unsigned == true)
        let trust: String
        switch given {
        case .unsigned where reported.unsigned != true: trust = "trust: the app pins no sender"
        case .trusted(let senders):
            let isOther = onDevice.isDisjoint(with: senders.keyIDs.map(\.description))
            guard isOther || opensOnDevice && skid.map(senders.keyIDs.contains) == false else { return nil }
            trust = pinned(senders)
        default: return nil
        }
        let device = onDevice.isEmpty ? "report: the device pins no sender" : pinned(onDevice.sorted())
        return Fault(
            .warning, "inputs-contradict", "--trust isn't what the device trusts, by its report.", [trust, device],
            do: "Give the sender keys that the app on this device pins. If it should pin those of --trust, update the "
                + "app, or let it fetch the set again.", hides: opensOnDevice ? ofTrust : [])
    }

    /// The findings that --trust alone causes.
    private static let ofTrust = [
        "signature-unexpected", "sender-not-pinned", "sender-in-two-sets", "sender-expired", "sender-revoked",
        "push-not-signed",
    ]

    private static func setRefused(_ evidence: Evidence) -> Fault? {
        guard case .refused(let error)? = evidence.senders else { return nil }
        let reasons: [KeyError.Code: String] = [
            .notSigned: "no publisher that the app pins has signed it",
            .otherSet: "it is another set than the pinned one",
            .otherTopic: "it is for other apps", .otherEpoch: "it has another epoch than the app pins",
            .expired: "its validity has ended",
        ]
        return Fault(
            "sender-set-refused",
            "The app refuses the published set of sender keys\(reasons[error.code].map { ": " + $0 } ?? "").",
            ["trust: \(error.reason)"],
            do:
                "Publish the set for the app's bundle identifier (`pushcrypt keys policy --topic`), with the publisher and epoch "
                + "that the app's bundle pins.",
            explains: [.failure(.unknownKey), .failure(.keyExpired)])
    }

    private static func setUnavailable(_ evidence: Evidence) -> Fault? {
        guard let error = evidence.report?.senders?.error else { return nil }
        let seen = ["report: the sender keys can't be used (\(error): \(evidence.report?.senders?.reason ?? ""))"]
        switch error {
        case "keyLocked":
            return Fault(
                "sender-set-locked", "The sender keys were locked: the device wasn't unlocked since its start.", seen,
                do: "Unlock the device once.", explains: [.failure(.keyLocked), .noPush])
        case "missingResource":
            return Fault(
                "sender-pins-missing", "The app doesn't contain its pins (sender-pins.json), so it trusts no sender.",
                seen,
                do: "Add sender-pins.json to the resources of the app target.",
                explains: [.failure(.unknownKey), .failure(.internalError)])
        default:
            return Fault(
                "sender-set-missing",
                "The device has no usable set of sender keys, so it trusts no sender and opens no push.",
                seen,
                do:
                    "Ship a signed set with the app, or let it fetch one before its first registration, and check "
                    + "that the set is for this app, publisher and epoch.",
                explains: [.failure(.unknownKey), .failure(.keyExpired)])
        }
    }

    private static func notSigned(_ evidence: Evidence) -> Fault? {
        guard isSealed(evidence), evidence.payload.envelope?["skid"] == nil else { return nil }
        var seen: [String] = []
        if case .trusted(let senders)? = evidence.senders { seen.append(pinned(senders)) }
        if let kids = evidence.report?.senders?.kids { seen.append(pinned(kids)) }
        guard !seen.isEmpty else { return nil }
        // A signed push doesn't open without its skid.
        let wasNeverSigned = evidence.trial?.differences != nil
        return Fault(
            "push-not-signed", "The push isn't signed, but the app accepts only pushes of the senders that it pins.",
            ["payload: pushcrypt has no skid"] + seen,
            do:
                "Let the backend sign: `pushcrypt seal --sign-with Keys/NAME`, or Sealer(topic:signer:)."
                + (wasNeverSigned
                    ? ""
                    : " If it signs, something removed \"skid\" on the way: a relay must send all members of "
                        + "\"pushcrypt\"."),
            explains: [.failure(.undecryptable)])
    }

    private static func signatureUnexpected(_ evidence: Evidence) -> Fault? {
        guard let skid = evidence.payload.skid else { return nil }
        var seen: [String] = []
        if case .unsigned? = evidence.senders { seen.append("--trust none: the app pins no sender") }
        if evidence.report?.senders?.unsigned == true { seen.append("report: the app pins no sender") }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "signature-unexpected",
            "The push is signed, but the app is set up for unsigned pushes and refuses signed ones.",
            ["payload: signed by key \(skid)"] + seen,
            do: "Pin the backend's sender keys in the app (SenderTrust.pinned), or stop signing.",
            explains: [.failure(.unknownKey)])
    }

    /// Why the pinned key doesn't verify; nil if it does, isn't pinned, or is in two sets.
    private static func failure(_ evidence: Evidence, _ skid: KeyID) -> (failure: FailureClass, place: String)? {
        if case .trusted(let senders)? = evidence.senders, senders.keyIDs.contains(skid) {
            do throws(FailureClass) { _ = try senders.verificationKey(skid, at: evidence.time) } catch {
                return error == .unknownKey ? nil : (error, "trust")
            }
        }
        guard let refusal = evidence.report?.senders?.refused?[skid.description], refusal != isAmbiguous else {
            return nil
        }
        return (FailureClass(rawValue: refusal), "report")
    }

    /// What a device reports of a key that two of its sets have.
    private static let isAmbiguous = FailureClass.unknownKey.rawValue

    private static func senderAmbiguous(_ evidence: Evidence) -> Fault? {
        guard let skid = evidence.payload.skid else { return nil }
        var seen: [String] = []
        if case .trusted(let senders)? = evidence.senders, senders.keyIDs.count(where: { $0 == skid }) > 1 {
            seen.append("trust: two sets have this key")
        }
        if evidence.report?.senders?.refused?[skid.description] == isAmbiguous {
            seen.append("report: two sets have this key")
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "sender-in-two-sets", "The push is signed by a key of two pinned sets, so nothing says whose push it is.",
            ["payload: signed by key \(skid)"] + seen,
            do: "Pin one set for each sender, and no key in two of them.", explains: [.failure(.unknownKey)])
    }

    private static func senderEnded(_ evidence: Evidence) -> Fault? {
        guard let skid = evidence.payload.skid, let (failure, place) = failure(evidence, skid) else { return nil }
        let isRevoked = failure == .keyRevoked
        return Fault(
            isRevoked ? "sender-revoked" : "sender-expired",
            isRevoked
                ? "The push is signed by a sender key that was revoked."
                : "The push is signed by a sender key that has expired, or the app's set of sender keys is no longer "
                    + "valid.",
            ["payload: signed by key \(skid)", "\(place): this key is \(isRevoked ? "revoked" : "expired")"],
            do: isRevoked
                ? "Sign with the current sender key. If the key was stolen, this push may not be yours."
                : "Sign with the current sender key, and check that the app gets a set of sender keys that is still "
                    + "valid.", explains: [.failure(failure)])
    }

    private static func senderUnknown(_ evidence: Evidence) -> Fault? {
        guard let skid = evidence.payload.skid else { return nil }
        var seen: [String] = []
        if case .trusted(let senders)? = evidence.senders, !senders.keyIDs.contains(skid) {
            seen.append(pinned(senders))
        }
        if let senders = evidence.report?.senders, let kids = senders.kids, !kids.contains(skid.description),
            senders.refused?[skid.description] == nil
        {
            seen.append(pinned(kids))
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "sender-not-pinned", "The push is signed by a sender key that the app doesn't know.",
            ["payload: signed by key \(skid)"] + seen,
            do:
                "If the key is new, publish it in the set that the app fetches, before the backend signs with it. If it was "
                + "retired or destroyed, it can't be published again: let the backend sign with the current key of the "
                + "set, and seal queued pushes again.", explains: [.failure(.unknownKey)])
    }

    private static func signatureInvalid(_ evidence: Evidence) -> Fault? {
        guard evidence.trial?.hasValidSignature == false else { return nil }
        return Fault(
            "signature-invalid", "The push opens, but its signature isn't valid, so the device refuses it.",
            ["keys: the push opens", "trust: its signature isn't one of the sender's key"],
            do:
                "Sign with the key that \"skid\" names, as section 4 of docs/protocol.md describes. The signature covers "
                + "the topic, both ids of keys, the recipient's key and the message, so it belongs to one recipient.",
            explains: [.failure(.undecryptable)])
    }
}
