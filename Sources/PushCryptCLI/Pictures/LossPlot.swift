import PushCryptCore
import PushCryptKeystore

/// The pushes that show their placeholder, over time.
struct LossPlot {
    private struct Layer {
        let style: String
        let heights: [Double]
    }

    private let axis: RehearsalAxis
    /// Each on top of those before it, in percent of the pushes sent in the interval.
    private let layers: [Layer]
    private let highest: Double

    /// Drawn as one, because pushes to a device come in steps of the same length.
    private static let width = RehearsalSeries.group

    init(_ axis: RehearsalAxis) {
        self.axis = axis
        let (fleet, series) = (axis.outcome.fleet, axis.outcome.tally.series)
        let width = Double(Self.width) * Double(series.widthInSeconds)
        let sent = Double(fleet.devices) * width / 86_400 * fleet.pushesPerDay
        var heights = [Double](repeating: 0, count: (series.count + Self.width - 1) / Self.width)
        layers = [("lost", series.keyNotFetched), ("late", series.keyExpired), ("unseen", series.deviceUnseen)]
            .map { style, counts in
                for (index, count) in counts.enumerated() {
                    heights[index / Self.width] += Double(count) / sent * 100
                }
                return Layer(style: style, heights: heights)
            }
        highest = heights.max() ?? 0
    }

    func parts(top: Double) -> [String] {
        let plot = axis.plot(top: top, height: 130, 0...max(highest * 1.08, 0.001))
        let ticks = Scale.ticks(upTo: max(highest, 0.001), count: 4).map { tick in
            Plot.Tick(value: tick, label: ShareText.decimal(tick, 6) + "%")
        }
        var parts = axis.windows(plot)
        // The highest first, so that each lower one covers its part of it.
        parts += layers.reversed().map { area($0, plot) }
        parts += plot.axes(
            title: "Pushes that show the placeholder, in % of those sent at the time", subtitle: true,
            xTitle: axis.unit.name, xTicks: axis.ticks, yTicks: ticks)
        parts += Legend(
            .area,
            [
                "lost": "lost to the policy: key not fetched yet", "late": "lost to the policy: key expired",
                "unseen": "device fetched nothing for over 30 days",
            ]
        ).parts(at: .init(x: plot.frame.left, y: top - 14))
        if highest == 0 {
            parts.append(SVG.text("none", at: .init(x: plot.frame.left + 10, y: plot.frame.bottom - 8), "label"))
        }
        return parts
    }

    private func area(_ layer: Layer, _ plot: Plot) -> String {
        let series = axis.outcome.tally.series
        let points = layer.heights.enumerated().flatMap { index, height in
            [index, index + 1].map { edge in
                (x: axis.value(min(series.start(edge * Self.width), axis.end)), y: height)
            }
        }
        return plot.area(points, layer.style)
    }
}
