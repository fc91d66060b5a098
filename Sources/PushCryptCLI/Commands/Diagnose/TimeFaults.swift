import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// Clocks, and messages that came too early, too late or twice.
enum TimeFaults {
    static let all: [Detector] = [clockUnset, clockFast, clockSlow, reportOld, senderClock, expired, replayed]

    private static let tolerance = Freshness.toleranceInSeconds

    /// The year 2020 began. No device of today has an earlier time, unless its clock was never set.
    private static let earliest = UnixTime(1_577_836_800)

    private static func clockUnset(_ evidence: Evidence) -> Fault? {
        guard let time = evidence.report.map({ UnixTime($0.time) }), time < earliest else { return nil }
        return Fault(
            "device-clock-wrong",
            "The device's clock isn't set. Pushes seem to come from the future there, and aren't shown.",
            ["report: the device's time is \(time), now is \(evidence.time)"] + evidence.counted(.notYetValid),
            do: setClock, hides: hiddenByClock)
    }

    private static let setClock = "Set the time of the device automatically (Settings, General, Date & Time)."
    private static let hiddenByClock = [
        "push-expired", "push-from-the-future", "sender-expired", "key-expired", "report-old",
    ]

    private static func clockFast(_ evidence: Evidence) -> Fault? {
        guard let time = evidence.report?.time, time > evidence.time.seconds + tolerance else { return nil }
        return clock("fast", by: time - evidence.time.seconds, evidence, evidence.counted(.expired))
    }

    /// An old report looks like a slow clock, so a failure must show that it wasn't.
    private static func clockSlow(_ evidence: Evidence) -> Fault? {
        guard let time = evidence.report?.time, time < evidence.time.seconds - tolerance, UnixTime(time) >= earliest
        else { return nil }
        let isEarly = evidence.recent(.notYetValid).map(evidence.concernsThisPush) ?? false
        let isBeforeMessage = evidence.trial?.header.map { $0.issuedAt.seconds > time + tolerance } ?? false
        guard isEarly || isBeforeMessage && hasSeenPush(evidence) else { return nil }
        return clock("slow", by: evidence.time.seconds - time, evidence, evidence.counted(.notYetValid))
    }

    /// Whether the device counted a push of this key.
    private static func hasSeenPush(_ evidence: Evidence) -> Bool {
        guard let kid = evidence.payload.kid?.description, let statistics = evidence.report?.statistics else {
            return false
        }
        return ([statistics.opened].compactMap(\.self) + statistics.failures.values).contains { $0.lastKid == kid }
    }

    private static func clock(
        _ error: String, by seconds: Int64, _ evidence: Evidence, _ counted: [String]
    ) -> Fault {
        let device = UnixTime(evidence.report?.time ?? 0)
        return Fault(
            "device-clock-wrong",
            "The device's clock is \(error) by \(duration(seconds)). Pushes seem "
                + "\(error == "fast" ? "expired" : "to come from the future") there, and aren't shown.",
            ["report: the device's time is \(device), now is \(evidence.time)"] + counted,
            do: setClock, hides: hiddenByClock)
    }

    /// An old report, whose keys and counters may have changed; or the clock is slow, which nothing else shows.
    private static func reportOld(_ evidence: Evidence) -> Fault? {
        guard evidence.reportAge > 3_600 else { return nil }
        return Fault(
            .note, "report-old",
            "The report is \(duration(evidence.reportAge)) old, or the device's clock is slow by as much.",
            ["report: the device's time is \(UnixTime(evidence.report?.time ?? 0)), now is \(evidence.time)"],
            do: "Nothing, if the app made the report then. Otherwise let it make a new one now: what is left of the "
                + "difference is an error of the clock.")
    }

    static func duration(_ seconds: Int64) -> String {
        switch seconds {
        case 172_800...: "\(seconds / 86_400) days"
        case 7_200...: "\(seconds / 3_600) hours"
        default: "\(seconds / 60) minutes"
        }
    }

    private static func senderClock(_ evidence: Evidence) -> Fault? {
        if let header = evidence.trial?.header, header.issuedAt > evidence.time + tolerance {
            return early(["the sealed message: made at \(header.issuedAt), now is \(evidence.time)"], evidence)
        }
        guard let counter = evidence.recent(.notYetValid), evidence.concernsThisPush(counter) else { return nil }
        return early([], evidence)
    }

    private static func early(_ seen: [String], _ evidence: Evidence) -> Fault {
        Fault(
            "push-from-the-future",
            "The push comes from the future, by the device's clock: the clock of the server is fast, or that of the "
                + "device is slow.",
            seen + evidence.counted(.notYetValid),
            do: "Set both clocks automatically (NTP); 10 minutes of difference are allowed.")
    }

    private static func expired(_ evidence: Evidence) -> Fault? {
        var seen: [String] = []
        // A push that failed for another reason may have expired only since then.
        if let header = evidence.trial?.header, !hasOtherOutcome(evidence) {
            let failure = Freshness.failure(
                issuedAt: header.issuedAt, expiresAt: header.expiresAt, clock: evidence.time, highestIssuedAt: nil)
            if failure == .expired {
                seen.append("the sealed message: it expired at \(header.expiresAt), now is \(evidence.time)")
            }
        }
        if let counter = evidence.recent(.expired), evidence.concernsThisPush(counter) {
            seen += evidence.counted(.expired)
        }
        guard !seen.isEmpty else { return nil }
        return Fault(
            "push-expired", "The push has expired: it was delivered after the time until which it may be shown.", seen,
            do:
                "Seal when you send, or with a later expiry (--expires, up to 30 days). A push that waits in a queue "
                + "gets older. If the time looks right, check the clock of the server.")
    }

    /// Whether the device has counted another outcome of a push to this key, and no expired one.
    private static func hasOtherOutcome(_ evidence: Evidence) -> Bool {
        evidence.recent(.expired) == nil && hasSeenPush(evidence)
    }

    private static func replayed(_ evidence: Evidence) -> Fault? {
        guard let counter = evidence.recent(.replayed), evidence.concernsThisPush(counter) else { return nil }
        return Fault(
            "push-repeated",
            "The same message was delivered twice: the same push again, or another push of the same campaign. The "
                + "extension shows a message once; the repeated one shows the placeholder.",
            evidence.counted(.replayed),
            do:
                "Send each sealed push once. To send again, seal again; give each campaign another name, because a "
                + "device shows one push of a campaign. If a relay retries, give the push an apns-collapse-id, so that "
                + "the copy replaces the first.", isSymptom: true)
    }
}
