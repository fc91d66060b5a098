import PushCryptCore
import PushCryptKeysets
import PushCryptKeystore

/// The share of the devices that hold each key that opens, for `keys coverage`.
struct CoverageTable {
    private struct Row {
        let kid: KeyID
        let state: KeyState
        let algorithm: KeyAlgorithm
        /// Devices whose newest key it is.
        let newest: Int
        let holding: Int
        /// nil if the policy requires no coverage.
        let isCovered: Bool?
    }

    private let summary: DeviceReports.Summary
    private let rows: [Row]
    private let required: RotationPolicy.Coverage?
    private let time: UnixTime

    init(_ reports: DeviceReports, _ keyset: KeysetState, at time: UnixTime) {
        let (timeline, required) = (keyset.timeline, keyset.policy.requiredCoverage)
        let summary = reports.summary(in: timeline, at: time)
        (self.summary, self.required, self.time) = (summary, required, timeline.effective(time))
        rows = keyset.keys.compactMap { key in
            guard let state = timeline.state(of: key.kid, at: time), state.opens else { return nil }
            let holding = summary.holding(key.kid, in: timeline)
            return Row(
                kid: key.kid, state: state, algorithm: key.algorithm, newest: summary.newest[key.kid] ?? 0,
                holding: holding, isCovered: required?.isMet(holding: holding, seen: summary.seen))
        }
    }

    private var deviceCount: Int { summary.seen + summary.unseen + summary.ahead }

    /// The number of seen devices whose newest key no longer opens.
    private var outdated: Int { summary.seen - summary.unknown - rows.reduce(0) { $0 + $1.newest } }

    private var devicesText: String {
        let (seen, unseen) = (NumberText.grouped(summary.seen), NumberText.grouped(summary.unseen))
        let start =
            "\(NumberText.grouped(deviceCount)) devices reported: \(seen) seen in the last 30 days, \(unseen) not"
        let exceptions = [
            (summary.ahead, ", # from the future"),
            (outdated, "; the newest key of # of the seen devices no longer opens"),
            (summary.unknown, "; the newest key of # of the seen devices is not in the keyset"),
        ]
        return exceptions.filter { $0.0 > 0 }.reduce(start) { text, exception in
            text + exception.1.replacing("#", with: NumberText.grouped(exception.0))
        } + "."
    }

    func text(_ terminal: TerminalText) -> String {
        let width = min(StandardStreams.columns, 100)
        let columns: [TextTable.Column] = [
            .init("KID"), .init("STATE"), .init("", importance: 0), .init("SHARE"), .init("DEVICES"),
        ]
        let verdict = required.map { [TextTable.Column("REQUIRED \($0)")] } ?? []
        let cells = rows.map { row -> [TextTable.Cell] in
            let style = TerminalText.Style.state(row.state)
            return [
                .init(text: "\(row.kid)"), .init(text: "\(row.state)") { terminal.styled($0, style) },
                .init(text: NumberText.bar(row.holding, of: summary.seen, width: 32)) { terminal.styled($0, style) },
                .init(text: NumberText.percent(row.holding, of: summary.seen)),
                .init(text: NumberText.grouped(row.holding)),
            ] + (row.isCovered.map { [$0 ? "yes" : "no"] } ?? [])
        }
        let table = TextTable(columns + verdict, cells).lines(terminal, width: width)
        let heading = terminal.wrapped(
            "", "Devices seen in the last 30 days that hold each key", indent: 0, width: width, .heading)
        return (TerminalText.wrap(devicesText, width: width) + [""] + heading + table).map { $0 + "\n" }.joined()
    }

    var json: JSONObject {
        let json: JSONObject = [
            "at": "\(time)", "devices": deviceCount, "seen": summary.seen, "unseen": summary.unseen,
            "ahead": summary.ahead, "outdated": outdated, "unknownKid": summary.unknown, "keys": rows.map(json),
        ]
        return json.adding(ifKnown: ["requireCoverage": required?.description])
    }

    private func json(_ row: Row) -> JSONObject {
        let json: JSONObject = [
            "kid": "\(row.kid)", "state": "\(row.state)", "newest": row.newest, "holding": row.holding,
            "seen": summary.seen, "suite": row.algorithm.rawValue,
        ]
        return json.adding(ifKnown: ["isCovered": row.isCovered])
    }
}
