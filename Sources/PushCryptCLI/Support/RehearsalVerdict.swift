import PushCryptCore
import PushCryptKeystore

/// What a rehearsal comes to, in words.
struct RehearsalVerdict {
    let outcome: RehearsalOutcome

    var losesNone: Bool { outcome.tally.pushes.lostToPolicy == 0 }

    var sentence: String {
        let pushes = outcome.tally.pushes
        guard !losesNone else {
            return "This policy loses no push of \(ShareText.grouped(pushes.sent))."
        }
        let share = ShareText.percent(pushes.lostToPolicy, of: pushes.sent)
        return "This policy loses \(share) of the pushes: \(ShareText.grouped(pushes.lostToPolicy)) of "
            + "\(ShareText.grouped(pushes.sent)) would show the placeholder."
    }

    /// What to do about it; nil where nothing is lost.
    var advice: String? {
        guard !losesNone else { return nil }
        let (smallest, rotateEvery) = (outcome.smallestLeadInSeconds, outcome.policy.rotateEveryInSeconds)
        let lead = Self.rounded(smallest)
        if let lead = [lead, smallest].first(where: { $0 < rotateEvery }) {
            return "With --publish-lead \(Self.option(lead)) it would lose none."
        }
        let (longer, shown) = (Self.option(Self.rounded(lead + 86_400)), DurationText.human(rotateEvery))
        return "No publishLead shorter than rotateEvery (\(shown)) loses none: --rotate-every \(longer) with "
            + "--publish-lead \(Self.option(lead)) would."
    }

    /// What is not counted against the policy; nil where there's nothing.
    var unseen: String? {
        let pushes = outcome.tally.pushes
        guard pushes.deviceUnseen > 0 else { return nil }
        return "Besides, \(ShareText.percent(pushes.deviceUnseen, of: pushes.sent)) went to devices that had fetched "
            + "nothing for over 30 days."
    }

    var words: String { [sentence, advice, unseen].compactMap(\.self).joined(separator: " ") }

    /// Up to whole days, of less than a day to whole hours.
    private static func rounded(_ seconds: Int64) -> Int64 {
        let unit: Int64 = seconds > 86_400 ? 86_400 : seconds > 3_600 ? 3_600 : 60
        return (seconds + unit - 1) / unit * unit
    }

    /// One number and unit, as options take it.
    private static func option(_ seconds: Int64) -> String {
        for (unit, name) in [(Int64(86_400), "d"), (3_600, "h"), (60, "m")] where seconds % unit == 0 {
            return "\(seconds / unit)\(name)"
        }
        return "\(seconds)s"
    }
}
