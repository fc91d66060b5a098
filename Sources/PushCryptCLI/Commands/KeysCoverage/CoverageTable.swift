import PushCryptCore
import PushCryptKeystore

/// What `keys coverage` shows of each key that opens.
struct CoverageTable {
    struct Row {
        let kid: KeyID
        let state: KeyState
        /// Devices whose newest key it is.
        let newest: Int
        let coverage: ReportedCoverage
    }

    let summary: DeviceReports.Summary
    let rows: [Row]
    /// Devices seen whose newest key opens no more.
    let outdated: Int
    let required: RotationPolicy.Coverage?
    let time: UnixTime

    init(_ reports: DeviceReports, _ timeline: KeyTimeline, required: RotationPolicy.Coverage?, at time: UnixTime) {
        let summary = reports.summary(in: timeline, at: time)
        self.summary = summary
        self.required = required
        self.time = timeline.effective(time)
        rows = timeline.keys.compactMap { key in
            guard let state = timeline.state(of: key.kid, at: time), state.opens else { return nil }
            return Row(
                kid: key.kid, state: state, newest: summary.newest[key.kid] ?? 0,
                coverage: summary.coverage(of: key.kid, in: timeline))
        }
        outdated = summary.seen - summary.unknown - rows.reduce(0) { $0 + $1.newest }
    }

    var deviceCount: Int { summary.seen + summary.unseen + summary.ahead }

    /// The devices in a sentence.
    var devicesText: String {
        var words =
            "\(ShareText.grouped(deviceCount)) devices reported: \(ShareText.grouped(summary.seen)) seen in the "
        words += "last 30 days, \(ShareText.grouped(summary.unseen)) not"
        if summary.ahead > 0 { words += ", \(ShareText.grouped(summary.ahead)) from the future" }
        if outdated > 0 { words += "; the newest key of \(ShareText.grouped(outdated)) of the seen opens no more" }
        if summary.unknown > 0 {
            words += "; the newest key of \(ShareText.grouped(summary.unknown)) of the seen is none of the keyset"
        }
        return words + "."
    }

    /// What the policy says to a pending key; nil where it demands nothing.
    func verdict(_ row: Row) -> String? {
        guard let required, row.state == .pending else { return nil }
        return row.coverage.meets(required) ? "covers the required \(required)" : "below the required \(required)"
    }

    func text(_ terminal: TerminalText) -> String {
        let lines = rows.map { row in
            let bar = ShareText.bar(row.coverage.holding, of: row.coverage.seen, width: 32)
            let share = ShareText.percent(row.coverage.holding, of: row.coverage.seen)
            let line =
                "\(row.kid)  " + terminal.styled(ShareText.padded("\(row.state)", 9), row.state) + " │"
                + terminal.styled(ShareText.padded(bar, 32), row.state) + ShareText.leftPadded(share, 10)
                + ShareText.leftPadded(ShareText.grouped(row.coverage.holding), 13)
            return line + (verdict(row).map { "  " + $0 } ?? "")
        }
        let sentence = TerminalText.wrap(devicesText, width: 96).joined(separator: "\n")
        let heading = terminal.styled("Devices seen in the last 30 days that hold each key", .heading)
        return ([sentence, "", heading] + lines).joined(separator: "\n") + "\n"
    }
}

/// `keys coverage --json`
struct CoverageReport: Encodable {
    let at: String
    let devices: Int
    let seen: Int
    let unseen: Int
    let ahead: Int
    let outdated: Int
    let unknownKid: Int
    let requireCoverage: String?
    let keys: [Key]

    struct Key: Encodable {
        let kid: String
        let state: String
        let newest: Int
        let holding: Int
        let seen: Int
        let isCovered: Bool?
    }

    init(_ table: CoverageTable) {
        at = table.time.description
        devices = table.deviceCount
        seen = table.summary.seen
        unseen = table.summary.unseen
        ahead = table.summary.ahead
        outdated = table.outdated
        unknownKid = table.summary.unknown
        requireCoverage = table.required?.description
        keys = table.rows.map { row in
            Key(
                kid: "\(row.kid)", state: "\(row.state)", newest: row.newest, holding: row.coverage.holding,
                seen: row.coverage.seen, isCovered: table.required.map(row.coverage.meets))
        }
    }
}
