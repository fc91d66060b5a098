import PushCryptCore
import PushCryptExtension

/// What the device has counted. Most of it is an effect of what other checks find, so these are the last.
enum DeviceChecks {
    static let all: [Check] =
        [alertsNotAllowed, neverRan, stages]
        + FailureClass.Defined.allCases.map { failure in { @Sendable facts in counted(FailureClass(failure), facts) } }
        + [
            ownFailures, suppressed,
        ]

    private static func alertsNotAllowed(_ facts: Facts) -> Finding? {
        guard facts.report?.allowsAlerts == false else { return nil }
        return Finding(
            .alertsNotAllowed,
            "The user doesn't allow the app's alerts, or wasn't asked, so iOS shows no text and doesn't run the "
                + "extension.",
            ["report: alerts aren't allowed"],
            do:
                "Ask for permission with UNUserNotificationCenter.requestAuthorization. A user who has refused "
                + "isn't asked "
                + "again: show how to allow notifications in Settings.")
    }

    /// No counter. It is no fault if the report or the counters are younger than the push, as far as that is known.
    private static func neverRan(_ facts: Facts) -> Finding? {
        guard case .available? = facts.report?.store, let report = facts.report, let statistics = report.statistics,
            report.extension == nil, statistics.opened == nil, statistics.suppressed == nil, statistics.failures.isEmpty
        else { return nil }
        let issuedAt = facts.trial?.header?.issuedAt
        let isUnknown = issuedAt.map { $0.seconds > report.time } == true || statistics.rebuildCount > 0
        return Finding(
            isUnknown ? .note : .error, .extensionNeverRan,
            isUnknown
                ? "The extension has counted no push since the report or its counters are older than the push or "
                    + "were replaced."
                : "The extension has counted no push on this device: iOS doesn't run it, the device wasn't "
                    + "unlocked since its "
                    + "start when the push came, the extension was ended before it could count (a crash, too much "
                    + "memory), it "
                    + "uses another folder than the app, or no push has come since the counters began.",
            [
                "report: no push is counted at \(UnixTime(report.time)), and the counters were replaced "
                    + NumberText.counted(statistics.rebuildCount, "time")
            ] + (issuedAt.map { ["the sealed message: made at \($0)"] } ?? []),
            do:
                "Unlock the device and push again. Check that the user allows notifications, that the push arrives "
                + "as an alert "
                + "with \"mutable-content\": 1, that the extension is embedded and its minimum system isn't newer "
                + "than the "
                + "device's, and that app and extension have the same app group. Look for crash reports of the "
                + "extension in "
                + "Settings, Privacy & Security, Analytics Data.")
    }

    /// The stages of the extension that failed after the last restored push, or with it.
    private static func stages(_ facts: Facts) -> Finding? {
        let failed = (facts.report?.statistics?.stageFailures ?? []).filter { facts.isRecent($0.counter) }
        guard !failed.isEmpty else { return nil }
        let isContentMissing = failed.contains {
            ["attachments", "offload"].contains($0.stage) && facts.concernsThisPush($0.counter)
        }
        return Finding(
            isContentMissing ? .error : .warning, .deviceFailure,
            "A stage of the extension failed: the push was shown without its attachment, offloaded payload or "
                + "picture, or "
                + "without the result of the app's stage.",
            failed.prefix(5).map { failure in
                "report: the stage \(RequestHeaders.printable(failure.stage)) ended "
                    + "\(NumberText.counted(failure.counter.count, "time")): "
                    + "\(RequestHeaders.printable(failure.ending))"
            },
            do:
                "Check that addresses are https and of hosts that the app lists, that the server answers within "
                + "seconds "
                + "without a login, and that files are those that were sealed. A stage of the app must return "
                + "content with "
                + "text in a few seconds.")
    }

    // MARK: Failures

    private static func counted(_ failure: FailureClass, _ facts: Facts) -> Finding? {
        let seen = facts.seen(failure)
        guard !seen.isEmpty, let text = failure.defined?.text else { return nil }
        let isOfThisPush = facts.hasFailed(failure)
        // These have checks of their own, with more evidence.
        if isOfThisPush, [.undecryptable, .expired, .notYetValid].contains(failure) { return nil }
        return Finding(
            text.isNormal ? .note : isOfThisPush ? .error : .warning, .deviceFailure, text.meaning, seen,
            do: isOfThisPush ? text.advice : "Pushes to another key failed: give one of them to this command.")
    }

    private static func ownFailures(_ facts: Facts) -> Finding? {
        var names = Set((facts.report?.statistics?.failures ?? [:]).keys)
        if let reported = facts.payload.reportedFailure { names.insert(reported.rawValue) }
        let own = names.sorted().map(FailureClass.init).filter { $0.defined == nil && !facts.seen($0).isEmpty }
        guard !own.isEmpty else { return nil }
        return Finding(
            own.contains(where: facts.hasFailed) ? .error : .warning, .deviceFailure,
            "A push failed with a class of the app's own.", own.prefix(5).flatMap(facts.seen),
            do: "Look for the class in the code of the app's keys and senders.")
    }

    private static func suppressed(_ facts: Facts) -> Finding? {
        guard let counter = facts.report?.statistics?.suppressed, counter.recentCount > 0 else { return nil }
        return Finding(
            .note, .pushSuppressed,
            "The extension showed nothing for \(NumberText.counted(counter.count, "push")), because the sender or "
                + "the app "
                + "asked for it.",
            ["report: \(counter.count == 1 ? "" : "the last one ")at \(UnixTime(counter.lastTime))"],
            do: "Nothing, if this was asked for: quiet messages, for example.")
    }
}
