import PushCryptCore
import PushCryptKeystore

/// The output of `keys rehearse`: what was simulated, a table of other leads, and the verdict.
struct RehearsalText {
    let outcome: RehearsalOutcome
    let terminal: TerminalText
    let width: Int

    var text: String {
        let mark = outcome.losesNone ? terminal.styled("✓", .good) : terminal.styled("✗", .bad)
        let smallest = DurationText.human(outcome.smallestLeadInSeconds)
        let sections = [
            wrapped("Fleet   ", outcome.fleetText) + wrapped("Policy  ", outcome.policyText),
            terminal.wrapped(
                "", "Devices that hold a key when it begins to seal, and pushes lost, by publishLead", indent: 0,
                width: width, .heading) + table,
            wrapped("", "The smallest publishLead that loses none: \(smallest)."),
            wrapped("\(mark) ", outcome.verdict, indent: 2),
        ]
        return sections.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
    }

    private var table: [String] {
        let columns: [TextTable.Column] = [
            .init("LEAD"), .init("", importance: 0), .init("DEVICES"), .init("PUSHES LOST"),
        ]
        let rows = outcome.leadRows.map { row -> [TextTable.Cell] in
            [
                .init(text: (row.isSimulated ? "▶ " : "  ") + DurationText.human(row.seconds)),
                .init(text: NumberText.bar(row.holding, of: outcome.pairs, width: 40)),
                .init(text: NumberText.percent(row.holding, of: outcome.pairs)),
                .init(text: NumberText.percent(row.lost, of: outcome.tally.pushes.sent)),
            ]
        }
        return TextTable(columns, rows).lines(terminal, width: width)
    }

    private func wrapped(_ label: String, _ text: String, indent: Int = 8) -> [String] {
        terminal.wrapped(label, text, indent: label.isEmpty ? 0 : indent, width: min(width, indent + 90))
    }
}

extension RehearsalOutcome {
    var smallestLeadInSeconds: Int64 { tally.pushLeads.longestInSeconds }
    var losesNone: Bool { tally.pushes.keyNotFetched == 0 }
    /// Of a key and a device.
    var pairs: Int { tally.deviceLeads.count }

    struct LeadRow {
        let seconds: Int64
        /// Of `pairs`.
        let holding: Int
        let lost: Int
        var isSimulated = false
    }

    /// Some leads, and the simulated one.
    var leadRows: [LeadRow] {
        let days = [0, 1, 3, 7, 14, 21, 30].filter { Int64($0) * 86_400 != leadInSeconds }
        let rows = days.map { days in
            LeadRow(
                seconds: Int64(days) * 86_400, holding: tally.deviceLeads.count(within: days * 24),
                lost: tally.pushLeads.count(above: days * 24))
        }
        let simulated = LeadRow(
            seconds: leadInSeconds, holding: tally.holders, lost: tally.pushes.keyNotFetched, isSimulated: true)
        return (rows + [simulated]).sorted { $0.seconds < $1.seconds }
    }

    var fleetText: String {
        "\(NumberText.grouped(fleet.devices)) devices; half fetch keys at least every "
            + "\(DurationText.human(fleet.refreshP50InSeconds)), 99% every "
            + "\(DurationText.human(fleet.refreshP99InSeconds)); \(NumberText.decimal(fleet.offline * 100, 3))% offline "
            + "at any moment."
    }

    var policyText: String {
        let text =
            "rotateEvery \(DurationText.human(policy.rotateEveryInSeconds)), publishLead "
            + "\(DurationText.human(policy.publishLeadInSeconds))."
        guard let coverage = policy.requiredCoverage else { return text }
        return text + " A key seals only after \(coverage) of the devices seen in 30 days hold it. That takes "
            + "\(DurationText.human(leadInSeconds)) in this simulation."
    }

    /// The result in sentences. They are also a value of the JSON output.
    var verdict: String { [result, advice, unseen].compactMap(\.self).joined(separator: " ") }

    private var result: String {
        let (sent, lost) = (NumberText.grouped(tally.pushes.sent), tally.pushes.keyNotFetched)
        guard !losesNone else { return "This policy loses no push of \(sent)." }
        return "This policy loses \(NumberText.percent(lost, of: tally.pushes.sent)) of the pushes: "
            + "\(NumberText.grouped(lost)) of \(sent) would show the placeholder."
    }

    /// A policy that would lose none; nil if this one loses none.
    private var advice: String? {
        guard !losesNone else { return nil }
        let rotateEvery = policy.rotateEveryInSeconds
        let lead = Self.rounded(smallestLeadInSeconds)
        if let lead = [lead, smallestLeadInSeconds].first(where: { $0 < rotateEvery }) {
            return "With --publish-lead \(Self.option(lead)) it would lose none."
        }
        let (longer, shown) = (Self.option(Self.rounded(lead + 86_400)), DurationText.human(rotateEvery))
        return "No publishLead shorter than rotateEvery (\(shown)) loses none: --rotate-every \(longer) with "
            + "--publish-lead \(Self.option(lead)) would."
    }

    /// The losses that the policy didn't cause; nil if there are none.
    private var unseen: String? {
        guard tally.pushes.deviceUnseen > 0 else { return nil }
        return
            "\(NumberText.percent(tally.pushes.deviceUnseen, of: tally.pushes.sent)) of the pushes are lost with any "
            + "policy: their devices had fetched nothing for over 30 days."
    }

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

    /// The output of `keys rehearse --json`. Durations are ISO 8601; counts are exact.
    var json: JSONObject {
        let (pushes, iso8601) = (tally.pushes, DurationText.iso8601)
        let fleet: JSONObject = [
            "devices": self.fleet.devices, "refreshP50": iso8601(self.fleet.refreshP50InSeconds),
            "refreshP99": iso8601(self.fleet.refreshP99InSeconds), "offline": self.fleet.offline,
        ]
        let policy: JSONObject = [
            "rotateEvery": iso8601(self.policy.rotateEveryInSeconds),
            "publishLead": iso8601(self.policy.publishLeadInSeconds),
        ]
        let leads = leadRows.map { row -> JSONObject in
            ["publishLead": iso8601(row.seconds), "holding": row.holding, "lost": row.lost]
        }
        let counts = [
            "sent": pushes.sent, "opened": pushes.opened, "keyNotFetched": pushes.keyNotFetched,
            "deviceUnseen": pushes.deviceUnseen, "lostToAPNs": pushes.lostToAPNs,
        ]
        return [
            "fleet": fleet,
            "policy": policy.adding(ifKnown: ["requireCoverage": self.policy.requiredCoverage?.description]),
            // How long a key was published before it sealed. If the policy requires coverage: until it was reached.
            "simulatedLead": iso8601(leadInSeconds), "rotations": pairs / self.fleet.devices, "pushes": counts,
            "leads": leads, "smallestLead": iso8601(smallestLeadInSeconds), "losesNone": losesNone, "verdict": verdict,
        ]
    }
}
