import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// What the recipient's keys show: those of the payload, of the backend's record, and of the device.
enum KeyFaults {
    static let all: [Detector] = [
        recordUnreadable, privateKeyRegistered, keyStorage, caseChanged, sealedToOtherKey, recordOfOtherKey, keyMissing,
        keyDamaged,
        keyEnded,
        noKeys, pskMissingAtBackend, pskUnknown, pskMissingOnDevice, pskDiffers, bareSharedKey, otherDevice,
        contradiction, deviceUnknown, sealedForAnotherTopic,
        undecryptable, notAMessage,
    ]

    private static let registerAgain =
        "Let the app register again: PushRegistration.register uploads the record of the key that the device has now."

    private static func recordUnreadable(_ evidence: Evidence) -> Fault? {
        guard case .unreadable(let error)? = evidence.registration else { return nil }
        let isSealed = evidence.payload.envelope != nil
        return Fault(
            "registration-unreadable",
            "The record that the backend has stored isn't a registration record"
                + (isSealed ? "." : ", so it can't seal to the device, and the push isn't encrypted."),
            ["registration: \(error.reason)"] + (isSealed ? [] : ["payload: no member \"pushcrypt\""]),
            do:
                "Store the bytes that the app uploads, unchanged: a record has up to 600 bytes. If sealing fails, send "
                + "no other push in its place. \(registerAgain)", hides: isSealed ? [] : ["not-sealed"])
    }

    private static func privateKeyRegistered(_ evidence: Evidence) -> Fault? {
        guard let entry = evidence.registration?.entry, entry.record.isPrivateAsymmetric else { return nil }
        return Fault(
            "private-key-registered",
            "The backend has the device's private key. Then it can read every push, and sealing to it is refused.",
            ["registration: key \(entry.record.kid) contains its private half"],
            do: "Delete it there. Upload only the registration record, and make a new key on the device.")
    }

    private static func keyStorage(_ evidence: Evidence) -> Fault? {
        guard let failure = evidence.report?.keyStorage else { return nil }
        let seen = ["report: the keys can't be read (\(failure.error): \(failure.reason))"]
        switch failure.error {
        case "locked":
            return Fault(
                "key-storage-locked",
                "The device's keys were locked: it was restarted and not unlocked since. Pushes show the placeholder "
                    + "until then, and an app must not make a key now.",
                seen + evidence.counted(.keyLocked),
                do:
                    "Unlock the device once. If the app makes its own keys, it must not make a new one while the "
                    + "storage is locked: DeviceIdentity throws \"locked\" then, and the app tries again when "
                    + "protected data is available."
            )
        case "notEntitled":
            return Fault(
                "key-storage-not-entitled",
                "The app may not use the shared storage: its entitlements lack the app group or the keychain group, "
                    + "or the name is misspelt.", seen,
                do:
                    "Add the same group to the entitlements of the app and of the extension, in Xcode under Signing & "
                    + "Capabilities, and use exactly that name in AppGroup.")
        case "insecure":
            return Fault(
                "key-storage-insecure",
                "The folder of the keys is a link, or other users can reach it, so it isn't used.", seen,
                do: "Use a folder in the app group's container that only the app and its extension write.")
        default:
            return Fault(
                "key-storage-failed", "The device's keys can't be read.", seen,
                do: "Look at the error. If it stays after a restart of the device, delete the keys and register again.")
        }
    }

    private static func kids(_ report: DeviceReport?) -> Set<String>? { report?.keys.map { Set($0.map(\.kid)) } }

    /// The ids of keys that may be in the payload.
    private static func knownIDs(_ evidence: Evidence) -> [String] {
        var known = [evidence.registration?.entry?.record.kid.description].compactMap(\.self)
        known += (evidence.report?.keys ?? []).map(\.kid) + (evidence.report?.senders?.kids ?? [])
        known += (evidence.keys?.keyIDs ?? []).map(\.description)
        if case .trusted(let senders)? = evidence.senders { known += senders.keyIDs.map(\.description) }
        return known
    }

    /// A service that compares names without regard to case has rewritten the id of a key.
    private static func caseChanged(_ evidence: Evidence) -> Fault? {
        let known = knownIDs(evidence)
        let seen = ["kid", "skid"].compactMap { name -> String? in
            guard let id = evidence.payload.envelope?[name]?.string, !known.contains(id),
                let right = known.first(where: { $0.lowercased() == id.lowercased() })
            else { return nil }
            return "payload: pushcrypt.\(name) is \(id), and the key's id is \(right)"
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "key-id-case-changed",
            "Something changed the case of letters in the id of a key, so the device doesn't find the key.",
            seen + evidence.counted(.unknownKey) + evidence.counted(.malformed),
            do:
                "Look for a database, header or host name that keeps the id in lower case. Ids are base64url: capital "
                + "and small letters differ.",
            hides: [
                "key-id-malformed", "sealed-to-another-key", "key-not-on-device", "registered-key-not-on-device",
                "sender-not-pinned",
            ])
    }

    /// The push is sealed to a key that isn't in the backend's record of this device.
    private static func sealedToOtherKey(_ evidence: Evidence) -> Fault? {
        guard let kid = evidence.payload.kid else { return nil }
        let onDevice = kids(evidence.report)
        if onDevice?.contains(kid.description) == true { return nil }
        let record = evidence.registration?.entry?.record.kid
        let given = evidence.keys.map { $0.keyIDs }
        if given?.contains(kid) == true { return nil }
        guard (record != nil && record != kid) || (record == nil && onDevice == nil && given != nil) else { return nil }
        var seen = ["payload: sealed to key \(kid)"]
        if let record { seen.append("registration: the key of this device is \(record)") }
        if let onDevice { seen.append("report: the device has \(list(onDevice.sorted()))") }
        if let given { seen.append("keys: they are \(list(given.map(\.description)))") }
        return Fault(
            "sealed-to-another-key", "The push was sealed to the key of another device, or to an old key of this one.",
            seen + evidence.counted(.unknownKey),
            do:
                "Look in the backend's database for the record with the key that the push is sealed to. If another device "
                + "has it, the backend mixed up two devices: store and replace device token and record together. "
                + "Otherwise it is an old key of this device: seal to its newest record.",
            hides: ["key-not-on-device"])
    }

    /// The ids of the device's keys, with the evidence: those of its report, else those of --keys.
    private static func deviceKeys(_ evidence: Evidence) -> (kids: Set<String>, seen: String)? {
        if let onDevice = kids(evidence.report) {
            let seen = onDevice.isEmpty ? "the device has no key" : "the device has \(list(onDevice.sorted()))"
            return (onDevice, "report: \(seen)")
        }
        let given = evidence.keys?.keyIDs.map(\.description)
        return given.map { (Set($0), "keys: they are \(list($0))") }
    }

    /// The backend's record belongs to a key that the device doesn't have.
    private static func recordOfOtherKey(_ evidence: Evidence) -> Fault? {
        guard let record = evidence.registration?.entry?.record, let (onDevice, seen) = deviceKeys(evidence),
            !onDevice.contains(record.kid.description)
        else { return nil }
        let isUsed = evidence.payload.kid.map { !onDevice.contains($0.description) } ?? true
        return Fault(
            isUsed ? .error : .warning, "registered-key-not-on-device",
            "The backend has the record of a key that isn't on the device. The device has replaced the key since, or "
                + "the app was reinstalled, restored from a backup or signed out, or the key was made while the "
                + "device's storage was locked, or it is the record of another device.",
            [
                "registration: key \(record.kid)", seen,
            ] + evidence.counted(.unknownKey),
            do: registerAgain
                + " If the app has uploaded it already, the backend keeps an old record, perhaps from a backup, or "
                + "that of another device: store device token and record together. Never make a key before the first "
                + "unlock.",
            hides: ["key-not-on-device", "device-without-keys"]
                + (evidence.payload.kid == record.kid ? ["sealed-to-another-key"] : []))
    }

    private static func keyMissing(_ evidence: Evidence) -> Fault? {
        guard let kid = evidence.payload.kid, let onDevice = kids(evidence.report), !onDevice.contains(kid.description)
        else { return nil }
        return Fault(
            "key-not-on-device", "The device doesn't have the key that the push is sealed to.",
            [
                "payload: sealed to key \(kid)",
                onDevice.isEmpty
                    ? "report: the device has no key" : "report: the device has \(list(onDevice.sorted()))",
            ] + evidence.counted(.unknownKey),
            do: "Seal to the record that this device has uploaded last. \(registerAgain)")
    }

    private static func keyDamaged(_ evidence: Evidence) -> Fault? {
        guard let key = evidence.reportedKey, key.state == "damaged" else { return nil }
        return Fault(
            "key-damaged", "The device's stored key is damaged, so it opens nothing.",
            ["report: key \(key.kid) is damaged"],
            do: registerAgain)
    }

    /// The recipient's key was revoked or has expired.
    private static func keyEnded(_ evidence: Evidence) -> Fault? {
        guard let kid = evidence.payload.kid else { return nil }
        let reported = evidence.reportedKey?.state
        let known = evidence.keys?.state(of: kid, at: evidence.time)?.description
        let ended = ["revoked", "expired", "destroyed"]
        guard let state = [reported, known].compactMap(\.self).first(where: ended.contains) else { return nil }
        let isRevoked = state == "revoked"
        return Fault(
            isRevoked ? "key-revoked" : "key-expired",
            isRevoked
                ? "The push is sealed to a key of the device that was revoked."
                : "The push is sealed to a key of the device that has expired.",
            [
                reported.map { "report: key \(kid) is \($0)" },
                known.map { "keys: key \(kid) is \($0) at \(evidence.time)" },
            ].compactMap(\.self) + evidence.counted(isRevoked ? .keyRevoked : .keyExpired),
            do:
                "Seal to the newest record of the device, and delete the old one. Don't keep sealed pushes for weeks: "
                + "a replaced key opens for 30 days. \(registerAgain)")
    }

    private static func noKeys(_ evidence: Evidence) -> Fault? {
        guard let keys = evidence.report?.keys, keys.isEmpty else { return nil }
        return Fault(
            "device-without-keys", "The device has no key: the app never made one, or the user signed out.",
            ["report: no keys"],
            do: registerAgain, hides: ["key-not-on-device"])
    }

    private static func hasDifference(_ evidence: Evidence, _ difference: Trial.Difference) -> Bool {
        evidence.trial?.differences?.contains(difference) ?? false
    }

    private static func pskMissingAtBackend(_ evidence: Evidence) -> Fault? {
        let record = evidence.registration?.entry?.record
        var seen: [String] = []
        if hasDifference(evidence, .withoutPSK) {
            seen.append("the push opens only without the psk of the device's key")
        }
        if evidence.registration?.entry?.demandsPSK == true, let record, !record.hasPSK {
            seen.append("registration: the published set, which says that key \(record.kid) has a psk, without it")
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
            "The backend sealed without the pre-shared key (psk) of the device: it has only the public key, not the "
                + "whole registration record.", seen + evidence.counted(.undecryptable),
            do:
                "Store the whole record that the app uploads, with its member \"psk\", not a published key file or "
                + "only the public members. \(registerAgain)")
    }

    /// Nothing that was given says whether the device's key has a psk.
    private static func pskUnknown(_ evidence: Evidence) -> Fault? {
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
                + "one. --report or --keys shows whether this key has one.")
    }

    private static func pskMissingOnDevice(_ evidence: Evidence) -> Fault? {
        guard let record = evidence.registration?.entry?.record, record.hasPSK else { return nil }
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
            seen + evidence.counted(.undecryptable),
            do:
                "Store the key as the library writes it, with its psk: an own storage or a migration has dropped it. "
                + "Then make a new key and register again.")
    }

    private static func pskDiffers(_ evidence: Evidence) -> Fault? {
        guard let record = evidence.registration?.entry?.record, let own = evidence.keys?.entry(record.kid)?.record,
            record.hasPSK, own.hasPSK, !record.isSameKey(as: own)
        else { return nil }
        return Fault(
            "psk-differs", "Backend and device have different pre-shared keys (psk) for this key pair.",
            ["registration and keys: key \(record.kid), with another psk"] + evidence.counted(.undecryptable),
            do: registerAgain)
    }

    private static func bareSharedKey(_ evidence: Evidence) -> Fault? {
        var seen: [String] = []
        if hasDifference(evidence, .bareSharedKey) {
            seen.append(
                "the push opens with the shared key itself, and not with the key that is derived for the device")
        }
        if let record = evidence.registration?.entry?.record, record.kind == .shared, record.deviceID == nil {
            if evidence.reportedKey?.suite == Suite.shared.rawValue || evidence.device != nil {
                seen.append("registration: the shared key itself, without a device")
            }
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "sealed-to-shared-key",
            "The push was sealed to the shared key itself. A device has only the key that is derived from it for this "
                + "device.",
            seen + evidence.counted(.undecryptable),
            do:
                "Name the device when sealing: --device ID, Keyset.device(_:), or the member \"device\" of each line "
                + "of a batch."
        )
    }

    private static func otherDevice(_ evidence: Evidence) -> Fault? {
        let id = evidence.trial?.differences?.lazy.compactMap { difference -> DeviceID? in
            if case .otherDevice(let id) = difference { id } else { nil }
        }.first
        guard let id else { return nil }
        return Fault(
            "sealed-to-another-device", "The push was sealed to the key of another device of the same shared key.",
            ["the push opens with the key of device \(id)"], do: "Use the id under which this device was registered.")
    }

    /// Inputs that aren't of one device.
    private static func contradiction(_ evidence: Evidence) -> Fault? {
        var seen: [String] = []
        if let device = evidence.device, let other = evidence.registration?.entry?.record.deviceID, other != device {
            seen.append("--device is \(device); registration: the record of device \(other)")
        }
        if let kid = evidence.payload.kid, kids(evidence.report)?.contains(kid.description) == true,
            let given = evidence.keys?.keyIDs, !given.contains(kid)
        {
            seen.append("report: the device has key \(kid); keys: they are \(list(given.map(\.description)))")
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            .warning, "inputs-contradict", "What was given isn't of one device.", seen,
            do: "Give the record, the report and the keys of the device that received the push, and its id.")
    }

    /// Only the shared key is given, from which each device has a key of its own.
    private static func deviceUnknown(_ evidence: Evidence) -> Fault? {
        guard let trial = evidence.trial, trial.lacksDevice, trial.differences == nil else { return nil }
        return Fault(
            .warning, "device-not-given",
            "--keys is the shared (master) key. Whether the push opens can't be checked without the device's id, because "
                + "each device has a key of its own.",
            ["keys: the shared key itself; the push doesn't open with it"],
            do: "Give --device ID, or --registration with the device's record, which contains the id.")
    }

    private static func sealedForAnotherTopic(_ evidence: Evidence) -> Fault? {
        let name = evidence.trial?.differences?.lazy.compactMap { difference -> String? in
            if case .topic(let name) = difference { name } else { nil }
        }.first
        guard let name, let expected = evidence.expectedTopic else { return nil }
        return Fault(
            "sealed-for-another-topic", "The push was sealed for another app than the one that received it.",
            ["the push opens with the topic \(name)", "the app's topic is \(expected)"]
                + evidence.counted(.undecryptable),
            do:
                "Use the bundle identifier of the app that receives the push as the topic where your backend seals. "
                + "Builds with another bundle identifier, such as a beta, need their own topic.")
    }

    /// The key is right, and nothing explains that the push doesn't open.
    private static func undecryptable(_ evidence: Evidence) -> Fault? {
        let hasFailed = evidence.trial.map { $0.differences == nil && !$0.lacksDevice } ?? false
        let counter = evidence.recent(.undecryptable).flatMap { evidence.concernsThisPush($0) ? $0 : nil }
        guard
            hasFailed || (counter != nil && evidence.trial == nil) || evidence.payload.reportedFailure == .undecryptable
        else { return nil }
        let suite = evidence.trial?.suite.rawValue ?? evidence.reportedKey?.suite
        let isShared = suite == Suite.shared.rawValue
        let reasons =
            isShared
            ? "it was sealed for another device id or to the shared key itself, for another topic, or it was changed "
                + "or cut off on the way"
            : "it was sealed for another topic (the extension's bundle identifier, a beta's), without or with another "
                + "psk, it isn't signed as the app demands, or it was changed or cut off on the way"
        return Fault(
            "undecryptable", "The device has the key, but the push doesn't open: \(reasons).",
            (hasFailed ? ["keys: the push doesn't open, whatever is assumed"] : []) + evidence.counted(.undecryptable),
            do:
                "Compare the topic of your backend with the app's bundle identifier; store the whole registration "
                + "record; send the sealed bytes unchanged, and compare their number with what was sealed."
                + narrowing(evidence),
            isSymptom: true)
    }

    /// The inputs that weren't given and can show more.
    private static func narrowing(_ evidence: Evidence) -> String {
        let inputs = [
            ("--topic", evidence.topic != nil || evidence.report != nil),
            ("--keys of a test device", evidence.keys != nil),
            ("--registration", evidence.registration != nil),
            ("--trust", evidence.senders != nil || evidence.report?.senders != nil),
            ("--report", evidence.report != nil),
        ].filter { !$0.1 }.map(\.0)
        guard let last = inputs.last else { return "" }
        let others = inputs.dropLast().joined(separator: ", ")
        return " " + (others.isEmpty ? "\(last) narrows" : "\(others) and \(last) narrow") + " it down."
    }

    private static func notAMessage(_ evidence: Evidence) -> Fault? {
        guard let trial = evidence.trial, trial.differences != nil, !trial.isWellFormed else { return nil }
        return Fault(
            "message-malformed",
            "The push opens, but what was sealed isn't a notification: it lacks an alert with text, or the header "
                + "that sealing adds.",
            ["the sealed message: no valid aps.alert and pushcrypt"],
            do:
                "Seal the APNs payload as you would send it without encryption, with the library or the tool, not "
                + "with HPKE alone."
        )
    }

    static func list(_ kids: [String]) -> String {
        let shown = kids.prefix(3).joined(separator: ", ")
        return (kids.count == 1 ? "key " : "keys ") + shown + (kids.count > 3 ? " and \(kids.count - 3) more" : "")
    }
}
