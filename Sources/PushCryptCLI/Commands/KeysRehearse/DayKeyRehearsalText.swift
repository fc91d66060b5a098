import PushCryptCore
import PushCryptExtension
import PushCryptKeystore

/// The output of `keys rehearse --day-keys`: a fleet's year with each period.
struct DayKeyRehearsalText {
    let fleet: Fleet
    private let rows: [(name: String, period: DayKeyRehearsal.Period, counts: DayKeyRehearsal.Counts)]

    init(_ fleet: Fleet, workers: Int) async {
        self.fleet = fleet
        var rows = [(name: String, period: DayKeyRehearsal.Period, counts: DayKeyRehearsal.Counts)]()
        for (name, period) in [("days(1)", KeyPeriod.days(1)), ("days(7)", .days(7)), ("renewed", .renewed())] {
            let rehearsed = DayKeyRehearsal.Period(
                key: period.days.map { Int64($0) * 86_400 }, ahead: Int64(period.daysAhead) * 86_400,
                flight: period.flightInSeconds)
            rows.append((name, rehearsed, await DayKeyRehearsal(fleet, rehearsed).run(workers: workers)))
        }
        self.rows = rows
    }

    func text(_ terminal: TerminalText, width: Int) -> String {
        let columns: [TextTable.Column] = [
            .init("PERIOD"), .init("A THEFT OPENS"), .init("LAST-RESORT KEY"), .init("EXPIRED ON THE WAY"),
        ]
        let table = TextTable(
            columns,
            rows.map { row in
                let (sent, counts) = (row.counts.sent, row.counts)
                return [
                    .init(text: row.name),
                    .init(text: DurationText.human(row.period.key.map { $0 + row.period.flight } ?? 120 * 86_400)),
                    .init(text: row.period.key == nil ? "-" : NumberText.percent(counts.lastResort, of: sent)),
                    .init(text: NumberText.percent(counts.expired, of: sent)),
                ]
            })
        let text =
            "Pushes of a year: \(NumberText.grouped(rows.first?.counts.sent ?? 0)). Apps run as often as the fleet fetches keys."
        let lines =
            terminal.wrapped("", text, indent: 0, width: min(width, 90)) + [""] + table.lines(terminal, width: width)
        return lines.joined(separator: "\n") + "\n"
    }

    var json: JSONObject {
        [
            "devices": fleet.devices,
            "periods": rows.map { row -> JSONObject in
                [
                    "period": row.name, "sent": row.counts.sent, "lastResort": row.counts.lastResort,
                    "expired": row.counts.expired,
                ]
            },
        ]
    }
}
