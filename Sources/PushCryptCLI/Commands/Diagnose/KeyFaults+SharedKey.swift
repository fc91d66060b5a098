import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// Faults in the use of a shared (master) key, from which each device has a key of its own.
extension KeyFaults {
    static func bareSharedKey(_ evidence: Evidence) -> Fault? {
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

    static func otherDevice(_ evidence: Evidence) -> Fault? {
        let id = evidence.trial?.differences?.lazy.compactMap { difference -> DeviceID? in
            if case .otherDevice(let id) = difference { id } else { nil }
        }.first
        guard let id else { return nil }
        return Fault(
            "sealed-to-another-device", "The push was sealed to the key of another device of the same shared key.",
            ["the push opens with the key of device \(id)"], do: "Use the id under which this device was registered.")
    }

    /// Only the shared key is given, and nothing names the device.
    static func deviceUnknown(_ evidence: Evidence) -> Fault? {
        guard let trial = evidence.trial, trial.lacksDevice, trial.differences == nil else { return nil }
        return Fault(
            .warning, "device-not-given",
            "--keys is the shared (master) key. Whether the push opens can't be checked without the device's id, because "
                + "each device has a key of its own.",
            ["keys: the shared key itself; the push doesn't open with it"],
            do: "Give --device ID, or --registration with the device's record, which contains the id.")
    }
}
