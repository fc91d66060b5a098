import PushCryptCore
import PushCryptExtension

/// Faults of the id in the payload: the push is sealed to a key that the device doesn't have.
extension KeyFaults {
    /// The ids of keys that may be in the payload.
    private static func knownIDs(_ evidence: Evidence) -> [String] {
        var known = [evidence.registration?.entry?.record.kid.description].compactMap(\.self)
        known += (evidence.report?.keys ?? []).map(\.kid) + (evidence.report?.senders?.kids ?? [])
        known += (evidence.keys?.keyIDs ?? []).map(\.description)
        if case .trusted(let senders)? = evidence.senders { known += senders.keyIDs.map(\.description) }
        return known
    }

    /// A service that compares names without regard to case has rewritten the id of a key.
    static func caseChanged(_ evidence: Evidence) -> Fault? {
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
            seen,
            do:
                "Look for a database, header or host name that keeps the id in lower case. Ids are base64url: capital "
                + "and small letters differ.",
            hides: [
                "key-id-malformed", "sealed-to-another-key", "key-not-on-device", "registered-key-not-on-device",
                "sender-not-pinned", "undecryptable",
            ], explains: [.failure(.unknownKey), .failure(.malformed), .failure(.undecryptable)])
    }

    /// The push is sealed to a key that isn't in the backend's record of this device.
    static func sealedToOtherKey(_ evidence: Evidence) -> Fault? {
        guard let kid = evidence.payload.kid else { return nil }
        let onDevice = kids(evidence.report)
        if onDevice?.contains(kid.description) == true { return nil }
        let record = evidence.registration?.entry?.record.kid
        let given = evidence.keys.map { $0.keyIDs }
        if given?.contains(kid) == true { return nil }
        guard (record != nil && record != kid) || (record == nil && onDevice == nil && given != nil) else { return nil }
        var seen = ["payload: sealed to key \(kid)"]
        if let record { seen.append("registration: the key of this device is \(record)") }
        if let onDevice { seen.append(reported(onDevice)) }
        if let given { seen.append("keys: they are \(list(given.map(\.description)))") }
        return Fault(
            "sealed-to-another-key", "The push was sealed to the key of another device, or to an old key of this one.",
            seen,
            do:
                "Look in the backend's database for the record with the key that the push is sealed to. If another device "
                + "has it, the backend mixed up two devices: store and replace device token and record together. "
                + "Otherwise it is an old key of this device: seal to its newest record.",
            hides: ["key-not-on-device"], explains: [.failure(.unknownKey)])
    }

    static func keyMissing(_ evidence: Evidence) -> Fault? {
        guard let kid = evidence.payload.kid, let onDevice = kids(evidence.report), !onDevice.contains(kid.description)
        else { return nil }
        return Fault(
            "key-not-on-device", "The device doesn't have the key that the push is sealed to.",
            ["payload: sealed to key \(kid)", reported(onDevice)],
            do: "Seal to the record that this device has uploaded last. \(registerAgain)",
            explains: [.failure(.unknownKey)])
    }
}
