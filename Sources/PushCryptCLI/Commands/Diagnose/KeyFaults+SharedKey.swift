import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// Faults in the use of a shared (master) key, from which each device has a key of its own.
extension KeyFaults {
    private static let nameDevice =
        "Name the device when sealing: --device ID, Keyset.device(_:), or the member \"device\" of each line of a batch."

    static func bareSharedKey(_ evidence: Evidence) -> Fault? {
        guard hasDifference(evidence, .bareSharedKey) else { return nil }
        return Fault(
            "sealed-to-shared-key",
            "The push was sealed to the shared key itself. A device has only the key that is derived from it for this "
                + "device.",
            ["the push opens with the shared key itself, and not with the key that is derived for the device"],
            do: nameDevice, explains: [.failure(.undecryptable)])
    }

    /// The record is the shared key, and nothing shows whether the backend derives the device's key when it seals.
    static func recordWithoutDevice(_ evidence: Evidence) -> Fault? {
        guard evidence.trial == nil, let record = evidence.registration?.entry?.record, record.kind == .shared,
            record.deviceID == nil, evidence.device != nil || evidence.reportedKey?.suite == Suite.shared.rawValue
        else { return nil }
        return Fault(
            .warning, "registration-without-device",
            "The stored record is the shared key itself. If the backend seals to it without the device's id, the device "
                + "can't open the push.", ["registration: the shared key itself, without a device"], do: nameDevice)
    }

    static func otherDevice(_ evidence: Evidence) -> Fault? {
        guard let id = evidence.trial?.otherDevice else { return nil }
        return Fault(
            "sealed-to-another-device", "The push was sealed to the key of another device of the same shared key.",
            ["the push opens with the key of device \(id)"], do: "Use the id under which this device was registered.",
            explains: [.failure(.undecryptable)])
    }

    /// Only the shared key is given, and nothing names the device.
    static func deviceUnknown(_ evidence: Evidence) -> Fault? {
        guard let trial = evidence.trial, trial.lacksDevice, trial.differences == nil else { return nil }
        let place = evidence.hasKeys ? "keys" : "registration"
        return Fault(
            .warning, "device-not-given",
            "--\(place) is the shared (master) key. Whether the push opens can't be checked without the device's id, "
                + "because each device has a key of its own.",
            ["\(place): the shared key itself; the push doesn't open with it"],
            do: "Give --device ID"
                + evidence.asking(for: .registration) { ", or \($0) with the device's record, which contains the id" }
                + ".")
    }
}
