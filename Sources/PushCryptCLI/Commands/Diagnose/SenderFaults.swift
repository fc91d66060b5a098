import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// Who signed the push, and whom the app trusts: its pins as given, or as the device reports them.
enum SenderFaults {
    static let all: [Detector] = [
        contradiction, setRefused, setUnavailable, notSigned, signatureUnexpected, senderEnded, senderUnknown,
    ]

    /// Whether the push is sealed, and its signature isn't the effect of damage.
    private static func isSealed(_ evidence: Evidence) -> Bool { evidence.payload.kid != nil }

    /// --trust names other senders than the device's report.
    private static func contradiction(_ evidence: Evidence) -> Fault? {
        guard let given = evidence.senders, let reported = evidence.report?.senders else { return nil }
        let onDevice = reported.kids.map { Set($0).union((reported.refused ?? [:]).keys) } ?? []
        let device =
            reported.unsigned == true
            ? "pins no sender" : onDevice.isEmpty ? nil : "pins \(KeyFaults.list(onDevice.sorted()))"
        let trust: String
        switch given {
        case .unsigned where reported.unsigned != true: trust = "the app pins no sender"
        case .trusted(let senders) where onDevice.isDisjoint(with: senders.keyIDs.map(\.description)):
            trust = "the app pins \(KeyFaults.list(senders.keyIDs.map(\.description)))"
        default: return nil
        }
        guard let device else { return nil }
        let skid = evidence.payload.skid?.description
        let opensOnDevice = skid.map { reported.kids?.contains($0) == true } ?? (reported.unsigned == true)
        return Fault(
            .warning, "inputs-contradict", "--trust isn't what the device trusts, by its report.",
            ["trust: \(trust)", "report: the device \(device)"],
            do: "Give the sender keys that the app on this device pins. If it should pin those of --trust, update the "
                + "app, or let it fetch the set again.", hides: opensOnDevice ? ofTrust : [])
    }

    /// The findings that --trust alone causes.
    private static let ofTrust = [
        "signature-unexpected", "sender-not-pinned", "sender-expired", "sender-revoked", "push-not-signed",
    ]

    private static func setRefused(_ evidence: Evidence) -> Fault? {
        guard case .refused(let error)? = evidence.senders else { return nil }
        let reasons: [KeyError.Code: String] = [
            .notSigned: "no publisher that the app pins has signed it",
            .otherSet: "it is another set than the pinned one",
            .otherTopic: "it is for other apps", .otherEpoch: "it has another epoch than the app pins",
            .expired: "its validity has ended", .issuedInFuture: "it was issued in the future",
        ]
        return Fault(
            "sender-set-refused",
            "The app refuses the published set of sender keys\(reasons[error.code].map { ": " + $0 } ?? "").",
            ["trust: \(error.reason)"],
            do:
                "Publish the set again with `pushcrypt keys export --signed-by`, for the app's bundle identifier and "
                + "with the publisher and epoch that the app's bundle pins.")
    }

    private static func setUnavailable(_ evidence: Evidence) -> Fault? {
        guard let error = evidence.report?.senders?.error else { return nil }
        let seen = ["report: the sender keys can't be used (\(error): \(evidence.report?.senders?.reason ?? ""))"]
        switch error {
        case "keyLocked":
            return Fault(
                "sender-set-locked", "The sender keys were locked: the device wasn't unlocked since its start.", seen,
                do: "Unlock the device once.")
        case "missingResource":
            return Fault(
                "sender-pins-missing", "The app doesn't contain its pins (sender-pins.json), so it trusts no sender.",
                seen,
                do: "Add sender-pins.json to the resources of the app target.")
        default:
            return Fault(
                "sender-set-missing",
                "The device has no usable set of sender keys, so it trusts no sender and opens no push.",
                seen + evidence.counted(.unknownKey),
                do:
                    "Ship a signed set with the app, or let it fetch one before its first registration, and check "
                    + "that the set is for this app, publisher and epoch.")
        }
    }

    private static func notSigned(_ evidence: Evidence) -> Fault? {
        guard isSealed(evidence), evidence.payload.envelope?["skid"] == nil else { return nil }
        var seen: [String] = []
        if case .trusted(let senders)? = evidence.senders {
            seen.append("trust: the app pins \(KeyFaults.list(senders.keyIDs.map(\.description)))")
        }
        if let kids = evidence.report?.senders?.kids { seen.append("report: the device pins \(KeyFaults.list(kids))") }
        guard !seen.isEmpty else { return nil }
        // A signed push doesn't open without its skid.
        let wasNeverSigned = evidence.trial?.differences != nil
        return Fault(
            "push-not-signed", "The push isn't signed, but the app accepts only pushes of the senders that it pins.",
            ["payload: pushcrypt has no skid"] + seen + evidence.counted(.undecryptable),
            do:
                "Let the backend sign: `pushcrypt seal --sign-with Keys/NAME`, or Sealer(topic:signer:)."
                + (wasNeverSigned
                    ? ""
                    : " If it signs, something removed \"skid\" on the way: a relay must send all members of "
                        + "\"pushcrypt\"."))
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
            ["payload: signed by key \(skid)"] + seen + evidence.counted(.unknownKey),
            do: "Pin the backend's sender keys in the app (SenderTrust.pinned), or stop signing.")
    }

    /// Why the pinned key doesn't verify; nil if it does, or isn't pinned.
    private static func failure(_ evidence: Evidence, _ skid: KeyID) -> (failure: FailureClass, place: String)? {
        if case .trusted(let senders)? = evidence.senders, senders.keyIDs.contains(skid) {
            do throws(FailureClass) { _ = try senders.verificationKey(skid, at: evidence.time) } catch {
                return (error, "trust")
            }
        }
        return evidence.report?.senders?.refused?[skid.description].map { (FailureClass(rawValue: $0), "report") }
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
            ["payload: signed by key \(skid)", "\(place): this key is \(isRevoked ? "revoked" : "expired")"]
                + evidence.counted(failure),
            do: isRevoked
                ? "Sign with the current sender key. If the key was stolen, this push may not be yours."
                : "Sign with the current sender key, and check that the app gets a set of sender keys that is still "
                    + "valid."
        )
    }

    private static func senderUnknown(_ evidence: Evidence) -> Fault? {
        guard let skid = evidence.payload.skid else { return nil }
        var seen: [String] = []
        if case .trusted(let senders)? = evidence.senders, !senders.keyIDs.contains(skid) {
            seen.append("trust: the app pins \(KeyFaults.list(senders.keyIDs.map(\.description)))")
        }
        if let senders = evidence.report?.senders, let kids = senders.kids, !kids.contains(skid.description),
            senders.refused?[skid.description] == nil
        {
            seen.append(
                kids.isEmpty
                    ? "report: the device pins no valid key" : "report: the device pins \(KeyFaults.list(kids))")
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "sender-not-pinned", "The push is signed by a sender key that the app doesn't know.",
            ["payload: signed by key \(skid)"] + seen + evidence.counted(.unknownKey),
            do:
                "If the key is new, publish it in the set that the app fetches, before the backend signs with it. If it was "
                + "retired or destroyed, it can't be published again: let the backend sign with the current key of the "
                + "set, and seal queued pushes again.")
    }
}
