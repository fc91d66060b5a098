import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// Faults of the pre-shared key (psk) that belongs to a key pair.
extension KeyFaults {
    /// Whether the push opens with the psk that the device's key has or lacks. Then the backend sealed it to the right key,
    /// whatever the given record says.
    private static func opensAsIs(_ evidence: Evidence) -> Bool {
        guard let differences = evidence.trial?.differences, evidence.hasKeys,
            evidence.registration?.entry?.record.kid == evidence.payload.kid
        else { return false }
        return !differences.contains(.withoutPSK) && !differences.contains(.pskOfRegistration)
    }

    static func recordNotUsed(_ evidence: Evidence) -> Fault? {
        guard opensAsIs(evidence), let record = evidence.registration?.entry?.record, record.kind == .recipient,
            let own = evidence.keys?.entry(record.kid)?.record, !record.isSameKey(as: own)
        else { return nil }
        let has = record.hasPSK ? (own.hasPSK ? "another psk" : "a psk") : "no psk"
        return Fault(
            .warning, "registration-not-used",
            "The given record isn't the one that this push was sealed to: its pre-shared key (psk) isn't that of the push.",
            [
                "registration: key \(record.kid) has \(has)",
                "keys: the push opens \(own.hasPSK ? "with the psk of this key" : "without a psk")",
            ],
            do:
                "Give the record that the backend used for this push. If the backend has stored this one since, the device "
                + "can't open what is sealed to it. \(registerAgain)")
    }

    static func pskMissingAtBackend(_ evidence: Evidence) -> Fault? {
        guard !opensAsIs(evidence) else { return nil }
        let record = evidence.registration?.entry?.record
        var seen: [String] = []
        if hasDifference(evidence, .withoutPSK) {
            seen.append("the push opens only without the psk of the device's key")
        }
        if evidence.registration?.entry?.demandsPSK == true, let record, !record.hasPSK {
            seen.append(
                "registration: it is the published set, which says that key \(record.kid) has a psk and lacks it")
        } else if let record, record.kind == .recipient, !record.hasPSK {
            let own = record.kid.description
            if evidence.report?.keys?.first(where: { $0.kid == own })?.hasPSK == true {
                seen.append("registration: key \(own) has no psk; report: the device's key has one")
            } else if evidence.keys?.entry(record.kid)?.record.hasPSK == true {
                seen.append("registration: key \(own) has no psk; keys: the device's key has one")
            }
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "psk-missing-at-backend",
            (hasDifference(evidence, .withoutPSK)
                ? "The backend sealed without the pre-shared key (psk) of the device"
                : "The stored record lacks the pre-shared key (psk), so the device can't open what is sealed to it")
                + ": the backend has only the public key, not the whole registration record.",
            seen,
            do:
                "Store the whole record that the app uploads, with its member \"psk\", not a published key file or "
                + "only the public members. \(registerAgain)", hides: ["registration-without-psk"],
            explains: [.failure(.undecryptable)])
    }

    /// Nothing that was given says whether the device's key has a psk.
    static func pskUnknown(_ evidence: Evidence) -> Fault? {
        guard let record = evidence.registration?.entry?.record, record.kind == .recipient, !record.hasPSK,
            evidence.keys?.entry(record.kid) == nil,
            evidence.report?.keys?.contains(where: { $0.kid == record.kid.description }) != true
        else { return nil }
        return Fault(
            .warning, "registration-without-psk",
            "The stored record has no pre-shared key (psk). If the device's key has one, the device can't open the push.",
            ["registration: key \(record.kid) has no psk"],
            do:
                "Store the whole record that the app uploads. An app's keys have a psk unless it asks for keys without "
                + "one." + evidence.asking(for: .report, .keys) { " \($0) shows whether this key has one." })
    }

    static func pskMissingOnDevice(_ evidence: Evidence) -> Fault? {
        guard let record = evidence.registration?.entry?.record, record.hasPSK, !opensAsIs(evidence) else { return nil }
        let kid = record.kid.description
        var seen: [String] = []
        if let key = evidence.report?.keys?.first(where: { $0.kid == kid }), !key.hasPSK, key.state != "damaged" {
            seen.append("report: key \(kid) has no psk; registration: it has one")
        }
        if let key = evidence.keys?.entry(record.kid)?.record, !key.hasPSK {
            seen.append("keys: key \(kid) has no psk; registration: it has one")
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "psk-missing-on-device",
            "The device has lost the pre-shared key (psk) of its key pair, so it can't open what the backend seals "
                + "with it.",
            seen,
            do:
                "Store the key as the library writes it, with its psk: an own storage or a migration has dropped it. "
                + "Then make a new key and register again.", explains: [.failure(.undecryptable)])
    }

    static func pskDiffers(_ evidence: Evidence) -> Fault? {
        guard let record = evidence.registration?.entry?.record, let own = evidence.keys?.entry(record.kid)?.record,
            record.hasPSK, own.hasPSK, !record.isSameKey(as: own), !opensAsIs(evidence)
        else { return nil }
        return Fault(
            "psk-differs", "Backend and device have different pre-shared keys (psk) for this key pair.",
            ["registration and keys: key \(record.kid), with another psk"],
            do: registerAgain, explains: [.failure(.undecryptable)])
    }
}
