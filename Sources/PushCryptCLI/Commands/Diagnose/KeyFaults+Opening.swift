import PushCryptCore
import PushCryptExtension

/// Faults that opening the push with the device's key shows.
extension KeyFaults {
    static func sealedForAnotherTopic(_ evidence: Evidence) -> Fault? {
        guard let name = evidence.trial?.otherTopic, let expected = evidence.expectedTopic else { return nil }
        return Fault(
            "sealed-for-another-topic", "The push was sealed for another app than the one that received it.",
            ["the push opens with the topic \(name)", "the app's topic is \(expected)"],
            do:
                "Use the bundle identifier of the app that receives the push as the topic where your backend seals. "
                + "Builds with another bundle identifier, such as a beta, need their own topic.",
            explains: [.failure(.undecryptable)])
    }

    /// The device has the key, and no assumption explains why the push doesn't open.
    static func undecryptable(_ evidence: Evidence) -> Fault? {
        let hasFailed = evidence.trial.map { $0.differences == nil && !$0.lacksDevice } ?? false
        guard hasFailed || evidence.hasFailed(.undecryptable) else { return nil }
        if evidence.trial?.differences == [] { return opensOnlyHere(evidence) }
        let causes = OpeningCauses(evidence)
        return Fault(
            "undecryptable",
            "The device has the key, but the push doesn't open: \(causes.left.joined(separator: ", or ")).",
            causes.seen + evidence.seen(.undecryptable),
            do:
                "Send the sealed bytes unchanged, and compare their number with what was sealed. Compare the topic with "
                + "which your backend seals with the app's bundle identifier. \(causes.advice)" + narrowing(evidence),
            symptom: hasFailed ? nil : .failure(.undecryptable))
    }

    /// The device counted a push to this key, and this one opens with --keys.
    private static func opensOnlyHere(_ evidence: Evidence) -> Fault {
        let isUnverified = evidence.payload.skid != nil && evidence.trial?.hasValidSignature == nil
        return Fault(
            "undecryptable",
            "A push to this key didn't open on the device, and this push opens with the given keys: "
                + (isUnverified ? "its signature, which wasn't verified, isn't valid, or " : "")
                + "the extension has another topic, psk or set of sender keys than was given, or the device counted "
                + "another push.",
            evidence.seen(.undecryptable),
            do: (isUnverified
                ? evidence.asking(for: .trust) { "Give the sender keys with \($0), which verifies the signature. " }
                : "")
                + "Compare the topic, the keys and the sender keys with those of the extension, and push again.",
            symptom: .failure(.undecryptable))
    }

    /// Names the inputs that weren't given and can show more.
    private static func narrowing(_ evidence: Evidence) -> String {
        let inputs = [
            ("--topic", evidence.topic != nil || evidence.report != nil),
            ("--keys of a test device", evidence.keys != nil),
            ("--registration", evidence.registration != nil),
            ("--trust", evidence.senders != nil || evidence.report?.senders != nil),
            ("--report", evidence.report != nil),
        ].filter { !$0.1 }.map(\.0)
        guard !inputs.isEmpty else { return "" }
        return inputs.listed(with: "and") + (inputs.count == 1 ? " narrows" : " narrow") + " it down."
    }

    static func notAMessage(_ evidence: Evidence) -> Fault? {
        guard let flaw = evidence.trial?.flaw else { return nil }
        return Fault(
            "message-malformed", "The push opens, but what was sealed isn't a notification that the device can show.",
            ["the sealed message: \(flaw)"],
            do:
                "Seal the APNs payload as you would send it without encryption, with the library or the tool, not "
                + "with HPKE alone. A sender of your own follows section 5 of docs/protocol.md.",
            explains: [.failure(.malformed)])
    }
}

/// Why a push doesn't open with the right key: the causes that the inputs leave, and what excludes the others.
private struct OpeningCauses {
    private(set) var left = ["it was changed or cut off on the way"]
    /// What was tried, and what excludes a cause.
    private(set) var seen: [String] = []
    private(set) var advice = ""
    private let evidence: Evidence
    private var hasFailed: Bool { evidence.trial.map { $0.differences == nil } ?? false }

    init(_ evidence: Evidence) {
        self.evidence = evidence
        addLength()
        addTopic()
        let suite = evidence.trial?.suite.rawValue ?? evidence.reportedKey?.suite
        if suite == Suite.shared.rawValue { addDevice() } else { addPSK() }
        addSignature()
    }

    private mutating func addLength() {
        guard let count = PayloadFaults.usualLength(evidence) else { return }
        seen.append("payload: pushcrypt.sealed has \(count) characters, a usual limit of databases and logs")
        advice = "Look for such a limit. "
    }

    private mutating func addTopic() {
        let topic = evidence.expectedTopic.map { RequestHeaders.printable($0) }
        left.append("it was sealed for another topic than \(topic ?? "the app's")")
        guard hasFailed, let topic, let kid = evidence.payload.kid else { return }
        seen.append(
            "keys: the push doesn't open with key \(kid) for the topic \(topic), nor for those that are often used by "
                + "mistake")
    }

    private mutating func addDevice() {
        let device = evidence.recipientDevice.map { "\($0)" } ?? "this one"
        left.append("it was sealed to the key of another device than \(device)")
        advice +=
            (evidence.device == nil ? "" : "Check --device. ")
            + "The backend must seal with the id under which this device was registered. "
        let entry = evidence.payload.kid.flatMap { evidence.keys?.entry($0) }
        if hasFailed, entry?.record.isDeviceKey == false {
            seen.append("keys: the push doesn't open with the shared key itself either")
        }
    }

    private mutating func addPSK() {
        let record = evidence.registration?.entry?.record
        let isOfPush = record?.kid == evidence.payload.kid
        if isOfPush, let record, let own = evidence.keys?.entry(record.kid)?.record, record.isSameKey(as: own) {
            return seen.append(
                own.hasPSK ? "registration and keys: they have the same psk" : "registration and keys: they have no psk"
            )
        }
        if isOfPush, record?.hasPSK == false, evidence.reportedKey?.hasPSK == false {
            return seen.append("registration and report: the key has no psk")
        }
        left.append("it was sealed with another psk than the device has" + (hasFailed ? "" : ", or without it"))
        advice += "Store the whole registration record. "
    }

    private mutating func addSignature() {
        // The extension leaves no skid in a placeholder with this reason.
        let isPlaceholder = evidence.payload.reportedFailure != nil
        let isUnsigned = isPlaceholder ? "" : ", and the push has none"
        let isTampered = "its signature isn't valid"
        let wasNeverSigned = "it isn't signed, although the app pins senders"
        if evidence.payload.skid != nil {
            // Opening here accepts every signature; the device doesn't.
            if !hasFailed { left.append(isTampered) }
        } else if case .unsigned? = evidence.senders {
            seen.append("trust: the app expects no signature" + isUnsigned)
        } else if evidence.report?.senders?.unsigned == true {
            seen.append("report: the app expects no signature" + isUnsigned)
        } else if isPlaceholder {
            left += [isTampered, wasNeverSigned]
        } else {
            left.append("it was signed and has lost its \"skid\"")
            if !hasFailed { left.append(wasNeverSigned) }
        }
    }
}
