import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// What the device has counted. Most of it is an effect, which is shown only if nothing explains it.
enum DeviceFaults {
    static let all: [Detector] =
        [storeUnavailable, storeRebuilt, alertsNotAllowed, neverRan, suppressed, attachments, offload, avatar, stages]
        + FailureClass.Defined.allCases.map(DeviceEffect.detector) + [DeviceEffect.others]

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
                + "again: show how to allow notifications in Settings.", explains: [.noPush])
    }

    /// No counter. It is no fault if the report or the counters are younger or older than the push, as far as that is known.
    private static func neverRan(_ evidence: Evidence) -> Fault? {
        guard case .available? = evidence.report?.store, let report = evidence.report,
            let statistics = report.statistics, statistics.opened == nil, statistics.suppressed == nil,
            statistics.failures.isEmpty
        else { return nil }
        if let issuedAt = evidence.trial?.header?.issuedAt, issuedAt.seconds > report.time {
            return Fault(
                .note, "extension-never-ran",
                "The report is older than the push, or the device's clock is slow. So it can't show whether the extension "
                    + "ran.",
                [
                    "the sealed message: made at \(issuedAt)",
                    "report: no push is counted, and the device's time is \(UnixTime(report.time))",
                ], do: "Let the app make a report after the push has come.", symptom: .noPush)
        }
        let wasRebuilt = statistics.rebuildCount > 0
        return Fault(
            wasRebuilt ? .note : .error, "extension-never-ran",
            "The extension has counted no push on this device: "
                + (wasRebuilt ? "the counters were lost when they were replaced, or " : "")
                + "iOS doesn't run it, the device wasn't unlocked since its "
                + "start when the push came, the extension was ended before it could count (a crash, too much memory), "
                + "or it uses another folder than the app. Or no push has come since the app was installed, or since it "
                + "reset the counters (resetStatistics).",
            ["report: no push is counted"],
            do:
                "Check that the user allows notifications, that the push arrived as an alert with "
                + "\"mutable-content\": 1, that the extension is embedded and its minimum system isn't newer than the "
                + "device's, and that app and extension have the same app group."
                + evidence.asking(for: .app) { " \($0) examines the project." } + " If it runs "
                + "on other devices, unlock this one and push again, and look for crash reports of the extension in "
                + "Settings, Privacy & Security, Analytics Data.", symptom: .noPush)
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
}

/// The stages of the extension that failed after the last restored push, or with it.
extension DeviceFaults {
    private static func failed(_ evidence: Evidence, _ isIncluded: (String) -> Bool) -> [DeviceReport.StageCounter] {
        evidence.report?.statistics?.stageFailures.filter { isIncluded($0.stage) && evidence.isRecent($0.counter) }
            ?? []
    }

    private static let endings = [
        StageFailure.Ending.timedOut.description: "timed out",
        StageFailure.Ending.emptied.description: "returned no text",
    ]

    private static func seen(_ stages: [DeviceReport.StageCounter]) -> [String] {
        stages.prefix(5).map {
            let ending = endings[$0.ending] ?? RequestHeaders.printable($0.ending)
            let stage = RequestHeaders.printable($0.stage)
            return "report: the stage \(stage) \(ending) \(NumberText.counted($0.counter.count, "time"))"
        }
    }

    private static func severity(_ stages: [DeviceReport.StageCounter], _ evidence: Evidence) -> Fault.Severity {
        stages.contains { evidence.concernsThisPush($0.counter) } ? .error : .warning
    }

    private static func attachments(_ evidence: Evidence) -> Fault? {
        let stages = failed(evidence) { $0 == "attachments" }
        let isReported = evidence.payload.reportedFailure == .attachmentFailed
        guard evidence.recent(.attachmentFailed) != nil || isReported || !stages.isEmpty else { return nil }
        return Fault(
            evidence.hasFailed(.attachmentFailed) ? .error : severity(stages, evidence), "attachment-failed",
            stages.isEmpty
                ? "The text was restored, but an attachment or an offloaded payload couldn't be fetched."
                : "The text was restored, but an attachment couldn't be fetched.",
            evidence.seen(.attachmentFailed) + seen(stages),
            do:
                "Check that the address is https, that the server answers within seconds without a login, and that "
                + "the file is the one that was sealed and of a type that iOS shows.",
            symptom: stages.isEmpty ? .failure(.attachmentFailed) : nil)
    }

    private static func offload(_ evidence: Evidence) -> Fault? {
        let stages = failed(evidence) { $0 == "offload" }
        guard !stages.isEmpty else { return nil }
        return Fault(
            severity(stages, evidence), "offload-failed",
            "The offloaded payload couldn't be fetched, so the short alert of the push was shown.", seen(stages),
            do:
                "Check that the server answers within seconds without a login, and that the uploaded bytes are those that "
                + "were sealed.", explains: [.failure(.attachmentFailed)])
    }

    private static func avatar(_ evidence: Evidence) -> Fault? {
        let stages = failed(evidence) { $0 == "avatar" }
        guard !stages.isEmpty else { return nil }
        return Fault(
            .warning, "avatar-failed", "The picture of the sender couldn't be fetched: the push was shown without it.",
            seen(stages),
            do:
                "Check that the app lists the host of the address, and that the server answers within seconds without a "
                + "login.")
    }

    private static func stages(_ evidence: Evidence) -> Fault? {
        let stages = failed(evidence) { !["attachments", "offload", "avatar"].contains($0) }
        guard !stages.isEmpty else { return nil }
        return Fault(
            .warning, "stage-failed", "A stage of the app's extension failed: the push was shown without its result.",
            seen(stages), do: "Look at this stage of the app's code. It must return content with text in a few seconds."
        )
    }
}
