import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// Clocks, and messages that came too early, too late or twice.
enum TimeFaults {
    static let all: [Detector] = [clockUnset, clockFast, reportOld, early, expired, replayed]

    private static let tolerance = Freshness.toleranceInSeconds

    /// The year 2020 began. No device of today has an earlier time, unless its clock was never set.
    private static let earliest = UnixTime(1_577_836_800)

    private static func clockUnset(_ evidence: Evidence) -> Fault? {
        guard let time = evidence.report.map({ UnixTime($0.time) }), time < earliest else { return nil }
        return Fault(
            "device-clock-wrong",
            "The device's clock isn't set. Pushes seem to come from the future there, and aren't shown.",
            [reportTime(evidence)], do: setClock, hides: ["push-from-the-future", "report-old"],
            explains: [.failure(.notYetValid)])
    }

    private static let setClock = "Set the time of the device automatically (Settings, General, Date & Time)."

    /// A report can't come from the future. The clock is an error only if this push expires between the two times.
    private static func clockFast(_ evidence: Evidence) -> Fault? {
        guard let time = evidence.report?.time, time > evidence.time.seconds + tolerance else { return nil }
        let end = evidence.trial?.header?.expiresAt
        let isValid = end.map { $0 > evidence.time } ?? true
        let isExpiredThere = evidence.hasFailed(.expired) || end.map { $0.seconds <= time } ?? false
        let error = "The device's clock is fast by \(duration(time - evidence.time.seconds))"
        guard isValid, isExpiredThere else {
            let isGiven = evidence.given.contains(.time)
            return Fault(
                .warning, "device-clock-wrong",
                error + (isGiven ? ", or --at is earlier than the report" : "")
                    + ". Pushes expire earlier by a fast clock.",
                [reportTime(evidence)], do: (isGiven ? "If --at isn't the cause: " : "") + setClock)
        }
        return Fault(
            "device-clock-wrong", error + ". The push has expired by this clock, and isn't shown.",
            [reportTime(evidence)] + (end.map { ["the sealed message: it expires at \($0)"] } ?? []), do: setClock,
            hides: ["push-expired"], explains: [.failure(.expired)])
    }

    private static func reportTime(_ evidence: Evidence) -> String {
        "report: the device's time is \(UnixTime(evidence.report?.time ?? 0)), now is \(evidence.time)"
    }

    /// An old report, whose keys and counters may have changed; or the clock is slow, which nothing else shows.
    private static func reportOld(_ evidence: Evidence) -> Fault? {
        guard evidence.reportAge > 3_600 else { return nil }
        return Fault(
            .note, "report-old",
            "The report is \(duration(evidence.reportAge)) old, or the device's clock is slow by as much.",
            [reportTime(evidence)],
            do: "Nothing, if the app made the report then. Otherwise let it make a new one now: what is left of the "
                + "difference is an error of the clock.")
    }

    static func duration(_ seconds: Int64) -> String {
        func rounded(to unit: Int64) -> Int64 { (seconds + unit / 2) / unit }
        return switch seconds {
        case 172_800...: "\(rounded(to: 86_400)) days"
        case 7_200...: "\(rounded(to: 3_600)) hours"
        default: "\(rounded(to: 60)) minutes"
        }
    }

    /// Which clock is wrong can't be told from a report: a slow clock looks like an old report.
    private static func early(_ evidence: Evidence) -> Fault? {
        let issuedAt = evidence.trial?.header?.issuedAt
        let isInFuture = issuedAt.map { $0 > evidence.time + tolerance } ?? false
        guard isInFuture || evidence.hasFailed(.notYetValid) else { return nil }
        return Fault(
            "push-from-the-future",
            "The push comes from the future, by the device's clock: the clock of the server is fast, or that of the "
                + "device is slow.",
            (issuedAt.map { ["the sealed message: made at \($0), now is \(evidence.time)"] } ?? [])
                + (evidence.reportAge > tolerance ? [reportTime(evidence)] : []),
            do: (evidence.given.contains(.time) ? "If --at isn't the cause: " : "")
                + "Set both clocks automatically (NTP); 10 minutes of difference are allowed.",
            explains: [.failure(.notYetValid)])
    }

    /// The time of the diagnosis isn't that of the delivery, so only the device shows that a push came too late.
    private static func expired(_ evidence: Evidence) -> Fault? {
        let header = evidence.trial?.header
        let failure = header.flatMap {
            Freshness.failure(
                issuedAt: $0.issuedAt, expiresAt: $0.expiresAt, clock: evidence.time, highestIssuedAt: nil)
        }
        let seen = header.map { ["the sealed message: it expires at \($0.expiresAt), now is \(evidence.time)"] } ?? []
        if evidence.hasFailed(.expired) {
            return Fault(
                "push-expired", "The push had expired, by the device's clock, when it was delivered.", seen,
                do:
                    "Seal when you send, or with a later expiry (--expires, up to 30 days). A push that waits in a queue "
                    + "gets older. If the times look right, check the clocks of server and device.",
                explains: [.failure(.expired)])
        }
        guard failure == .expired else { return nil }
        return Fault(
            .warning, "push-expired", "The push has expired by now. If it was delivered only now, it isn't shown.",
            seen,
            do: "Seal when you send, or with a later expiry (--expires, up to 30 days)."
                + evidence.asking(for: .time) { " If it was delivered earlier, give that time with \($0)." }
                + evidence.asking(for: .report) { " The device's \($0) shows whether it came in time." })
    }

    private static func replayed(_ evidence: Evidence) -> Fault? {
        guard evidence.hasFailed(.replayed) else { return nil }
        return Fault(
            "push-repeated",
            "The same message was delivered twice: the same push again, or another push of the same campaign. The "
                + "extension shows a message once; the repeated one shows the placeholder.", [],
            do:
                "Send each sealed push once. To send again, seal again; give each campaign another name, because a "
                + "device shows one push of a campaign. If a relay retries, give the push an apns-collapse-id, so that "
                + "the copy replaces the first.", explains: [.failure(.replayed)])
    }
}
