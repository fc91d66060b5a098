import PushCryptCore
import PushCryptExtension

/// Clocks, and messages that came too early or too late.
enum TimeChecks {
    static let all: [Check] = [deviceClock, early, expired]

    private static let tolerance = Freshness.toleranceInSeconds

    /// The year 2020 began. No device of today has an earlier time, unless its clock was never set.
    private static let earliest: Int64 = 1_577_836_800

    private static let setClocks =
        "Set the clocks of server and device automatically (NTP; on the device in Settings, General, Date & Time); "
        + "10 minutes "
        + "of difference are allowed. With --at, give the time of the delivery."

    /// A report can't come from the future. A slow clock looks like an old report.
    private static func deviceClock(_ facts: Facts) -> Finding? {
        guard let time = facts.report?.time else { return nil }
        let age = facts.time.seconds - time
        let end = facts.trial?.header?.expiresAt
        let seen =
            [reportTime(facts)].compactMap(\.self) + (end.map { ["the sealed message: it expires at \($0)"] } ?? [])
        if time < earliest {
            return Finding(
                .clockWrong, "The device's clock isn't set, so pushes come from the future there, and aren't shown.",
                seen,
                do: setClocks)
        }
        if age < -tolerance {
            let isExpiredThere = facts.hasFailed(.expired) || end.map { $0 > facts.time && $0.seconds <= time } ?? false
            return Finding(
                isExpiredThere ? .error : .warning, .clockWrong,
                "The device's clock is fast by \(duration(-age)). Pushes expire earlier by it, and aren't shown then.",
                seen,
                do: setClocks)
        }
        guard age > 3_600 else { return nil }
        return Finding(
            .note, .clockWrong, "The report is \(duration(age)) old, or the device's clock is slow by as much.", seen,
            do: "Nothing, if the app made the report then. Otherwise let it make a new one now: what is left of the "
                + "difference is an error of the clock.")
    }

    private static func reportTime(_ facts: Facts) -> String? {
        facts.report.map { "report: the device's time is \(UnixTime($0.time)), now is \(facts.time)" }
    }

    private static func duration(_ seconds: Int64) -> String {
        func rounded(to unit: Int64) -> Int64 { (seconds + unit / 2) / unit }
        return switch seconds {
        case 172_800...: "\(rounded(to: 86_400)) days"
        case 7_200...: "\(rounded(to: 3_600)) hours"
        default: "\(rounded(to: 60)) minutes"
        }
    }

    /// A report doesn't show which of the two clocks is wrong.
    private static func early(_ facts: Facts) -> Finding? {
        let issuedAt = facts.trial?.header?.issuedAt
        guard issuedAt.map({ $0 > facts.time + tolerance }) == true || facts.hasFailed(.notYetValid) else { return nil }
        return Finding(
            .clockWrong,
            "The push comes from the future, by the device's clock: the clock of the server is fast, or that of "
                + "the device "
                + "is slow.",
            facts.seen(.notYetValid) + [reportTime(facts)].compactMap(\.self)
                + (issuedAt.map { ["the sealed message: made at \($0), now is \(facts.time)"] } ?? []), do: setClocks)
    }

    /// The time of the diagnosis isn't that of the delivery, so only the device shows that a push came too late.
    private static func expired(_ facts: Facts) -> Finding? {
        let end = facts.trial?.header?.expiresAt
        let isCounted = facts.hasFailed(.expired)
        guard isCounted || end.map({ $0 <= facts.time }) == true else { return nil }
        return Finding(
            isCounted ? .error : .warning, .pushExpired,
            isCounted
                ? "The push had expired, by the device's clock, when it was delivered."
                : "The push has expired by now. If it was delivered only now, it isn't shown.",
            facts.seen(.expired)
                + (end.map { ["the sealed message: it expires at \($0), now is \(facts.time)"] } ?? []),
            do:
                "Seal when you send, or with a later expiry (--expires, up to 30 days): a push that waits in a "
                + "queue gets "
                + "older. If it was delivered earlier than now, give that time with --at.")
    }
}
