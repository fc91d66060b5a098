import PushCryptCore
import PushCryptKeystore

struct RehearsalText {
    let outcome: RehearsalOutcome
    /// Of the keyset's keys, which are of two suites while a fleet changes over.
    let suites: [KeyAlgorithm]
    let terminal: TerminalText
    let width: Int

    private var pushes: PushCounts { outcome.tally.pushes }
    private var lead: Int64 { outcome.rotation.publishLeadInSeconds }

    var text: String {
        let verdict = RehearsalVerdict(outcome: outcome)
        let mark = verdict.losesNone ? terminal.styled("✓", .good) : terminal.styled("✗", .bad)
        let sections = [
            introduction, heading("How a new key spreads: devices that hold it, by time since its publication"),
            spread, heading("The pushes of three rotations"), pushTable,
            heading("Losses with other lengths"), comparison, heading("The smallest lengths that lose none"), smallest,
            wrapped("\(mark) ", verdict.text, indent: 2),
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
                    "A key seals only after \(coverage) of the devices seen in 30 days hold it. That takes \(wait) in "
                        + "this simulation."))
        }
        if suites.count > 1 {
            let names = suites.map(\.rawValue).joined(separator: " and ")
            lines.append(
                wrapped(
                    "Suites  ",
                    "\(names): the fleet changes over, and opens with keys of both until the earlier ones expire. Keys of every suite "
                        + "spread alike, so the numbers are those of each."))
        }
        return lines.joined(separator: "\n")
    }

    private var spread: String {
        let total = outcome.tally.holders
        let label = "  the key begins to seal"
        // The time, the share and two spaces take 23 columns.
        let isNarrow = width < 23 + label.count + 16
        let barWidth = min(40, max(width - 23 - (isNarrow ? 0 : label.count), 8))
        return outcome.coverageRows.map { row in
            let time = DurationText.human(row.seconds).leftPadded(to: 10)
            let bar = NumberText.bar(row.holding, of: total, width: barWidth).padded(to: barWidth)
            let state = row.seconds < lead ? KeyState.pending : .primary
            let share = NumberText.percent(row.holding, of: total).leftPadded(to: 10)
            return "\(time) \(row.isLead ? "▶" : "│")\(terminal.styled(bar, .state(state))) \(share)"
                + (row.isLead ? (isNarrow ? "\n" + label.leftPadded(to: 34) : label) : "")
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
            let share = NumberText.percent(count, of: pushes.sent).leftPadded(to: 11)
            let number = NumberText.grouped(count).leftPadded(to: 16) + share
            let row =
                width < 75
                ? wrapped("  ", name, indent: 2) + "\n  " + number : "  " + name.padded(to: 46) + number
            return style.map { count > 0 ? terminal.styled(row, $0) : row } ?? row
        }.joined(separator: "\n")
    }

    private var comparison: String {
        let header = "  " + "length".leftPadded(to: 8)
        let columnWidth = min(16, (width - 10) / 2)
        let columns = ["as publishLead", "as overlap *"].map { $0.leftPadded(to: columnWidth) }.joined()
        let rows = RehearsalOutcome.comparedDays.map { days in
            let losses = [outcome.tally.lead, outcome.tally.overlap].map { needs in
                NumberText.percent(needs.histogram.count(above: days * 24), of: pushes.sent)
                    .leftPadded(to: columnWidth)
            }.joined()
            return "  " + (days == 0 ? "none" : "\(days)d").leftPadded(to: 8) + losses
        }
        let note = wrapped(
            "  * ",
            "A retired key always opens for at least 30 days and 10 minutes. Without that rule these pushes would be lost.",
            indent: 4)
        return ([header + columns] + rows + [note]).joined(separator: "\n")
    }

    private var smallest: String {
        let proof = outcome.proof
        func row(_ name: String, _ seconds: Int64, _ lost: Int?) -> String {
            let less = lost.map { "; one second less loses \(NumberText.grouped($0))" } ?? ""
            let label = "  \(name.padded(to: 12)) \(DurationText.human(seconds).padded(to: 16))"
            let result = "simulated: loses \(NumberText.grouped(proof.lost))\(less)"
            return width < 75
                ? "  \(name.padded(to: 12)) \(DurationText.human(seconds))\n" + wrapped("    ", result, indent: 4)
                : wrapped(label, result, indent: label.count)
        }
        return [
            row("publishLead", outcome.smallestLeadInSeconds, proof.lostWithShorterLead),
            row("overlap", outcome.smallestOverlapInSeconds, proof.lostWithShorterOverlap) + "\n",
        ].joined(separator: "\n")
    }

    private func heading(_ text: String) -> String {
        "\n" + terminal.wrapped("", text, indent: 0, width: width, .heading).joined(separator: "\n")
    }

    private func wrapped(_ label: String, _ text: String, indent: Int = 8) -> String {
        terminal.wrapped(label, text, indent: indent, width: min(width, indent + 90)).joined(separator: "\n")
    }
}

extension RehearsalOutcome {
    /// The rows of the coverage table: some times after a publication, and the publishLead.
    var coverageRows: [CoverageRow] {
        let hours = [1, 6, 12, 24, 48, 96, 168, 336, 504, 720]
        let lead = rotation.publishLeadInSeconds
        let rows = hours.filter { Int64($0) * 3_600 != lead }.map { hours in
            CoverageRow(seconds: Int64(hours) * 3_600, holding: tally.firstFetches.count(within: hours), isLead: false)
        }
        let atLead = CoverageRow(seconds: lead, holding: tally.heldAtActivation, isLead: true)
        return (rows + [atLead]).sorted { $0.seconds < $1.seconds }
    }

    struct CoverageRow {
        let seconds: Int64
        /// Of `tally.holders`.
        let holding: Int
        let isLead: Bool
    }

    static let comparedDays = [0, 1, 3, 7, 14, 21, 30]

    /// The policy with the names of its JSON members.
    var policyText: String {
        let coverage = policy.requiredCoverage.map { ", requireCoverage \($0)" } ?? ""
        return "rotateEvery \(DurationText.human(policy.rotateEveryInSeconds)), publishLead "
            + "\(DurationText.human(policy.publishLeadInSeconds)), overlap "
            + "\(DurationText.human(policy.overlapInSeconds)), keep \(policy.keep)\(coverage)"
    }

    var fleetText: String {
        "\(NumberText.grouped(fleet.devices)) devices; half fetch keys at least every "
            + "\(DurationText.human(fleet.refreshP50InSeconds)), 99% every "
            + "\(DurationText.human(fleet.refreshP99InSeconds)); \(NumberText.decimal(fleet.offline * 100, 3))% offline "
            + "at any moment; \(NumberText.decimal(fleet.pushesPerDay, 3)) pushes a day each; seed \(fleet.seed)"
    }
}

/// The result of a rehearsal in sentences. They are also a value of the JSON output.
struct RehearsalVerdict {
    let outcome: RehearsalOutcome

    var losesNone: Bool { outcome.tally.pushes.lostToPolicy == 0 }

    var sentence: String {
        let pushes = outcome.tally.pushes
        guard !losesNone else { return "This policy loses no push of \(NumberText.grouped(pushes.sent))." }
        let share = NumberText.percent(pushes.lostToPolicy, of: pushes.sent)
        return "This policy loses \(share) of the pushes: \(NumberText.grouped(pushes.lostToPolicy)) of "
            + "\(NumberText.grouped(pushes.sent)) would show the placeholder."
    }

    /// A policy that would lose none; nil if this one loses none.
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

    /// The losses that the policy didn't cause; nil if there are none.
    var unseen: String? {
        let pushes = outcome.tally.pushes
        guard pushes.deviceUnseen > 0 else { return nil }
        return
            "\(NumberText.percent(pushes.deviceUnseen, of: pushes.sent)) of the pushes are lost with any policy: their "
            + "devices had fetched nothing for over 30 days."
    }

    var text: String { [sentence, advice, unseen].compactMap(\.self).joined(separator: " ") }

    /// Rounded up to whole days; below one day to whole hours, below one hour to whole minutes.
    private static func rounded(_ seconds: Int64) -> Int64 {
        let unit: Int64 = seconds > 86_400 ? 86_400 : seconds > 3_600 ? 3_600 : 60
        return (seconds + unit - 1) / unit * unit
    }

    private static func option(_ seconds: Int64) -> String {
        for (unit, name) in [(Int64(86_400), "d"), (3_600, "h"), (60, "m")] where seconds % unit == 0 {
            return "\(seconds / unit)\(name)"
        }
        return "\(seconds)s"
    }
}

extension RehearsalOutcome {
    /// The output of `keys rehearse --json`. Durations are ISO 8601; counts are exact.
    var json: JSONObject {
        let verdict = RehearsalVerdict(outcome: self)
        return [
            "fleet": fleetJSON, "policy": policyJSON,
            // How long a key was published before it sealed. If the policy requires coverage: until it was reached.
            "simulatedLead": DurationText.iso8601(rotation.publishLeadInSeconds),
            "rotations": RehearsedRotation.keys.count, "coverage": coverageJSON, "pushes": pushesJSON,
            "compared": comparedJSON, "smallest": smallestJSON, "losesNone": verdict.losesNone, "verdict": verdict.text,
        ]
    }

    private var fleetJSON: JSONObject {
        [
            "devices": fleet.devices, "refreshP50": DurationText.iso8601(fleet.refreshP50InSeconds),
            "refreshP99": DurationText.iso8601(fleet.refreshP99InSeconds), "offline": fleet.offline,
            "pushesPerDay": fleet.pushesPerDay, "seed": fleet.seed,
        ]
    }

    private var policyJSON: JSONObject {
        let json: JSONObject = [
            "rotateEvery": DurationText.iso8601(policy.rotateEveryInSeconds),
            "publishLead": DurationText.iso8601(policy.publishLeadInSeconds),
            "overlap": DurationText.iso8601(policy.overlapInSeconds), "keep": policy.keep,
            "opensAfterRetiring": DurationText.iso8601(policy.opensAfterRetiringInSeconds),
        ]
        return json.adding(ifKnown: ["requireCoverage": policy.requiredCoverage?.description])
    }

    /// The counts are pairs of a device and a key.
    private var coverageJSON: JSONObject {
        let after = coverageRows.map { row -> JSONObject in
            ["time": DurationText.iso8601(row.seconds), "holding": row.holding]
        }
        return [
            "pairs": tally.holders, "atActivation": tally.heldAtActivation,
            "seenAtActivation": tally.seenAtActivation, "after": after,
        ]
    }

    private var pushesJSON: JSONObject {
        let pushes = tally.pushes
        return [
            "sent": pushes.sent, "opened": pushes.opened, "keyNotFetched": pushes.keyNotFetched,
            "keyExpired": pushes.keyExpired, "deviceUnseen": pushes.deviceUnseen, "lostToAPNs": pushes.lostToAPNs,
        ]
    }

    /// The pushes that other lengths would lose to the policy; for the overlap without the protocol's minimum.
    private var comparedJSON: [JSONObject] {
        Self.comparedDays.map { days in
            [
                "length": DurationText.iso8601(Int64(days) * 86_400),
                "lostAsPublishLead": tally.lead.histogram.count(above: days * 24),
                "lostAsOverlap": tally.overlap.histogram.count(above: days * 24),
            ]
        }
    }

    private var smallestJSON: JSONObject {
        let json: JSONObject = [
            "publishLead": DurationText.iso8601(smallestLeadInSeconds),
            "overlap": DurationText.iso8601(smallestOverlapInSeconds), "lost": proof.lost,
        ]
        return json.adding(ifKnown: [
            "lostWithPublishLeadOneSecondShorter": proof.lostWithShorterLead,
            "lostWithOverlapOneSecondShorter": proof.lostWithShorterOverlap,
        ])
    }
}
