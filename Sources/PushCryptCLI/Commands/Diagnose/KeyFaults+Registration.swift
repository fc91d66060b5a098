import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// Faults of the record that the backend has stored for the device.
extension KeyFaults {
    static func recordUnreadable(_ evidence: Evidence) -> Fault? {
        guard case .unreadable(let error)? = evidence.registration else { return nil }
        // A payload that can't be read may be sealed.
        let isUnsealed = evidence.payload.root != nil && evidence.payload.envelope == nil
        guard error.code != .unsupportedSuite else { return recordUnsupported(error) }
        return Fault(
            "registration-unreadable",
            "The record that the backend has stored isn't a registration record"
                + (isUnsealed ? ", so it can't seal to the device, and the push isn't encrypted." : "."),
            ["registration: \(error.reason)"] + (isUnsealed ? ["payload: no member \"pushcrypt\""] : []),
            do:
                "Store the bytes that the app uploads, unchanged: a record has up to 600 bytes, and about 1,750 in "
                + "suite 3. If sealing fails, send no other push in its place. \(registerAgain)",
            hides: isUnsealed ? ["not-sealed"] : [],
            explains: isUnsealed ? [.failure(.notSealed)] : [])
    }

    /// The record is whole, and another host can seal to it.
    private static func recordUnsupported(_ error: KeyError) -> Fault {
        Fault(
            "registration-unsupported-suite",
            "The record that the backend has stored has a suite that this host lacks, so this host can't seal to it or "
                + "compare it.",
            ["registration: \(error.reason)"],
            do: "Update OpenSSL on each host that seals to the device, or seal on a host that has it. Keep the record.")
    }

    static func privateKeyRegistered(_ evidence: Evidence) -> Fault? {
        guard let entry = evidence.registration?.entry, entry.record.isPrivateAsymmetric else { return nil }
        return Fault(
            "private-key-registered",
            "The backend has the device's private key. Then it can read every push, and sealing to it is refused.",
            ["registration: key \(entry.record.kid) contains its private half"],
            do: "Delete it there. Upload only the registration record, and make a new key on the device.")
    }

    /// The backend's record belongs to a key that the device doesn't have.
    static func recordOfOtherKey(_ evidence: Evidence) -> Fault? {
        guard let record = evidence.registration?.entry?.record, let (onDevice, seen) = deviceKeys(evidence),
            !onDevice.contains(record.kid.description)
        else { return nil }
        let isUsed = evidence.payload.kid.map { !onDevice.contains($0.description) } ?? true
        return Fault(
            isUsed ? .error : .warning, "registered-key-not-on-device",
            "The backend has the record of a key that isn't on the device. The device has replaced the key since, or "
                + "the app was reinstalled, restored from a backup or signed out, or the key was made while the "
                + "device's storage was locked, or it is the record of another device.",
            ["registration: key \(record.kid)", seen],
            do: registerAgain
                + " If the app has uploaded it already, the backend keeps an old record, perhaps from a backup, or "
                + "that of another device: store device token and record together. Never make a key before the first "
                + "unlock.",
            hides: ["key-not-on-device", "device-without-keys"]
                + (evidence.payload.kid == record.kid ? ["sealed-to-another-key"] : []),
            explains: [.failure(.unknownKey)])
    }
}
