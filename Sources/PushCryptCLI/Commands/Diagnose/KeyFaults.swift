import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// What the recipient's keys show: those of the payload, of the backend's record, and of the device.
enum KeyFaults {
    static let all: [Detector] = [
        recordUnreadable, privateKeyRegistered, keyStorage, caseChanged, sealedToOtherKey, recordOfOtherKey, keyMissing,
        keyDamaged, keyEnded, noKeys, recordNotUsed, pskMissingAtBackend, pskUnknown, pskMissingOnDevice, pskDiffers,
        bareSharedKey, recordWithoutDevice, otherDevice,
        contradiction, deviceUnknown, sealedForAnotherTopic,
        undecryptable, notAMessage,
    ]

    static let registerAgain =
        "Let the app register again: PushRegistration.register uploads the record of the key that the device has now."

    /// Inputs that belong to different devices.
    static func contradiction(_ evidence: Evidence) -> Fault? {
        var seen: [String] = []
        let devices = [
            ("--device is", evidence.device), ("keys: those of device", evidence.keyDevice),
            ("registration: the record of device", evidence.registration?.entry?.record.deviceID),
        ].compactMap { place, device in device.map { (place, "\($0)") } }
        if Set(devices.map(\.1)).count > 1 { seen.append(devices.map { "\($0) \($1)" }.joined(separator: "; ")) }
        // The push is for the device of the record, and --keys is that of another one.
        var hidden = evidence.keyDevice == nil || seen.isEmpty ? [] : ["sealed-to-another-device"]
        if evidence.hasKeys, let given = evidence.keys?.keyIDs.map(\.description), let onDevice = kids(evidence.report),
            !onDevice.isEmpty
        {
            let kid = evidence.payload.kid?.description
            let areOfOthers = onDevice.isDisjoint(with: given)
            if areOfOthers || kid.map({ onDevice.contains($0) && !given.contains($0) }) == true {
                seen.append("\(reported(onDevice)); keys: they are \(list(given))")
            }
            // These findings would blame the device for the report of another one.
            if areOfOthers, let kid, given.contains(kid) {
                hidden += ["key-not-on-device", "registered-key-not-on-device", "extension-never-ran"]
            }
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            .warning, "inputs-contradict", "The record, the report, the keys or the id belong to different devices.",
            seen,
            do: "Give the record, the report and the keys of the device that received the push, and its id.",
            hides: hidden)
    }

    static func kids(_ report: DeviceReport?) -> Set<String>? { report?.keys.map { Set($0.map(\.kid)) } }

    /// The ids of the device's keys, with the evidence: those of its report, else those of --keys.
    static func deviceKeys(_ evidence: Evidence) -> (kids: Set<String>, seen: String)? {
        if let onDevice = kids(evidence.report) { return (onDevice, reported(onDevice)) }
        let given = evidence.keys?.keyIDs.map(\.description)
        return given.map { (Set($0), "keys: they are \(list($0))") }
    }

    static func reported(_ kids: Set<String>) -> String {
        "report: the device has " + (kids.isEmpty ? "no key" : list(kids.sorted()))
    }

    static func hasDifference(_ evidence: Evidence, _ difference: Trial.Difference) -> Bool {
        evidence.trial?.differences?.contains(difference) ?? false
    }

    static func list(_ kids: [String]) -> String {
        let shown = kids.prefix(3).joined(separator: ", ")
        return (kids.count == 1 ? "key " : "keys ") + shown + (kids.count > 3 ? " and \(kids.count - 3) more" : "")
    }
}
