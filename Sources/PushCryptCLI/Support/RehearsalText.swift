import PushCryptCore
import PushCryptKeystore

/// A rehearsal for people.
struct RehearsalText {
    let outcome: RehearsalOutcome
    let terminal: TerminalText

    private var pushes: PushCounts { outcome.tally.pushes }
    private var lead: Int64 { outcome.rotation.publishLeadInSeconds }

    var text: String {
        let verdict = RehearsalVerdict(outcome: outcome)
        let mark = verdict.losesNone ? terminal.styled("✓", .good) : terminal.styled("✗", .bad)
        let sections = [
            introduction, heading("How a new key spreads: devices that hold it, by time since its publication"),
            spread, heading("What became of the pushes of three rotations"), pushTable,
            heading("What other lengths would lose"), comparison, heading("The smallest that lose none here"), smallest,
            wrapped("\(mark) ", verdict.words, width: 2),
        ]
        return sections.joined(separator: "\n") + "\n"
    }

    private var introduction: String {
        let opens = DurationText.human(outcome.policy.opensAfterRetiringInSeconds)
        var lines = [
            wrapped("Fleet   ", outcome.fleetText + "."),
            wrapped("Policy  ", outcome.policyText + "; a key opens for \(opens) after it retired."),
        ]
        if let coverage = outcome.policy.requiredCoverage {
            let wait = DurationText.human(lead)
            lines.append(
                wrapped(
                    "        ",
                    "A key seals no earlier than \(coverage) of the devices seen in 30 days hold it: simulated with "
                        + "the \(wait) that takes."))
        }
        return lines.joined(separator: "\n")
    }

    private var spread: String {
        let total = outcome.tally.holders
        return outcome.coverageRows.map { row in
            let time = ShareText.leftPadded(DurationText.human(row.seconds), 10)
            let bar = ShareText.padded(ShareText.bar(row.holding, of: total, width: 40), 40)
            let state = row.seconds < lead ? KeyState.pending : .primary
            let share = ShareText.leftPadded(ShareText.percent(row.holding, of: total), 10)
            return "\(time) \(row.isLead ? "▶" : "│")\(terminal.styled(bar, state)) \(share)"
                + (row.isLead ? "  the key begins to seal" : "")
        }.joined(separator: "\n")
    }

    private var pushTable: String {
        [
            ("sent", pushes.sent, TerminalText.Style?.none),
            ("opened", pushes.opened, .good),
            ("lost to the policy: key not fetched yet", pushes.keyNotFetched, .bad),
            ("lost to the policy: key expired", pushes.keyExpired, .bad),
            ("lost: device fetched nothing for over 30 days", pushes.deviceUnseen, .faint),
            ("lost to APNs: device offline for over 30 days", pushes.lostToAPNs, .faint),
        ].map { name, count, style in
            let share = ShareText.leftPadded(ShareText.percent(count, of: pushes.sent), 11)
            let row =
                "  " + ShareText.padded(name, 46) + ShareText.leftPadded(ShareText.grouped(count), 16) + share
            return style.map { count > 0 ? terminal.styled(row, $0) : row } ?? row
        }.joined(separator: "\n")
    }

    private var comparison: String {
        let header = "  " + ShareText.leftPadded("length", 8)
        let columns = ["as publishLead", "as overlap *"].map { ShareText.leftPadded($0, 16) }.joined()
        let rows = RehearsalOutcome.comparedDays.map { days in
            let losses = [outcome.tally.lead, outcome.tally.overlap].map { needs in
                ShareText.leftPadded(
                    ShareText.percent(needs.histogram.count(above: days * 24), of: pushes.sent), 16)
            }.joined()
            return "  " + ShareText.leftPadded(days == 0 ? "none" : "\(days)d", 8) + losses
        }
        let note = wrapped(
            "  * ",
            "A retired key opens for 30 days and 10 minutes at least, whatever the policy: this is what that rule saves.",
            width: 4)
        return ([header + columns] + rows + [note]).joined(separator: "\n")
    }

    private var smallest: String {
        let proof = outcome.proof
        func row(_ name: String, _ seconds: Int64, _ lost: Int?) -> String {
            let less = lost.map { "; a second less loses \(ShareText.grouped($0))" } ?? ""
            return "  \(ShareText.padded(name, 12)) \(ShareText.padded(DurationText.human(seconds), 16))"
                + "simulated: loses \(ShareText.grouped(proof.lost))\(less)"
        }
        return [
            row("publishLead", outcome.smallestLeadInSeconds, proof.lostWithShorterLead),
            row("overlap", outcome.smallestOverlapInSeconds, proof.lostWithShorterOverlap) + "\n",
        ].joined(separator: "\n")
    }

    private func heading(_ text: String) -> String { "\n" + terminal.styled(text, .heading) }

    /// - Parameter label: before the first line; the others are indented by `width`.
    private func wrapped(_ label: String, _ text: String, width: Int = 8) -> String {
        let indentation = String(repeating: " ", count: width)
        return TerminalText.wrap(text, width: 90).enumerated().map { index, line in
            (index == 0 ? label : indentation) + line
        }.joined(separator: "\n")
    }
}
