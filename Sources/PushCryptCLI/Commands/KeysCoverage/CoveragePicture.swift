import PushCryptCore
import PushCryptKeystore

/// A bar per key: the share of the devices that hold it, in the colour of its state.
struct CoveragePicture {
    private let table: CoverageTable
    private let name: String
    private let plot: Plot

    private static let rowHeight = 30.0

    init(_ table: CoverageTable, name: String) {
        self.table = table
        self.name = name.count > 60 ? "…" + name.suffix(60) : name
        let height = Double(table.rows.count) * Self.rowHeight + 10
        plot = Plot(Frame(left: 214, top: 146, width: 430, height: height), x: 0...100, y: 0...1)
    }

    var picture: Picture {
        let title = "Coverage of \(name)"
        let words = TerminalText.wrap(table.devicesText, width: 140) + ["At \(table.time)"]
        let head =
            [SVG.text(title, at: .init(x: 28, y: 42), "title")]
            + words.enumerated().map { index, line in
                SVG.text(line, at: .init(x: 28, y: 68 + 17 * Double(index)), "text")
            }
        let axes = plot.axes(
            title: "Devices seen in the last 30 days that hold each key, in % of those seen", subtitle: false,
            xTitle: nil, xTicks: [0, 25, 50, 75, 100].map { Plot.Tick(value: $0, label: "\(Int($0))%") }, yTicks: [])
        return Picture(
            title: title, description: table.devicesText, width: 960, height: plot.frame.bottom + 44,
            parts: head + axes + requirement + table.rows.enumerated().flatMap(bar))
    }

    private func bar(_ index: Int, _ row: CoverageTable.Row) -> [String] {
        let top = plot.frame.top + 8 + Double(index) * Self.rowHeight
        let (holding, seen) = (row.coverage.holding, row.coverage.seen)
        let end = seen > 0 ? plot.x(Double(holding) / Double(seen) * 100) : plot.frame.left
        let words = [
            ShareText.percent(holding, of: seen), ShareText.grouped(holding), table.verdict(row),
        ].compactMap(\.self).joined(separator: " · ")
        return [
            SVG.text("\(row.state)", at: .init(x: 28, y: top + 15), "state \(row.state)"),
            SVG.text(
                "\(row.kid)", at: .init(x: plot.frame.left - 12, y: top + 15), "text mono", anchor: .end),
            SVG.rectangle(
                Frame(left: plot.frame.left, top: top, width: end - plot.frame.left, height: 20), "\(row.state)",
                radius: 2),
            SVG.text(words, at: .init(x: plot.frame.right + 12, y: top + 15), "text"),
        ]
    }

    /// Where a pending key may be promoted.
    private var requirement: [String] {
        guard let required = table.required else { return [] }
        let across = plot.x(Double(required.thousandthsOfPercent) / 1_000)
        return [
            SVG.line(
                from: .init(x: across, y: plot.frame.top - 4), to: .init(x: across, y: plot.frame.bottom), "marker")
        ]
    }
}
