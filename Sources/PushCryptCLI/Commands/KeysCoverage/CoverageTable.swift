import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// The share of the devices that hold each key that opens, for `keys coverage`.
struct CoverageTable {
    struct Row {
        let kid: KeyID
        let state: KeyState
        let newest: Int
        let coverage: ReportedCoverage
        let algorithm: KeyAlgorithm
    }

    let summary: DeviceReports.Summary
    let rows: [Row]
    /// The number of seen devices whose newest key no longer opens.
    let outdated: Int
    /// The number of seen devices that hold a key of suite 3 which opens; nil if the keyset has no such key.
    let holdingXWing: Int?
    let required: RotationPolicy.Coverage?
    let time: UnixTime

    init(_ reports: DeviceReports, _ keyset: KeysetState, at time: UnixTime) {
        let keys = keyset.keys.map { ($0.kid, $0.algorithm) }
        self.init(reports, keys, keyset.timeline, keyset.policy.requiredCoverage, at: time)
    }

    init(
        _ reports: DeviceReports, _ keys: [(KeyID, KeyAlgorithm)], _ timeline: KeyTimeline,
        _ required: RotationPolicy.Coverage?, at time: UnixTime
    ) {
        let summary = reports.summary(in: timeline, at: time)
        self.summary = summary
        self.required = required
        self.time = timeline.effective(time)
        rows = keys.compactMap { kid, algorithm in
            guard let state = timeline.state(of: kid, at: time), state.opens else { return nil }
            return Row(
                kid: kid, state: state, newest: summary.newest[kid] ?? 0,
                coverage: summary.coverage(of: kid, in: timeline), algorithm: algorithm)
        }
        let xWing = rows.filter { $0.algorithm == .xWing }.map(\.kid)
        holdingXWing = xWing.isEmpty ? nil : summary.holding(anyOf: xWing, in: timeline)
        outdated = summary.seen - summary.unknown - rows.reduce(0) { $0 + $1.newest }
    }

    var deviceCount: Int { summary.seen + summary.unseen + summary.ahead }

    var devicesText: String {
        var text =
            "\(NumberText.grouped(deviceCount)) devices reported: \(NumberText.grouped(summary.seen)) seen in the "
        text += "last 30 days, \(NumberText.grouped(summary.unseen)) not"
        if summary.ahead > 0 { text += ", \(NumberText.grouped(summary.ahead)) from the future" }
        if outdated > 0 {
            text += "; the newest key of \(NumberText.grouped(outdated)) of the seen devices no longer opens"
        }
        if summary.unknown > 0 {
            text +=
                "; the newest key of \(NumberText.grouped(summary.unknown)) of the seen devices is not in the keyset"
        }
        if let holdingXWing {
            text += "; \(NumberText.grouped(holdingXWing)) of the seen devices hold a key of suite 3, which resists "
            text += "quantum computers"
        }
        return text + "."
    }

    /// Whether a pending key meets the policy; nil if the policy requires no coverage.
    func verdict(_ row: Row) -> String? {
        guard let required, row.state == .pending else { return nil }
        return row.coverage.meets(required) ? "covers the required \(required)" : "below the required \(required)"
    }

    func text(_ terminal: TerminalText) -> String {
        let width = StandardStreams.wrappingColumns
        // Beside the bar, the key takes 24 columns and the numbers 23; narrower lines are broken between them.
        let isNarrow = width < 63
        let barWidth = min(32, isNarrow ? width - 24 : width - 47)
        let lines = rows.map { row in
            let bar = NumberText.bar(row.coverage.holding, of: row.coverage.seen, width: barWidth)
            let share = NumberText.percent(row.coverage.holding, of: row.coverage.seen)
            let line =
                "\(row.kid)  " + terminal.styled("\(row.state)".padded(to: 9), .state(row.state))
                + (isNarrow ? "\n" : " ")
                + "│" + terminal.styled(bar.padded(to: barWidth), .state(row.state)) + share.leftPadded(to: 10)
                + NumberText.grouped(row.coverage.holding).leftPadded(to: 13)
            guard let verdict = verdict(row) else { return line }
            let fits = width >= 49 + barWidth + verdict.count
            return line + (fits ? "  " + verdict : "\n" + String(repeating: " ", count: isNarrow ? 0 : 13) + verdict)
        }
        let sentence = TerminalText.wrap(devicesText, width: min(width, 96)).joined(separator: "\n")
        let heading = TerminalText.wrap("Devices seen in the last 30 days that hold each key", width: width)
            .map { terminal.styled($0, .heading) }
        return ([sentence, ""] + heading + lines).joined(separator: "\n") + "\n"
    }

    var json: JSONObject {
        let json: JSONObject = [
            "at": "\(time)", "devices": deviceCount, "seen": summary.seen, "unseen": summary.unseen,
            "ahead": summary.ahead, "outdated": outdated, "unknownKid": summary.unknown, "keys": rows.map(json),
        ]
        return json.adding(ifKnown: ["requireCoverage": required?.description, "holdingSuite3": holdingXWing])
    }

    private func json(_ row: Row) -> JSONObject {
        let json: JSONObject = [
            "kid": "\(row.kid)", "state": "\(row.state)", "newest": row.newest, "holding": row.coverage.holding,
            "seen": row.coverage.seen, "suite": row.algorithm.rawValue,
        ]
        return json.adding(ifKnown: ["isCovered": required.map(row.coverage.meets)])
    }
}

/// Draws a bar for each key: the share of the devices that hold it, in the colour of its state.
struct CoveragePicture {
    private let table: CoverageTable
    private let name: String
    private let plot: Plot

    private static let rowHeight = 30.0

    init(_ table: CoverageTable, name: String) {
        self.table = table
        self.name = Picture.shortened(name)
        let height = Double(table.rows.count) * Self.rowHeight + 10
        plot = Plot(Frame(left: 214, top: 146, width: 430, height: height), x: 0...100, y: 0...1)
    }

    var picture: Picture {
        let title = "Coverage of \(name)"
        let lines = TerminalText.wrap(table.devicesText, width: 140) + ["At \(table.time)"]
        let head =
            [SVG.text(title, at: (28, 42), "title")]
            + lines.enumerated().map { index, line in SVG.text(line, at: (28, 68 + 17 * Double(index)), "text") }
        let axes = plot.axes(
            title: "Devices seen in the last 30 days that hold each key, in % of those seen", subtitle: false,
            xTitle: nil, xTicks: [0, 25, 50, 75, 100].map { ($0, "\(Int($0))%") }, yTicks: [])
        return Picture(
            title: title, description: table.devicesText, width: 960, height: plot.frame.bottom + 44,
            parts: head + axes + requirement + table.rows.enumerated().flatMap(bar))
    }

    private func bar(_ index: Int, _ row: CoverageTable.Row) -> [String] {
        let top = plot.frame.top + 8 + Double(index) * Self.rowHeight
        let (holding, seen) = (row.coverage.holding, row.coverage.seen)
        let end = seen > 0 ? plot.x(Double(holding) / Double(seen) * 100) : plot.frame.left
        let label = [
            NumberText.percent(holding, of: seen), NumberText.grouped(holding), table.verdict(row),
        ].compactMap(\.self).joined(separator: " · ")
        return [
            SVG.text("\(row.state)", at: (28, top + 15), "state \(row.state)"),
            SVG.text("\(row.kid)", at: (plot.frame.left - 12, top + 15), "text mono", anchor: .end),
            SVG.text(label, at: (plot.frame.right + 12, top + 15), "text"),
        ] + StateBar.parts(row.state, from: plot.frame.left, to: end, top: top)
    }

    private var requirement: [String] {
        guard let required = table.required else { return [] }
        let across = plot.x(Double(required.thousandthsOfPercent) / 1_000)
        return [SVG.line(from: (across, plot.frame.top - 4), to: (across, plot.frame.bottom), "marker")]
    }
}
