import PushCryptCore
import PushCryptExtension

/// Faults of the keys on the device.
extension KeyFaults {
    static func keyStorage(_ evidence: Evidence) -> Fault? {
        guard let failure = evidence.report?.keyStorage else { return nil }
        let unread: [Symptom] = [.failure(.unknownKey), .failure(.internalError), .noPush]
        let seen = ["report: the keys can't be read (\(failure.error): \(failure.reason))"]
        switch failure.error {
        case "locked":
            return Fault(
                "key-storage-locked",
                "The device's keys were locked: it was restarted and not unlocked since. Pushes show the placeholder "
                    + "until then, and an app must not make a key now.",
                seen,
                do:
                    "Unlock the device once. If the app makes its own keys, it must not make a new one while the "
                    + "storage is locked: DeviceIdentity throws \"locked\" then, and the app tries again when "
                    + "protected data is available.", explains: [.failure(.keyLocked), .noPush])
        case "notEntitled":
            return Fault(
                "key-storage-not-entitled",
                "The app may not use the shared storage: its entitlements lack the app group or the keychain group, "
                    + "or the name is misspelt.", seen,
                do:
                    "Add the same group to the entitlements of the app and of the extension, in Xcode under Signing & "
                    + "Capabilities, and use exactly that name in AppGroup.", explains: unread)
        case "insecure":
            return Fault(
                "key-storage-insecure",
                "The folder of the keys is a link, or other users can reach it, so it isn't used.", seen,
                do: "Use a folder in the app group's container that only the app and its extension write.",
                explains: unread)
        default:
            return Fault(
                "key-storage-failed", "The device's keys can't be read.", seen,
                do: "Look at the error. If it stays after a restart of the device, delete the keys and register again.",
                explains: unread)
        }
    }

    static func keyDamaged(_ evidence: Evidence) -> Fault? {
        guard let key = evidence.reportedKey, key.state == "damaged" else { return nil }
        return Fault(
            "key-damaged", "The device's stored key is damaged, so it opens nothing.",
            ["report: key \(key.kid) is damaged"],
            do: registerAgain, explains: [.failure(.unknownKey)])
    }

    /// The recipient's key was revoked or has expired.
    static func keyEnded(_ evidence: Evidence) -> Fault? {
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
                known.map { "keys: key \(kid) \(text(of: $0, evidence.keys?.entry(kid)?.lifecycle, evidence.time))" },
            ].compactMap(\.self),
            do:
                "Seal to the newest record of the device, and delete the old one. Don't keep sealed pushes for weeks: "
                + "a replaced key opens for 30 days. \(registerAgain)",
            explains: [.failure(isRevoked ? .keyRevoked : .keyExpired)])
    }

    /// `was revoked at TIME`: the time of the end, if the key has one.
    private static func text(of state: String, _ lifecycle: KeyLifecycle?, _ now: UnixTime) -> String {
        switch (state, lifecycle?.revokedAt, lifecycle?.expiresAt) {
        case ("revoked", let time?, _): "was revoked at \(time)"
        case ("expired", _, let time?): "expired at \(time)"
        default: "is \(state) at \(now)"
        }
    }

    static func noKeys(_ evidence: Evidence) -> Fault? {
        guard let keys = evidence.report?.keys, keys.isEmpty else { return nil }
        return Fault(
            "device-without-keys", "The device has no key: the app never made one, or the user signed out.",
            ["report: no keys"],
            do: registerAgain, hides: ["key-not-on-device"], explains: [.failure(.unknownKey)])
    }
}
