import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// What the recipient's keys show: those of the payload, of the backend's record, and of the device.
enum KeyChecks {
    /// The record that the backend has stored, and whether it is of the device of the other inputs.
    static let record: [Check] = [recordUnreadable, privateKeyRegistered, contradiction]
    static let device: [Check] = [storage, notOnDevice, ended, psk, otherDevice, sharedKeyWithoutDevice]
    /// What only opening the push shows.
    static let opening: [Check] = [messageMalformed, undecryptable]

    private static let registerAgain =
        "Let the app register again: PushRegistration.register uploads the record of the key that the device has now."

    // MARK: The record

    private static func recordUnreadable(_ facts: Facts) -> Finding? {
        guard case .unreadable(let error)? = facts.registration else { return nil }
        let seen = ["registration: \(error.reason)"]
        guard error.code != .unsupportedSuite else {
            return Finding(
                .registrationUnsupportedSuite,
                "The record has a suite that this host lacks, so this host can't seal to it or compare it.", seen,
                do:
                    "Update OpenSSL on each host that seals to the device, or seal on a host that has it. Keep the "
                    + "record."
            )
        }
        return Finding(
            .registrationUnreadable,
            "The record that the backend has stored isn't a registration record, so it can't seal to the device.", seen,
            do:
                "Store the bytes that the app uploads, unchanged: a record has up to 600 bytes, and about 1,750 in "
                + "suite 3. "
                + "If sealing fails, send no other push in its place. \(registerAgain)")
    }

    private static func privateKeyRegistered(_ facts: Facts) -> Finding? {
        guard let record = facts.record, record.isPrivateAsymmetric else { return nil }
        return Finding(
            .privateKeyRegistered,
            "The backend has the device's private key. Then it can read every push, and sealing to it is refused.",
            ["registration: key \(record.kid) contains its private half"],
            do: "Delete it there. Upload only the registration record, and make a new key on the device.")
    }

    /// Inputs of different devices, with which other findings would blame the wrong one.
    private static func contradiction(_ facts: Facts) -> Finding? {
        var seen: [String] = []
        let keyDevice = facts.hasKeys ? facts.device : nil
        if let keyDevice, let other = facts.record?.deviceID, other != keyDevice {
            seen.append("keys: those of device \(keyDevice); registration: the record of device \(other)")
        }
        if facts.hasKeys, let given = facts.keys?.keyIDs.map(\.description), let device = facts.deviceKeys,
            facts.report?.keys != nil, !device.kids.isEmpty
        {
            let kid = facts.payload.kid?.description ?? ""
            let isOfOther = Set(given).isDisjoint(with: device.kids)
            if isOfOther || device.kids.contains(kid) && !given.contains(kid) {
                seen.append("\(device.seen); keys: they are \(Facts.list(given))")
            }
        }
        if opensAsIs(facts), let record = facts.record, record.kind == .recipient,
            let own = facts.keys?.entry(record.kid)?.record, !record.isSameKey(as: own)
        {
            seen.append("the push opens with the key in keys; registration: another psk for key \(record.kid), or none")
        }
        guard !seen.isEmpty else { return nil }
        return Finding(
            .inputsContradict,
            "The record, the report and the keys belong to different devices, or aren't of this push.",
            seen, do: "Give those of the device that received the push, and the record that the backend used for it.")
    }

    // MARK: The device

    private static func storage(_ facts: Facts) -> Finding? {
        guard let report = facts.report else { return nil }
        if let failure = report.keyStorage {
            return Finding(
                .storageFailed, "The app can't read its keys. An extension that can't either shows the placeholder.",
                ["report: the keys can't be read (\(failure.error): \(failure.reason))"],
                do: [
                    "locked":
                        "Unlock the device once: it was restarted. An app that makes its own keys must not make one "
                        + "before.",
                    "notEntitled":
                        "Add the same app group to the entitlements of the app and of the extension, in Xcode "
                        + "under Signing & Capabilities, and use exactly that name in AppGroup.",
                    "insecure": "Use a folder in the app group's container that only the app and its extension write.",
                ][failure.error]
                    ?? "Look at the error. If it stays after a restart of the device, delete the keys and register "
                    + "again."
            )
        }
        guard case .failed(let failure)? = report.store else { return nil }
        return Finding(
            failure.error == "locked" ? .note : .warning, .storageFailed,
            "The app can't read its counters. Pushes are shown anyway, but a repeated push is shown twice.",
            ["report: the counters can't be read (\(failure.error): \(failure.reason))"],
            do: "Free space on the device, and check that app and extension use the same folder in the app group's "
                + "container.")
    }

    private static func notOnDevice(_ facts: Facts) -> Finding? {
        let (kid, record) = (facts.payload.kid, facts.record?.kid)
        var seen = [kid.map { "payload: sealed to key \($0)" }, record.map { "registration: key \($0)" }].compactMap(
            \.self)
        var severity = Finding.Severity.error
        if let reported = facts.reported(kid), reported.state == "damaged" {
            seen.append("report: key \(reported.kid) is damaged")
        } else if let device = facts.deviceKeys {
            let hasRecord = record.map { device.kids.contains("\($0)") } ?? true
            let hasKey = kid.map { device.kids.contains("\($0)") } ?? hasRecord
            guard !hasKey || !hasRecord || device.kids.isEmpty else { return nil }
            if hasKey, !device.kids.isEmpty { severity = .warning }
            seen.append(device.seen)
        } else {
            guard let kid, let record, kid != record else { return nil }
        }
        return Finding(
            severity, .keyNotOnDevice,
            severity == .warning
                ? "The backend's record has a key that isn't on the device, and this push has another one."
                : "The device doesn't have the key that the push is sealed to: it is the key of another device, or "
                    + "it was "
                    + "replaced since, is damaged, or was lost when the user signed out or the app was reinstalled "
                    + "or restored "
                    + "from a backup.",
            seen,
            do: registerAgain
                + " If it has, the backend keeps an old record or that of another device: store device token "
                + "and record together, and seal to the newest record. Never make a key before the first unlock.")
    }

    private static func ended(_ facts: Facts) -> Finding? {
        guard let kid = facts.payload.kid else { return nil }
        let states = ["revoked", "expired", "destroyed"]
        let reported = facts.reported(kid).flatMap {
            states.contains($0.state) ? "report: key \(kid) is \($0.state)" : nil
        }
        let known = facts.hasKeys ? facts.keys?.ending(of: kid, at: facts.time).map { "keys: \($0)" } : nil
        guard reported != nil || known != nil else { return nil }
        return Finding(
            .keyEnded, "The push is sealed to a key of the device that has expired or was revoked.",
            [reported, known].compactMap(\.self),
            do:
                "Seal to the newest record of the device, and delete the old one. Don't keep sealed pushes for "
                + "weeks: a "
                + "replaced key opens for 30 days. \(registerAgain)")
    }

    // MARK: The psk

    /// Whether the push opens with the psk that the device's key has or lacks. Then the backend sealed it to the right
    /// key, whatever the given record says.
    private static func opensAsIs(_ facts: Facts) -> Bool {
        guard let differences = facts.trial?.differences, facts.hasKeys, facts.record?.kid == facts.payload.kid else {
            return false
        }
        return !differences.contains(.withoutPSK) && !differences.contains(.pskOfRegistration)
    }

    private static func psk(_ facts: Facts) -> Finding? {
        func finding(_ cause: String, _ seen: String, _ severity: Finding.Severity = .error) -> Finding {
            Finding(
                severity, .pskDiffers, cause, [seen],
                do:
                    "Store the whole record that the app uploads, with its member \"psk\", and on the device the "
                    + "key as the "
                    + "library writes it. \(registerAgain)")
        }
        if facts.trial?.differences?.contains(.withoutPSK) == true {
            return finding(
                "The backend sealed without the pre-shared key (psk) of the device: it has stored only the public key.",
                "the push opens only without the psk of the device's key")
        }
        guard !opensAsIs(facts), let record = facts.record, record.kind == .recipient else { return nil }
        let own = facts.hasKeys ? facts.keys?.entry(record.kid)?.record : nil
        let reported = facts.reported(record.kid).flatMap { $0.state == "damaged" ? nil : $0.hasPSK }
        switch (record.hasPSK, own?.hasPSK ?? reported ?? (facts.entry?.demandsPSK == true ? true : nil)) {
        case (false, true?):
            return finding(
                "The stored record lacks the pre-shared key (psk), so the device can't open what is sealed to it.",
                facts.entry?.demandsPSK == true
                    ? "registration: it is the published set, which says that key \(record.kid) has a psk and lacks it"
                    : "registration: key \(record.kid) has no psk, and the device's key has one")
        case (true, false?):
            return finding(
                "The device has lost the pre-shared key (psk) of its key: an own storage or a migration has "
                    + "dropped it.",
                "registration: key \(record.kid) has a psk, and the device's key has none")
        case (true, true?):
            guard let own, !record.isSameKey(as: own) else { return nil }
            return finding(
                "Backend and device have different pre-shared keys (psk) for this key pair.",
                "registration and keys: key \(record.kid), with another psk")
        case (false, nil):
            return finding(
                "The stored record has no pre-shared key (psk). An app's keys have one unless it asks for keys "
                    + "without.",
                "registration: key \(record.kid) has no psk", .warning)
        default: return nil
        }
    }

    // MARK: Shared keys

    private static let nameDevice =
        "Name the device when sealing: --device ID, Keyset.device(_:), or the member \"device\" of each line of a "
        + "batch. Use "
        + "the id under which this device was registered."

    private static func otherDevice(_ facts: Facts) -> Finding? {
        func finding(_ seen: String) -> Finding {
            Finding(
                .sealedToAnotherDevice,
                "The push wasn't sealed to the key that is derived from the shared key for this device.", [seen],
                do: nameDevice)
        }
        if facts.trial?.differences?.contains(.bareSharedKey) == true {
            return finding("the push opens with the shared key itself")
        }
        return facts.trial?.otherDevice.map { finding("the push opens with the key of device \($0)") }
    }

    private static func sharedKeyWithoutDevice(_ facts: Facts) -> Finding? {
        let isUnchecked = facts.trial.map { $0.lacksDevice && $0.differences == nil } ?? false
        let isUnknown =
            facts.trial == nil && facts.record?.kind == .shared && facts.record?.deviceID == nil
            && facts.reported(facts.payload.kid)?.suite == Suite.shared.rawValue
        guard isUnchecked || isUnknown else { return nil }
        return Finding(
            .warning, .sealedToAnotherDevice,
            "What was given is the shared (master) key. Whether the push opens can't be checked without the key or "
                + "record of "
                + "the device, because each device has a key of its own.",
            ["\(facts.hasKeys ? "keys" : "registration"): the shared key itself, without a device"],
            do: "Give the device's record with --registration, which contains its id. \(nameDevice)")
    }

    // MARK: Opening

    private static func messageMalformed(_ facts: Facts) -> Finding? {
        guard facts.trial?.isMalformed == true else { return nil }
        return Finding(
            .messageMalformed, "The push opens, but what was sealed isn't a notification that the device can show.",
            ["the sealed message: it isn't a JSON object with a visible aps.alert and a valid member pushcrypt"],
            do:
                "Seal the APNs payload as you would send it without encryption, with the library or the tool, not "
                + "with HPKE "
                + "alone. A sender of your own follows section 5 of docs/protocol.md.")
    }

    /// The device has the key, and no other check explains why the push doesn't open.
    private static func undecryptable(_ facts: Facts) -> Finding? {
        let hasCounted = facts.hasFailed(.undecryptable)
        var seen = facts.seen(.undecryptable)
        if let trial = facts.trial {
            guard let differences = trial.differences else {
                guard !trial.lacksDevice || hasCounted else { return nil }
                let topic = RequestHeaders.printable(facts.expectedTopic ?? "")
                seen.append(
                    "keys: the push doesn't open with key \(facts.payload.kid?.description ?? "") for the topic "
                        + "\(topic), "
                        + "nor for those that are often used by mistake")
                return undecryptable(seen)
            }
            guard hasCounted, differences.isEmpty else { return nil }
            return undecryptable(seen + ["keys: this push opens with the given keys for the topic of the app"])
        }
        return hasCounted ? undecryptable(seen) : nil
    }

    private static func undecryptable(_ seen: [String]) -> Finding {
        Finding(
            .undecryptable,
            "The device has the key, but a push to it doesn't open: it was changed or cut off on the way; or "
                + "backend and "
                + "extension have another topic, psk or set of sender keys, or another device's id; or its "
                + "signature isn't "
                + "valid or got lost.",
            seen,
            do:
                "Send the sealed bytes unchanged, and compare their number with what was sealed. Compare the topic "
                + "with which "
                + "your backend seals with the app's bundle identifier, and store the whole registration record.")
    }
}

extension Keyset {
    /// `key KID was revoked at TIME`; nil for a key that hasn't ended.
    func ending(of kid: KeyID, at time: UnixTime) -> String? {
        guard let state = state(of: kid, at: time), [.revoked, .expired, .destroyed].contains(state) else { return nil }
        let lifecycle = entry(kid)?.lifecycle
        let text =
            switch (state, lifecycle?.revokedAt, lifecycle?.expiresAt) {
            case (.revoked, let time?, _): "was revoked at \(time)"
            case (.expired, _, let time?): "expired at \(time)"
            default: "is \(state)"
            }
        return "key \(kid) \(text)"
    }
}
