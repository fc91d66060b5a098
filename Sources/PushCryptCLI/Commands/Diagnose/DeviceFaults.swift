import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// What the device has counted. Most of it is an effect, which is shown only if nothing explains it.
enum DeviceFaults {
    static let all: [Detector] =
        [storeUnavailable, storeRebuilt, alertsNotAllowed, neverRan, suppressed, attachments, stages]
        + effects.map { effect in { @Sendable evidence in fault(effect, evidence) } }

    private static func storeUnavailable(_ evidence: Evidence) -> Fault? {
        guard case .failed(let failure)? = evidence.report?.store else { return nil }
        if failure.error == evidence.report?.keyStorage?.error { return nil }
        return Fault(
            failure.error == "locked" ? .note : .warning, "store-unavailable",
            "The app can't read its counters. Pushes are shown anyway, but a repeated push is shown twice.",
            ["report: \(failure.error): \(failure.reason)"],
            do: failure.error == "full"
                ? "Free space on the device."
                : "Check that app and extension use the same folder in the app group's container.")
    }

    private static func storeRebuilt(_ evidence: Evidence) -> Fault? {
        guard let count = evidence.report?.statistics?.rebuildCount, count > 0 else { return nil }
        return Fault(
            .note, "store-rebuilt", "The counters were damaged and replaced, so earlier failures may not be counted.",
            ["report: replaced \(NumberText.counted(count, "time"))"], do: "Nothing, unless it happens again.")
    }

    private static func alertsNotAllowed(_ evidence: Evidence) -> Fault? {
        guard evidence.report?.allowsAlerts == false else { return nil }
        return Fault(
            "alerts-not-allowed",
            "The user doesn't allow the app's alerts, or wasn't asked, so iOS shows no text and doesn't run the extension.",
            ["report: alerts aren't allowed"],
            do:
                "Ask for permission with UNUserNotificationCenter.requestAuthorization. A user who has refused isn't asked "
                + "again: show how to allow notifications in Settings.",
            hides: ["extension-never-ran"])
    }

    private static func neverRan(_ evidence: Evidence) -> Fault? {
        guard case .available? = evidence.report?.store, let statistics = evidence.report?.statistics,
            statistics.opened == nil, statistics.suppressed == nil, statistics.failures.isEmpty
        else { return nil }
        return Fault(
            "extension-never-ran",
            "The extension has counted no push on this device: iOS doesn't run it, the device wasn't unlocked since its "
                + "start when the push came, the extension was ended before it could count (a crash, too much memory), "
                + "or it uses another folder than the app.",
            ["report: no push is counted"],
            do:
                "Check that the user allows notifications, that the push arrived as an alert with "
                + "\"mutable-content\": 1, that the extension is embedded and its minimum system isn't newer than the "
                + "device's, and that app and extension have the same app group. --app examines the project. If it runs "
                + "on other devices, unlock this one and push again, and look for crash reports of the extension in "
                + "Settings, Privacy & Security, Analytics Data.", isSymptom: true)
    }

    private static func suppressed(_ evidence: Evidence) -> Fault? {
        guard let counter = evidence.report?.statistics?.suppressed, counter.recentCount > 0 else { return nil }
        return Fault(
            .note, "push-suppressed",
            "The extension showed nothing for \(NumberText.counted(counter.count, "push")), because the sender or the app "
                + "asked for it.",
            ["report: \(counter.count == 1 ? "" : "the last one ")at \(UnixTime(counter.lastTime))"],
            do: "Nothing, if this was asked for: quiet messages, for example.")
    }

    private static func attachments(_ evidence: Evidence) -> Fault? {
        let stages =
            evidence.report?.statistics?.stageFailures.filter {
                $0.stage == "attachments" && $0.counter.recentCount > 0
            } ?? []
        let counter = evidence.recent(.attachmentFailed)
        guard counter != nil || !stages.isEmpty || evidence.payload.reportedFailure == .attachmentFailed else {
            return nil
        }
        return Fault(
            "attachment-failed", "The text was restored, but an attachment couldn't be fetched.",
            evidence.counted(.attachmentFailed)
                + stages.map {
                    "report: the stage \"attachments\" \($0.ending) \(NumberText.counted($0.counter.count, "time"))"
                },
            do:
                "Check that the address is https, that the server answers within seconds without a login, and that "
                + "the file is the one that was sealed and of a type that iOS shows.")
    }

    private static func stages(_ evidence: Evidence) -> Fault? {
        let stages =
            evidence.report?.statistics?.stageFailures.filter {
                $0.stage != "attachments" && $0.counter.recentCount > 0
            } ?? []
        guard !stages.isEmpty else { return nil }
        return Fault(
            .warning, "stage-failed", "A stage of the app's extension failed: the push was shown without its result.",
            stages.prefix(5).map {
                "report: \"\($0.stage)\" \($0.ending) \(NumberText.counted($0.counter.count, "time"))"
            },
            do: "Look at this stage of the app's code. It must return content with text in a few seconds.")
    }

    private struct Effect {
        let failure: FailureClass
        let name: String
        let cause: String
        let advice: String
        /// Whether nothing is wrong, so that it is a note.
        var isNormal = false
        /// Whether `cause` says what happened to a key, which stands before it.
        var isOfKey = false
    }

    private static let effects: [Effect] = [
        Effect(
            failure: .notSealed, name: "device-counted-unsealed",
            cause: "The device received a push that wasn't sealed, or lost its member \"pushcrypt\" on the way.",
            advice: "Compare what your backend sends with what the device receives: a relay may drop members."),
        Effect(
            failure: .malformed, name: "device-counted-malformed",
            cause: "The device received a push that was changed on the way.",
            advice: "Compare what the device receives with the sealed payload; give it to this command."),
        Effect(
            failure: .unsupportedVersion, name: "device-counted-newer-version",
            cause: "The device received a push of a newer version than its app knows.", advice: "Update the app."),
        Effect(
            failure: .unknownKey, name: "device-counted-unknown-key",
            cause: "The device doesn't have the key that the push was sealed to, or doesn't know the sender's key.",
            advice: "Give --registration, --report and --trust to see which. Usually the app must register again."),
        Effect(
            failure: .keyLocked, name: "device-counted-locked",
            cause: "A push arrived before the device's first unlock after a restart: its keys were locked.",
            advice: "Nothing: this is normal until the user unlocks the device. Later pushes are restored.",
            isNormal: true),
        Effect(
            failure: .keyExpired, name: "device-counted-expired-key",
            cause: "had expired.",
            advice: "Let the app register again, and check that it gets a valid set of sender keys.",
            isOfKey: true),
        Effect(
            failure: .keyRevoked, name: "device-counted-revoked-key",
            cause: "was revoked.",
            advice: "Seal to the newest record of the device, and sign with the current sender key.",
            isOfKey: true),
        Effect(
            failure: .retracted, name: "device-counted-retracted",
            cause: "The sender took the message back before it was shown.", advice: "Nothing: this was asked for.",
            isNormal: true),
        Effect(
            failure: .timedOut, name: "extension-timed-out",
            cause: "The extension didn't finish in time, about 25 seconds.",
            advice: "Look for slow attachments and slow stages of the app; give them shorter time limits."),
        Effect(
            failure: .internalError, name: "extension-set-up-failed",
            cause: "The extension couldn't be set up, or couldn't reach its keys.",
            advice:
                "Check that the extension's entitlements name the same app group and keychain group as the app's, and "
                + "that its resources contain sender-pins.json. --app examines the project."),
    ]

    private static func fault(_ effect: Effect, _ evidence: Evidence) -> Fault? {
        let counter = evidence.recent(effect.failure)
        let isReported = evidence.payload.reportedFailure == effect.failure
        guard counter != nil || isReported else { return nil }
        let isOfThisPush = isReported || (counter.map(evidence.concernsThisPush) ?? false)
        let cause = (effect.isOfKey ? "The \(endedKey(evidence, counter)) " : "") + effect.cause
        return Fault(
            effect.isNormal ? .note : isOfThisPush ? .error : .warning, effect.name, cause,
            (isReported ? ["payload: the extension left the reason \(effect.failure)"] : [])
                + evidence.counted(effect.failure),
            do: effect.advice, isSymptom: true)
    }

    /// The key that ended: the device's or the sender's, as far as the inputs tell them apart.
    private static func endedKey(_ evidence: Evidence, _ counter: DeviceReport.Counter?) -> String {
        let kid = counter?.lastKid ?? evidence.payload.kid?.description
        let device = "device's key" + (kid.map { " \($0)" } ?? "")
        guard kid != nil, kid == evidence.payload.kid?.description else { return "\(device) or the sender's key" }
        guard let skid = evidence.payload.skid, evidence.report?.senders?.kids?.contains(skid.description) != true
        else {
            return device
        }
        let opening = [KeyState.pending, .primary, .retiring].map(\.description)
        let sender = "sender's key \(skid)"
        return opening.contains(evidence.reportedKey?.state ?? "") ? sender : "\(device) or the \(sender)"
    }
}
